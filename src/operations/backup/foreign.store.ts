import { AppError } from '../../base/errors.ts';
import { type Query, sql } from '../../db/db.ts';

/** Excludes the schemas of PostgreSQL itself and those that exist only as long as a session. */
const OURS_TO_SEE = (namespace: string) =>
  `${namespace} in (select oid from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema')`;
const ELSEWHERE = `${OURS_TO_SEE('c.relnamespace')} and c.relnamespace <> to_regnamespace(quote_ident(current_schema()))`;
const NOT_BROUGHT_ALONG = (catalog: string, id: string) => `not exists (select 1 from pg_depend d
  where d.classid = '${catalog}'::regclass and d.objid = ${id} and d.objsubid = 0 and d.deptype in ('e', 'a', 'i'))`;

// Everything that dropping our tables, views, sequences and functions can also drop, in any schema. What belongs to an
// extension or to another object, such as the sequence of a column, is dropped and created with it.
const OBJECTS = sql(
  'restore.allObjects',
  `select pg_describe_object(catalog, id, part) as name from (
     select 'pg_class'::regclass as catalog, c.oid as id, 0 as part from pg_class c
      where ${OURS_TO_SEE('c.relnamespace')} and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and not c.relispartition
        and ${NOT_BROUGHT_ALONG('pg_class', 'c.oid')}
     union all
     select 'pg_proc'::regclass, p.oid, 0 from pg_proc p
      where ${OURS_TO_SEE('p.pronamespace')} and ${NOT_BROUGHT_ALONG('pg_proc', 'p.oid')}
     union all
     select 'pg_trigger'::regclass, t.oid, 0 from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where ${OURS_TO_SEE('c.relnamespace')} and not t.tgisinternal
     union all
     select 'pg_constraint'::regclass, f.oid, 0 from pg_constraint f join pg_class c on c.oid = f.conrelid
      where ${ELSEWHERE} and f.contype in ('f', 'c')
     union all
     select 'pg_attrdef'::regclass, a.oid, 0 from pg_attrdef a join pg_class c on c.oid = a.adrelid where ${ELSEWHERE}
     union all
     select 'pg_class'::regclass, a.attrelid, a.attnum from pg_attribute a join pg_class c on c.oid = a.attrelid
      where ${ELSEWHERE} and c.relkind in ('r', 'p', 'f') and a.attnum > 0 and not a.attisdropped
   ) as one order by 1`,
);

/** Everything that a restore could drop, as descriptions such as `view report`. */
export async function readObjects(query: Query): Promise<string[]> {
  return (await query<{ name: string }>(OBJECTS)).map(({ name }) => name);
}

/** Of earlier releases: the tables are views since migration 0041 and 0042. */
const FORMER: readonly string[] = [
  'table spent_secret',
  'table used_proof',
  'table role_team',
  'trigger role_team_expiry on table role_team',
];

/** An object that existed before, but does not exist once all migrations have been applied, is not ours. */
export function rejectForeign(before: readonly string[], after: readonly string[]): void {
  const known = new Set([...after, ...FORMER]);
  const foreign = before.filter((name) => !known.has(name));
  if (foreign.length === 0) return;
  throw new AppError(
    'conflict',
    `the database also contains objects that are not Atrium's (${foreign.join(', ')}), so nothing was changed; ` +
      'restore into a separate database',
  );
}
