import { BELONGING_TYPES, type BelongingType, OBJECT_KINDS } from '../changes/object-kinds.ts';
import { type Statement, sql } from '../db/db.ts';
import type { Listed } from './search.ts';

export interface SearchRow {
  readonly id: bigint;
  readonly name: string;
  readonly title: string;
  readonly organization: string | null;
}

/** Where one type is found. What is searched is about a row `x`. */
interface Source {
  readonly table: string;
  /** Its name in lower case. */
  readonly key: string;
  /** The second name that is searched, if it has one. */
  readonly title?: string;
  /** The account that owns it. */
  readonly owner: string;
  /** Which rows of the table can be found in the whole deployment. */
  readonly kind: string;
  /** Which of them can be found in the places `$1` (owners) and `$2` (single ones). */
  readonly placed: string;
}

export interface EverywhereStatements {
  /** What begins with the text: from $1, before $2. */
  readonly beginning: Statement;
  /** What has the pieces $1 and contains $2, with the number of hits. What is like $3 comes first. */
  readonly having: Statement;
  /** What contains $1, among a few of the first names, and among many. */
  readonly near: Statement;
  readonly along: Statement;
}

/** With more hits than this, the first in order are looked for along the names instead. */
export const MAX_RANKED = 1000;
const MAX_NEAR = 150;
const MAX_ALONG = 20_000;

const inOrganization = (owner: string) =>
  `exists (select 1 from account o where o.id = ${owner} and o.kind = 'organization' offset 0)`;
const owned = (table: string, owner: string): Source => ({
  table,
  key: 'lower(x.name)',
  owner,
  kind: inOrganization(owner),
  placed: `${owner} = any($1::bigint[]) or x.id = any($2::bigint[])`,
});
/** What only organizations have also has its name in lower case. */
const different = (type: BelongingType, ownerColumn: string): Partial<Source> => {
  if (ownerColumn === 'organization_id') return { key: 'x.name_key', kind: 'true' };
  return type === 'cluster' ? { title: 'x.display_name' } : {};
};
const account = (kind: string, placed: string): Source => ({
  table: 'account',
  key: 'x.name_key',
  title: 'x.full_name',
  owner: 'null::bigint',
  kind: `x.kind = '${kind}'`,
  placed: `(${placed}) and x.kind = '${kind}'`,
});

const SOURCES = {
  // The members are found first, and then their accounts: not all accounts, each with its memberships.
  people: account(
    'user',
    `x.id = any(array(select m.account_id from team t join team_member m on m.team_id = t.id
                       where t.organization_id = any($1::bigint[]))) or x.id = any($2::bigint[])`,
  ),
  ...Object.fromEntries(
    BELONGING_TYPES.flatMap(({ type, table, ownerColumn }) => {
      const { plural, isSearched } = OBJECT_KINDS[type];
      return isSearched ? [[plural, { ...owned(table, `x.${ownerColumn}`), ...different(type, ownerColumn) }]] : [];
    }),
  ),
  organizations: account('organization', 'x.id = any($1::bigint[]) or x.id = any($2::bigint[])'),
} as Readonly<Record<Listed, Source>>;

export const IN_PLACES = statements((type, source) => {
  const rows = `${selected(source, like(source, '$4'))} where (${source.placed}) and ${like(source, '$3')}
    order by is_first desc, key, id limit $5`;
  return sql(`search.${type}`, shown(rows, 'f.is_first desc, f.key, f.id'));
});

export const EVERYWHERE = statements((type, source): EverywhereStatements => {
  const { kind, title } = source;
  const key = `${source.key} collate "C"`;
  const named = `(${selected(source, 'true')} where ${kind} and ${key} >= $1 and ${key} < $2 order by ${key}, x.id limit $3)`;
  const titled =
    title &&
    ` union (select * from (${selected(source, 'true')} where ${kind} and ${title} <> ''
        and lower(${title}) collate "C" >= $1 and lower(${title}) collate "C" < $2 limit ${MAX_RANKED}) t
        order by key, id limit $3)`;
  const pieces = `search_pieces(${title ? `${source.key} || ' ' || lower(${title})` : source.key})`;
  const having = `${selected(source, like(source, '$3'))}
    where ${kind} and ${like(source, '$2')} and ${pieces} @@ $1::tsquery limit ${MAX_RANKED + 1}`;
  const along = (names: number) => `select * from (
      ${selected(source, 'false')} where ${kind} order by ${key}, x.id limit ${names}) x
    where ${likeOf('x.key', title && 'x.title', '$1')} order by x.key, x.id limit $2`;
  return {
    beginning: sql(
      `search.beginning.${type}`,
      shown(`select * from (${named}${titled ?? ''}) b order by key, id limit $3`, 'f.key, f.id'),
    ),
    having: sql(
      `search.having.${type}`,
      `with hit as materialized (${having}) ${shown(
        `select hit.*, (select count(*)::integer from hit) as hits from hit order by is_first desc, key, id limit $4`,
        'f.is_first desc, f.key, f.id',
      )}`,
    ),
    near: sql(`search.near.${type}`, shown(along(MAX_NEAR), 'f.key, f.id')),
    along: sql(`search.along.${type}`, shown(along(MAX_ALONG), 'f.key, f.id')),
  };
});

function statements<T>(make: (type: string, source: Source) => T): Readonly<Record<Listed, T>> {
  return Object.fromEntries(Object.entries(SOURCES).map(([type, source]) => [type, make(type, source)])) as Record<
    Listed,
    T
  >;
}

/** Names are compared by bytes, and so they are in the same order in every database. */
function selected({ table, key, title, owner }: Source, isFirst: string): string {
  return `select x.id, x.name, ${title ?? "''"} as title, ${key} collate "C" as key, ${isFirst} as is_first,
    ${owner} as owner_id from ${table} x`;
}

function like({ key, title }: Source, pattern: string): string {
  return likeOf(key, title, pattern);
}

function likeOf(key: string, title: string | undefined, pattern: string): string {
  const inTitle = title ? ` or (${title} <> '' and lower(${title}) collate "C" like ${pattern})` : '';
  return `(${key} collate "C" like ${pattern}${inTitle})`;
}

/** Joined with their owners only if they are among those that are shown. */
function shown(rows: string, order: string): string {
  return `select f.*, case when o.kind = 'organization' then o.name end as organization
    from (${rows}) f left join account o on o.id = f.owner_id order by ${order}`;
}
