import { type Query, type Script, sql } from '../../db/db.ts';
import type { Row } from './format.ts';
import { named, quote, type Sequence, type Table } from './tables.store.ts';

const HAS_TABLE = sql('restore.hasTable', 'select to_regclass($1) is not null as there');
const REVISION = sql('restore.revision', 'select value from revision where id = 1');
const HAS_CONTENT = sql(
  'restore.hasContent',
  'select exists (select 1 from account) or exists (select 1 from ring_key) as any',
);
// Dropping a table also drops its sequences and the views on it. What belongs to an extension is not ours.
const OBJECTS = sql(
  'restore.objects',
  `select format('drop %s if exists %I cascade', case c.relkind when 'S' then 'sequence' when 'v' then 'view' else 'table' end,
                 c.relname) as text, case when c.relkind in ('r', 'p') then 1 else 2 end as turn from pg_class c
    where c.relnamespace = to_regnamespace(quote_ident(current_schema())) and c.relkind in ('r', 'p', 'v', 'S') and not c.relispartition
      and not exists (select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
   union all
   select format('drop function if exists %s cascade', p.oid::regprocedure), 3 from pg_proc p
    where p.pronamespace = to_regnamespace(quote_ident(current_schema())) and p.prokind = 'f'
      and not exists (select 1 from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
    order by turn`,
);
const SERVERS = sql(
  'restore.servers',
  `select count(*)::int as count, string_agg(distinct coalesce(host(client_addr), 'this machine'), ', ') as hosts
     from pg_stat_activity
    where datname = current_database() and application_name = 'atrium' and pid <> pg_backend_pid()`,
);
// Foreign keys are dropped first and added last: then the order of tables does not matter, and each key is checked in
// one pass. Creating an index at the end takes a fraction of the time of updating it with every row.
const SHELVED = sql(
  'restore.shelved',
  `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
          format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as create
     from pg_constraint where contype = 'f' and connamespace = to_regnamespace(quote_ident(current_schema()))
   union all
   select format('drop index %I', c.relname), pg_get_indexdef(i.indexrelid)
     from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = to_regnamespace(quote_ident(current_schema()))
      and not exists (select 1 from pg_constraint p where p.conindid = i.indexrelid)`,
);
const SET_SEQUENCE = sql('restore.setSequence', 'select setval(to_regclass($1), $2::bigint)');
// Higher than every revision of this database. Because a server may remember a revision that we do not know, also
// higher than any number that counting can have reached: it is in microseconds since 1970, which no writer keeps up
// with, and a later restore is always higher.
const LEAP_AHEAD = sql(
  'restore.leapAhead',
  `update revision set value = ahead, pruned = ahead
     from (select greatest(value + 1, $1::bigint + 1, $2::bigint) as ahead from revision where id = 1) as one`,
);
// What the bus is sent from now on is newer than everything that it was sent before.
const TELL_BUS = sql(
  'restore.tellBus',
  'update bus_state set changed_at = greatest(changed_at + 1, extract(epoch from clock_timestamp())::bigint)',
);

// A copy of a deployment must not send anything to receivers of the original.
const SILENCE_WEBHOOKS = sql(
  'restore.silenceWebhooks',
  `update webhook set active = false, disabled_reason = 'restored', disabled_at = now(), is_untold = false,
          reset_reason = null, version = version + 1 where active`,
);
const DROP_QUEUES = sql('restore.dropQueues', `update webhook_delivery set state = 'failed' where state = 'pending'`);

export async function connectedServers(query: Query): Promise<{ count: number; hosts: string }> {
  const [row] = await query<{ count: number; hosts: string | null }>(SERVERS);
  return { count: row?.count ?? 0, hosts: row?.hosts ?? '' };
}

export interface RestoreTarget {
  readonly hasContent: boolean;
  readonly revision: bigint;
}

/** The state of the database before a restore. */
export async function readRestoreTarget(query: Query): Promise<RestoreTarget> {
  for (const table of ['revision', 'account', 'ring_key']) {
    const [row] = await query<{ there: boolean }>(HAS_TABLE, [table]);
    if (!row?.there) return { hasContent: false, revision: 0n };
  }
  const [content] = await query<{ any: boolean }>(HAS_CONTENT);
  const [revision] = await query<{ value: bigint }>(REVISION);
  return { hasContent: content?.any ?? false, revision: revision?.value ?? 0n };
}

export async function dropEverything(query: Query, script: Script): Promise<void> {
  for (const { text } of await query<{ text: string }>(OBJECTS)) await script(text);
}

/**
 * Removes what only slows down loading; returns a function that puts it back. Triggers had their effect when the rows
 * were created.
 */
export async function shelve(query: Query, script: Script, tables: readonly Table[]): Promise<() => Promise<void>> {
  const shelved = await query<{ drop: string; create: string }>(SHELVED);
  for (const { drop } of shelved) await script(drop);
  for (const { name } of tables) await script(`alter table ${quote(name)} disable trigger user`);
  return async () => {
    for (const { name } of tables) await script(`alter table ${quote(name)} enable trigger user`);
    const isKey = (create: string) => create.startsWith('alter table');
    for (const { create } of shelved) if (!isKey(create)) await script(create);
    for (const { create } of shelved) if (isKey(create)) await script(create);
  };
}

export async function clear(script: Script, tables: readonly Table[]): Promise<void> {
  await script(`truncate ${tables.map(({ name }) => quote(name)).join(', ')}`);
}

/** Each column is sent as one array of texts, which PostgreSQL reads by the rules of the column's own type. */
export async function load(
  query: Query,
  table: Table,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  const typeOf = (name: string) => table.columns.find((column) => column.name === name)?.type;
  const fields = columns.map((name, index) => `v.c${index}::${typeOf(name) ?? 'text'}`);
  const statement = named(
    `insert into ${quote(table.name)} (${columns.map(quote).join(', ')}) overriding system value
     select ${fields.join(', ')} from unnest(${columns.map((_, index) => `$${index + 1}::text[]`).join(', ')})
       as v (${columns.map((_, index) => `c${index}`).join(', ')})`,
  );
  await query(
    statement,
    columns.map((_, index) => rows.map((row) => row[index] ?? null)),
  );
}

/**
 * Sequences never go back: a number that was issued between the backup and now must not come to mean something else.
 */
export async function setSequences(query: Query, ...lists: readonly (readonly Sequence[])[]): Promise<void> {
  const highest = new Map<string, bigint>();
  for (const { name, last } of lists.flat()) {
    if (last === null) continue;
    const [row] = await query<{ there: boolean }>(HAS_TABLE, [quote(name)]);
    if (row?.there && BigInt(last) > (highest.get(name) ?? 0n)) highest.set(name, BigInt(last));
  }
  for (const [name, last] of highest) await query(SET_SEQUENCE, [quote(name), last]);
}

/** From now on, nothing that any server remembers is exact: everything has changed, and all changes are pruned. */
export async function leapAhead(query: Query, former: bigint, now: Date): Promise<void> {
  await query(LEAP_AHEAD, [former, BigInt(now.getTime()) * 1000n]);
  await query(TELL_BUS);
  // The backup of an older release has no webhooks.
  const [webhooks] = await query<{ there: boolean }>(HAS_TABLE, ['webhook']);
  if (!webhooks?.there) return;
  await query(SILENCE_WEBHOOKS);
  await query(DROP_QUEUES);
}
