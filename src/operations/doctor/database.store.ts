import type { HashedEntry } from '../../changes/audit-chain.store.ts';
import { type Query, sql } from '../../db/db.ts';
import type { SealedColumn } from '../../vault/rotation.ts';

const SERVER = sql(
  'doctor.server',
  `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
          current_setting('max_connections')::int as most_connections, clock_timestamp() as now,
          pg_is_in_recovery() as is_standby`,
);
const ORGANIZATIONS = sql(
  'doctor.organizations',
  `select name_key from account where kind = 'organization' and name_key = any($1::text[])`,
);
const ACTIVITY = sql(
  'doctor.activity',
  `select count(*) filter (where application_name = 'atrium')::int as connections,
          count(*) filter (where wait_event_type = 'Lock' and state_change < now() - interval '10 seconds')::int as waiting,
          count(*) filter (where state like 'idle in transaction%' and state_change < now() - interval '60 seconds')::int as idle
     from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
);
const REVISION = sql(
  'doctor.revision',
  `select r.value, r.pruned, (select max(revision) from change) as newest, (select count(*) from change)::int as changes
     from revision r where r.id = 1`,
);
const AUDIT = sql(
  'doctor.audit',
  `select id, at, organization_id, actor_id, actor_name, action, object_type, object_id, before::text, after::text,
          request_id, previous_hash, on_behalf_id, on_behalf_name, via::text as via, hash, is_erased from audit order by id desc limit $1`,
);
const RANGES = sql('doctor.ranges', 'select max(last_seen_at) as seen_at from address_ranges where source = $1');
const ROOTS = sql('doctor.roots', 'select count(distinct root)::int as roots from key_slot');

export interface AuditRow extends HashedEntry {
  readonly id: bigint;
  readonly hash: Buffer;
  readonly is_erased: boolean;
}

export interface SealedValue {
  readonly id: bigint;
  readonly ownerId: bigint;
  readonly identity: string;
  readonly sealed: Buffer;
}

const CREDENTIAL = sql('doctor.credential', 'select 1 from credential where owner_id = $1 and name = $2');

export function createDatabaseStore(query: Query) {
  return {
    async organizationsNamed(names: readonly string[]) {
      return (await query<{ name_key: string }>(ORGANIZATIONS, [[...names]])).map((row) => row.name_key);
    },

    async server() {
      const [row] = await query<{
        version: string;
        number: number;
        most_connections: number;
        now: Date;
        is_standby: boolean;
      }>(SERVER);
      if (!row) throw new Error('the database does not report its version');
      const { version, number, now } = row;
      return { version, number, now, mostConnections: row.most_connections, isStandby: row.is_standby };
    },
    async activity() {
      const [row] = await query<{ connections: number; waiting: number; idle: number }>(ACTIVITY);
      return row ?? { connections: 0, waiting: 0, idle: 0 };
    },
    async revision() {
      const [row] = await query<{ value: bigint; pruned: bigint; newest: bigint | null; changes: number }>(REVISION);
      return row;
    },
    newestAudit: (most: number) => query<AuditRow>(AUDIT, [most]),
    async rangesSeenAt(source: string) {
      const [row] = await query<{ seen_at: Date | null }>(RANGES, [source]);
      return row?.seen_at ?? undefined;
    },
    async hasCredential(ownerId: bigint, name: string) {
      return (await query(CREDENTIAL, [ownerId, name])).length > 0;
    },
    async roots() {
      const [row] = await query<{ roots: number }>(ROOTS);
      return row?.roots ?? 0;
    },
    /** A sample spread over the whole table; each row is found by the primary key. */
    async sealed(column: SealedColumn, most: number): Promise<SealedValue[]> {
      const rows = await query<{ id: bigint; owner_id: bigint; identity: string; sealed: Buffer }>(sampleOf(column), [
        most,
      ]);
      return rows.map((row) => ({ id: row.id, ownerId: row.owner_id, identity: row.identity, sealed: row.sealed }));
    },
  };
}

const sampleOf = ({ table, column, ownerId, identity }: SealedColumn) =>
  sql(
    `doctor.sealed.${table}.${column}`,
    `with ends as (select min(id) as low, max(id) as high from ${table}),
          places as (select distinct low + (high - low) * step / greatest($1::bigint - 1, 1) as place
                       from ends, generate_series(0, $1::bigint - 1) as step where low is not null),
          ids as (select distinct (select id from ${table} where id >= place order by id limit 1) as id from places)
     select t.id, t.${ownerId} as owner_id, ${identity} as identity, t.${column} as sealed
       from ids join ${table} t on t.id = ids.id where t.${column} is not null order by t.id`,
  );
