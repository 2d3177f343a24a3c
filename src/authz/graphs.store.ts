import { createYielder } from '../base/scheduling/slices.ts';
import type { GraphTuple } from '../changes/graph-tuple.ts';
import { CHANGE_KINDS, type ChangeKind } from '../changes/object-kinds.ts';
import type { Moment } from '../changes/revision.ts';
import { LINES } from '../changes/tuple-lines.store.ts';
import { TupleLines } from '../changes/tuple-lines.ts';
import { type Change, PLATFORM } from '../changes/write.ts';
import { type Db, only, type Query, type Statement, sql } from '../db/db.ts';
import type { GraphStore, Patch } from './graphs.ts';

interface PatchRow {
  /** These three are null in the rows of tuples. */
  revision: bigint | null;
  stamp: string | null;
  continues: boolean | null;
  changed_kind: ChangeKind | null;
  changed_id: bigint;
  object_type: string | null;
  object_id: string;
  relation: string;
  subject: string;
  source_kind: string;
  source_id: bigint;
}

/** A patch is applied in one piece, because a graph in use must never be seen halfway, so it has at most this size. */
const MAX_PATCH = 4_000;

// Each is one statement, so one snapshot: the revision and the tuples belong together.
const LOAD = sql(
  'graphs.load',
  `select r.value as revision, r.stamp, l.count, l.lines from revision r, (${LINES}) l where r.id = 1`,
);
const patches = new Map<string, Statement>();
const ALL_KINDS: ReadonlySet<ChangeKind> = new Set(CHANGE_KINDS);
/**
 * A patch of what changed, as long as only rows of these kinds did. There is a statement for each set of kinds, because
 * planning one over all views of tuples takes fifty times as long as running it, and every connection has to.
 *
 * A join with the changes would make the views produce all tuples of the account for each of them; with values, they
 * use their indexes. Nor are the tuples joined to their changes afterwards: a thousand roles that change at the same
 * time would be searched for in each other's tuples. More tuples than a patch may have are not read: the graph is
 * loaded anew.
 */
function patchOf(kinds: ReadonlySet<ChangeKind>): Statement {
  const known = patches.get([...kinds].join());
  if (known) return known;
  const read = CHANGE_KINDS.filter((kind) => kinds.has(kind));
  const isAll = read.length === CHANGE_KINDS.length;
  const fresh = read.length === 0 ? '' : ` union all (${read.map(freshOf).join(' union all ')} limit ${MAX_PATCH + 1})`;
  const made = sql(
    `graphs.patch:${isAll ? 'all' : read.join('-') || 'none'}`,
    `with changed as materialized (
       select distinct kind, id from change where organization_id in ($1, ${PLATFORM}) and revision > $2
        limit ${MAX_PATCH + 1}
     )
     select r.value as revision, r.stamp,
            exists (select 1 from revision_stamp s where s.revision = $2 and s.stamp = $3) as continues,
            c.kind as changed_kind, c.id as changed_id, null as object_type, null as object_id, null as relation,
            null as subject, null as source_kind, null::bigint as source_id
       from revision r left join changed c on true where r.id = 1${fresh}`,
  );
  patches.set([...kinds].join(), made);
  return made;
}

function freshOf(kind: (typeof CHANGE_KINDS)[number]): string {
  return `select null::bigint, null::uuid, null::boolean, null, null::bigint, object_type, object_id, relation, subject,
          source_kind, source_id
     from tuple_${kind} where store in ($1, ${PLATFORM})
      and source_id = any (array (select id from changed where kind = '${kind}'))`;
}

// A statement for each kind, because planning one over all views takes longer than running it.
const SOURCES = CHANGE_KINDS.map(
  (kind) =>
    [
      kind,
      sql(
        `graphs.source.${kind}`,
        `select object_type, object_id, relation, subject, source_kind, source_id
           from tuple_${kind} where store in ($1, ${PLATFORM}) and source_id = any ($2::bigint[])
          limit $3::bigint + 1`,
      ),
    ] as const,
);

export function createGraphStore(db: Db): GraphStore {
  return {
    load: (accountId) => readTuples(db.query, accountId),
    patch: (accountId, since, kinds) => readPatch(db.query, accountId, since, kinds),
  };
}

export async function readTuples(query: Query, accountId: bigint) {
  const rows = await query<Moment & { count: number; lines: string | null }>(LOAD, [accountId]);
  const { revision, stamp, count, lines } = only(rows);
  return { revision, stamp, count, tuples: new TupleLines(lines ?? '') };
}

/** `kinds` are those that are known to have changed. If other kinds did meanwhile, everything is read once more. */
export async function readPatch(
  query: Query,
  accountId: bigint,
  since: Moment,
  kinds: ReadonlySet<ChangeKind> = ALL_KINDS,
): Promise<Patch> {
  const rows = await query<PatchRow>(patchOf(kinds), [accountId, since.revision, since.stamp]);
  const isForeseen = rows.every(({ changed_kind: kind }) => kind === null || kinds.has(kind) || !ALL_KINDS.has(kind));
  if (!isForeseen) return await readPatch(query, accountId, since);
  const changed = rows.flatMap((row) => (row.changed_kind === null ? [] : [`${row.changed_kind}:${row.changed_id}`]));
  const { revision, stamp, continues } = rows.find((row) => row.revision !== null) ?? {};
  if (revision == null || stamp == null) throw new Error('the database has no revision');
  const sources = [...new Set(changed)];
  const tuples = rows.flatMap(toTuples);
  const isTooLarge = Math.max(sources.length, tuples.length) > MAX_PATCH;
  return { revision, stamp, isUseless: !continues || isTooLarge, sources, tuples };
}

/** What these rows state now, unless it is more. For writers: each has changed a few rows, and knows which. */
export async function readSources(
  query: Query,
  accountId: bigint,
  changes: readonly Pick<Change, 'kind' | 'id' | 'organizationId'>[],
  maxTuples = MAX_PATCH,
) {
  const sources = new Set<string>();
  const tuples: GraphTuple[] = [];
  const yieldIfDue = createYielder();
  for (const [kind, statement] of SOURCES) {
    const ids = new Set(changes.flatMap((change) => (change.kind === kind ? [change.id] : [])));
    for (const id of ids) sources.add(`${kind}:${id}`);
    if (ids.size === 0 || sources.size > MAX_PATCH) continue;
    const rows = await query<PatchRow>(statement, [accountId, [...ids], maxTuples]);
    for (const row of rows) {
      tuples.push(...toTuples(row));
      const rest = yieldIfDue();
      if (rest) await rest;
    }
  }
  return { sources: [...sources], tuples, isUseless: sources.size > MAX_PATCH || tuples.length > maxTuples };
}

function toTuples(row: PatchRow): GraphTuple[] {
  if (row.object_type === null) return [];
  return [
    {
      object: `${row.object_type}:${row.object_id}`,
      relation: row.relation,
      user: row.subject,
      source: `${row.source_kind}:${row.source_id}`,
    },
  ];
}
