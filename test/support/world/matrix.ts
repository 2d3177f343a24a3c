import { allowed, createGraph, type Model } from '../../../packages/rebac/src/rebac.ts';
import { createGraphStore } from '../../../src/authz/graphs.store.ts';
import { BELONGING_TYPES } from '../../../src/changes/object-kinds.ts';
import { sql } from '../../../src/db/db.ts';
import type { TestServer } from '../server/server.ts';

/** One object and, for each user, the relations that they hold on it. */
export interface Holdings {
  readonly type: string;
  readonly id: bigint;
  readonly name: string;
  /** The name of the account that owns the object. */
  readonly owner: string;
  readonly held: ReadonlyMap<string, ReadonlySet<string>>;
}

interface ObjectRow {
  type: string;
  id: bigint;
  name: string;
  owner_id: bigint;
  owner: string;
}

const OBJECTS = sql(
  'test.objects',
  `select o.type, o.id, o.name, a.id as owner_id, a.name as owner
     from (select -1 as place, 'organization' as type, id, name, id as owner_id from account where kind = 'organization'
           ${BELONGING_TYPES.map(
             ({ type, table, ownerColumn }, place) =>
               `union all select ${place}, '${type}', id, name, ${ownerColumn} from ${table}`,
           ).join(' ')}) o
     join account a on a.id = o.owner_id order by a.kind, o.place, o.id`,
);

/** Every object of an instance, with what each of these users may do with it. */
export async function holdingsOf({ instance }: TestServer, model: Model, people: Readonly<Record<string, bigint>>) {
  const store = createGraphStore(instance.db);
  const holdings: Holdings[] = [];
  for (const { type, id, name, owner_id, owner } of await instance.db.query<ObjectRow>(OBJECTS)) {
    const graph = createGraph(model, (await store.load(owner_id)).tuples);
    const held = Object.entries(people).map(
      ([who, person]) => [who, new Set(allowed(graph, `user:${person}`, `${type}:${id}`))] as const,
    );
    holdings.push({ type, id, name, owner, held: new Map(held) });
  }
  return holdings;
}

/** One table per object: a line for each relation, a column for each user. */
export function tableOf({ type, name, owner, held }: Holdings, model: Model): string {
  const people = [...held.keys()];
  const relations = model.typeIndex.get(type)?.relations.map((relation) => relation.name) ?? [];
  const head = type === 'organization' ? `${type} ${name}` : `${type} ${name}, of ${owner}`;
  const lines = relations
    .filter((relation) => people.some((who) => held.get(who)?.has(relation)))
    .map((relation) => `  ${relation.padEnd(30)}${people.map((who) => cell(held.get(who)?.has(relation))).join('')}`);
  return [`${head.padEnd(32)}${people.map((who) => who.padEnd(5)).join('')}`, ...lines]
    .map((line) => line.trimEnd())
    .join('\n');
}

function cell(holds = false): string {
  return (holds ? 'x' : '.').padEnd(5);
}
