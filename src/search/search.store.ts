import { type Db, sql } from '../db/db.ts';
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
  /** The second name that is searched. */
  readonly title: string;
  /** The account that owns it. */
  readonly owner: string;
  readonly where: string;
}

const owned = (table: string, owner: string, title = `''`): Source => ({
  table,
  title,
  owner: `x.${owner}`,
  where: `(x.${owner} = any($1::bigint[]) or x.id = any($2::bigint[])
    or ($3 and x.${owner} in (select a.id from account a where a.kind = 'organization')))`,
});
const account = (where: string): Source => ({ table: 'account', title: 'x.full_name', owner: 'null::bigint', where });

const SOURCES: Readonly<Record<Exclude<SearchType, 'installers'>, Source>> = {
  people: account(`x.kind = 'user' and ($3 or x.id = any($2::bigint[]) or exists (
    select 1 from team_member m join team t on t.id = m.team_id
     where m.account_id = x.id and t.organization_id = any($1::bigint[])))`),
  teams: owned('team', 'organization_id'),
  roles: owned('role', 'organization_id'),
  clusters: owned('cluster', 'owner_id', 'x.display_name'),
  contracts: owned('contract', 'owner_id'),
  robots: owned('robot', 'owner_id'),
  organizations: account(`x.kind = 'organization' and ($3 or x.id = any($1::bigint[]) or x.id = any($2::bigint[]))`),
};

// $4 is the pattern of what contains the text, $5 of what begins with it. Ten thousand names may be compared, so each is
// made lower case once ("offset 0" keeps PostgreSQL from doing it again for each use), compared by bytes, and joined
// with its owner only if it is one of those that are shown.
const FIND = new Map(
  Object.entries(SOURCES).map(([type, { table, title, owner, where }]) => [
    type,
    sql(
      `search.${type}`,
      `select f.id, f.name, f.title, case when o.kind = 'organization' then o.name end as organization from (
         select k.*, (k.name_key like $5 or k.title_key like $5) as is_first from (
           select x.id, x.name, ${title} as title, lower(x.name) collate "C" as name_key,
                  lower(${title}) collate "C" as title_key, ${owner} as owner_id
             from ${table} x where ${where} offset 0
         ) k where k.name_key like $4 or (k.title_key <> '' and k.title_key like $4)
         order by is_first desc, k.name_key, k.id limit $6
       ) f left join account o on o.id = f.owner_id order by f.is_first desc, f.name_key, f.id`,
    ),
  ]),
);
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
      return await db.query<Row>(statement, [owners, ids, isEverywhere, contains, begins, most]);
    },

    async findInstallers(text, most) {
      const { contains, begins } = patterns(text);
      return await db.query<FoundInstaller & Record<string, unknown>>(INSTALLERS, [contains, begins, most]);
    },
  };
}

function patterns(text: string): { readonly contains: string; readonly begins: string } {
  const contains = likeText(text);
  return { contains, begins: contains.slice(1) };
}
