import { type Db, only, sql } from '../db/db.ts';
import { likeText } from '../db/like-text.ts';
import type { FoundInstaller, SearchStore, SearchType } from './search.ts';

interface Row {
  id: bigint;
  name: string;
  title: string;
  organization: string | null;
}

interface Source {
  readonly table: string;
  /** Its name in lower case. */
  readonly key: string;
  /** The second name that is searched. */
  readonly title: string;
  /** The account that owns it. */
  readonly owner: string;
  readonly where: string;
}

/** A found row, with what it is sorted by. */
interface Found extends Row {
  is_first: boolean;
  key: string;
}

/** Others wait for the only connection of the built-in database, and a row of a cluster is wide: so many IDs at a time. */
const CLUSTERS_IN_SLICE = 10_000n;

const owned = (table: string, key: string, owner: string, title = `''`): Source => ({
  table,
  key,
  title,
  owner: `x.${owner}`,
  where: `(x.${owner} = any($1::bigint[]) or x.id = any($2::bigint[])
    or ($3 and x.${owner} in (select a.id from account a where a.kind = 'organization')))`,
});
const account = (where: string): Source => ({
  table: 'account',
  key: 'x.name_key',
  title: 'x.full_name',
  owner: 'null::bigint',
  where,
});

const SOURCES: Readonly<Record<Exclude<SearchType, 'installers'>, Source>> = {
  people: account(`x.kind = 'user' and ($3 or x.id = any($2::bigint[]) or exists (
    select 1 from team_member m join team t on t.id = m.team_id
     where m.account_id = x.id and t.organization_id = any($1::bigint[])))`),
  teams: owned('team', 'x.name_key', 'organization_id'),
  roles: owned('role', 'x.name_key', 'organization_id'),
  clusters: owned('cluster', 'lower(x.name)', 'owner_id', 'x.display_name'),
  contracts: owned('contract', 'lower(x.name)', 'owner_id'),
  robots: owned('robot', 'lower(x.name)', 'owner_id'),
  organizations: account(`x.kind = 'organization' and ($3 or x.id = any($1::bigint[]) or x.id = any($2::bigint[]))`),
};

// $4 is the pattern of what contains the text, $5 of what begins with it, and $7 and $8 limit the IDs. Tens of thousands of names may be compared, so
// they are compared by bytes, and joined with their owners only if they are among those that are shown.
const FIND = new Map(
  Object.entries(SOURCES).map(([type, { table, key, title, owner, where }]) => {
    const like = (pattern: string) => {
      const inTitle = title === `''` ? '' : ` or (${title} <> '' and lower(${title}) collate "C" like ${pattern})`;
      return `(${key} collate "C" like ${pattern}${inTitle})`;
    };
    return [
      type,
      sql(
        `search.${type}`,
        `select f.*, case when o.kind = 'organization' then o.name end as organization from (
           select x.id, x.name, ${title} as title, ${key} collate "C" as key, ${like('$5')} as is_first,
                  ${owner} as owner_id
             from ${table} x where x.id > $7 and x.id <= $8 and ${like('$4')} and ${where}
            order by is_first desc, key, x.id limit $6
         ) f left join account o on o.id = f.owner_id order by f.is_first desc, f.key, f.id`,
      ),
    ];
  }),
);
const LAST_CLUSTER = sql('search.lastCluster', 'select coalesce(max(id), 0) as id from cluster');
const LAST_ID = 2n ** 63n - 1n;
const INSTALLERS = sql(
  'search.installers',
  `select i.id, i.marketplace, o.name as organization from installer i left join account o on o.id = i.organization_id
    where lower(i.id) like $1 or o.name_key like $1
    order by (lower(i.id) like $2 or coalesce(o.name_key like $2, false)) desc, i.id limit $3`,
);

export function createSearchStore(db: Db): SearchStore {
  return {
    async find(type, text, { owners, ids, isEverywhere }, most) {
      const statement = FIND.get(type);
      if (statement === undefined) throw new Error(`nothing is searched for ${type}`);
      const { contains, begins } = patterns(text);
      const between = (first: bigint, last: bigint) =>
        db.query<Found>(statement, [owners, ids, isEverywhere, contains, begins, most, first, last]);
      if (type !== 'clusters') return await between(0n, LAST_ID);
      const { id: last } = only(await db.query<{ id: bigint }>(LAST_CLUSTER));
      let found: Found[] = [];
      for (let first = 0n; first < last; first += CLUSTERS_IN_SLICE) {
        found = [...found, ...(await between(first, first + CLUSTERS_IN_SLICE))].sort(byRank).slice(0, most);
      }
      return found;
    },

    async findInstallers(text, most) {
      const { contains, begins } = patterns(text);
      return await db.query<FoundInstaller & Record<string, unknown>>(INSTALLERS, [contains, begins, most]);
    },
  };
}

/** The order of the statement. */
function byRank(one: Found, other: Found): number {
  if (one.is_first !== other.is_first) return one.is_first ? -1 : 1;
  if (one.key !== other.key) return Buffer.compare(Buffer.from(one.key), Buffer.from(other.key));
  return one.id < other.id ? -1 : 1;
}

function patterns(text: string): { readonly contains: string; readonly begins: string } {
  const contains = likeText(text);
  return { contains, begins: contains.slice(1) };
}
