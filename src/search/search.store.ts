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
  /** The table, as `x`, with its owner as `o`. */
  readonly from: string;
  readonly title: string;
  /** The second name that is searched. */
  readonly where: string;
}

const owned = (table: string, column: string) => ({
  from: `${table} x join account o on o.id = x.${column}`,
  where: `(x.${column} = any($1::bigint[]) or x.id = any($2::bigint[]) or ($3 and o.kind = 'organization'))`,
});
const MEMBER = `exists (select 1 from team_member m join team t on t.id = m.team_id
  where m.account_id = x.id and t.organization_id = any($1::bigint[]))`;

const SOURCES: Readonly<Record<Exclude<SearchType, 'installers'>, Source>> = {
  people: {
    from: 'account x left join account o on false',
    title: 'x.full_name',
    where: `x.kind = 'user' and ($3 or x.id = any($2::bigint[]) or ${MEMBER})`,
  },
  teams: { ...owned('team', 'organization_id'), title: `''` },
  roles: { ...owned('role', 'organization_id'), title: `''` },
  clusters: { ...owned('cluster', 'owner_id'), title: 'x.display_name' },
  contracts: { ...owned('contract', 'owner_id'), title: `''` },
  robots: { ...owned('robot', 'owner_id'), title: `''` },
  organizations: {
    from: 'account x left join account o on false',
    title: 'x.full_name',
    where: `x.kind = 'organization' and ($3 or x.id = any($1::bigint[]) or x.id = any($2::bigint[]))`,
  },
};

// $4 is the pattern of what contains the text, $5 of what begins with it. The cheap condition comes last for the reader,
// and first for PostgreSQL: few owners, then their names.
const FIND = new Map(
  Object.entries(SOURCES).map(([type, { from, title, where }]) => [
    type,
    sql(
      `search.${type}`,
      `select x.id, x.name, ${title} as title, case when o.kind = 'organization' then o.name end as organization
         from ${from}
        where ${where} and (lower(x.name) like $4 or lower(${title}) like $4)
        order by (lower(x.name) like $5 or lower(${title}) like $5) desc, lower(x.name), x.id limit $6`,
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
