import { BELONGING_TYPES } from '../../changes/object-kinds.ts';
import { textsIn } from '../../changes/personal-texts.store.ts';
import { revealName } from '../../changes/personal-texts.ts';
import { type Db, sql } from '../../db/db.ts';
import type { ObjectNameStore } from './object-names.ts';

const MAX_ID = 2n ** 63n - 1n;

const accounts = (kind: string, more = '') =>
  `from account o where o.kind = '${kind}' and ($1::bigint is null or o.id = $1${more})`;
const owned = (table: string, owner: string) => `from ${table} o where ($1::bigint is null or o.${owner} = $1)`;

/** Where the names of each type are, of everything or of what belongs to account `$1`. */
const SOURCES: Readonly<Record<string, string>> = {
  organization: accounts('organization'),
  user: accounts(
    'user',
    ` or exists (select 1 from team t join team_member m on m.team_id = t.id
                  where t.organization_id = $1 and m.account_id = o.id)`,
  ),
  ...Object.fromEntries(BELONGING_TYPES.map(({ type, table, ownerColumn }) => [type, owned(table, ownerColumn)])),
  credential: owned('credential', 'owner_id'),
};
const TYPES = Object.keys(SOURCES);
const PRESENT = sql(
  'objectNames.present',
  TYPES.map(
    (type, index) =>
      `select '${type}:' || o.id as object, o.name ${SOURCES[type]} and o.id = any($${index + 2}::bigint[])`,
  ).join(' union all '),
);
// The states are read here and not by the database, which cannot take every text out of JSON that we can. An object can
// have very many entries that do not tell its name, such as the phases of a cluster: the newest are looked at. The number
// of the object is compared as a part of a row, see audit-search.store.ts: only one index has this order within a type.
const MAX_ENTRIES = 200;
const TOLD = sql(
  'objectNames.told',
  `select w.chain_id || ' ' || w.type || ':' || w.id as object, w.type, w.chain_id, t.before, t.after
     from unnest($1::bigint[], $2::text[], $3::bigint[]) as w (chain_id, type, id)
     cross join lateral (
       select n.before::text as before, n.after::text as after from (
         select a.object_id, a.at, a.id, a.organization_id, a.action, a.before, a.after from audit a
          where a.object_type = w.type and (a.object_id, a.at, a.id) <= (w.id, 'infinity', ${MAX_ID})
            and (a.object_id, a.at, a.id) > (w.id, '-infinity', 0)
          order by a.object_id desc, a.at desc, a.id desc limit ${MAX_ENTRIES}) n
        where n.organization_id = w.chain_id and n.action <> 'access.denied'
          and concat(n.before, n.after) like any (
                case w.type when 'team' then array['%"name":%', '%"team":%']
                            when 'user' then array['%"name":%', '%"username":%'] else array['%"name":%'] end)
        order by n.at desc, n.id desc limit 1) t`,
);
/** The entries about a member of a team call the team so, and those about a user say what the user is called. */
const KEYS: Readonly<Record<string, readonly string[]>> = { team: ['name', 'team'], user: ['name', 'username'] };

interface Row {
  object: string;
  name: string;
}

interface ToldRow {
  object: string;
  type: string;
  chain_id: bigint;
  before: string | null;
  after: string | null;
}

export function createObjectNameStore(db: Db): ObjectNameStore {
  return {
    async present(objects, ownerId) {
      const ids = TYPES.map((type) => objects.filter((object) => object.type === type).map(({ id }) => id));
      return byObject(await db.query<Row>(PRESENT, [ownerId ?? null, ...ids]));
    },
    async told(objects) {
      const columns = [objects.map((one) => one.chainId), objects.map((one) => one.type), objects.map((one) => one.id)];
      const rows = await db.query<ToldRow>(TOLD, columns);
      const held = rows.map((row) => ({ organizationId: row.chain_id, elements: [row.before, row.after] }));
      const texts = await textsIn(db.query, held);
      return byObject(
        rows.flatMap(({ object, type, chain_id: chainId, before, after }) => {
          const name = nameIn(after, type) ?? nameIn(before, type);
          return name === undefined ? [] : [{ object, name: revealName(name, texts(chainId)) }];
        }),
      );
    },
  };
}

function byObject(rows: readonly Row[]): Map<string, string> {
  return new Map(rows.map(({ object, name }) => [object, name]));
}

function nameIn(state: string | null, type: string): string | undefined {
  const said: unknown = state === null ? null : JSON.parse(state);
  if (typeof said !== 'object' || said === null) return undefined;
  const named = said as Readonly<Record<string, unknown>>;
  for (const key of KEYS[type] ?? ['name']) {
    const name = named[key];
    if (typeof name === 'string' && name !== '') return name;
  }
  return undefined;
}
