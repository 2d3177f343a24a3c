import { type Db, sql } from '../db/db.ts';
import type { RotationStore, SealedColumn, StaleValue } from './rotation.ts';

interface StaleRow {
  id: bigint;
  owner_id: bigint;
  identity: string;
  sealed: Buffer;
  old_id: bigint;
  old_ring: bigint;
  old_wrapped: Buffer;
  new_id: bigint;
  new_ring: bigint;
  new_wrapped: Buffer;
}

const OWNERS_BEHIND = sql(
  'rotation.ownersBehind',
  'select owner_id from data_key where retired_at is null and ring_key_id <> $1 order by owner_id limit $2',
);
const RETIRE = sql(
  'rotation.retire',
  'update data_key set retired_at = now() where owner_id = any($1::bigint[]) and retired_at is null',
);
const INSERT = sql(
  'rotation.insert',
  `insert into data_key (owner_id, ring_key_id, wrapped)
   select * from unnest($1::bigint[], $2::bigint[], $3::bytea[])`,
);
const SWEEP_RING = sql(
  'rotation.sweepRing',
  `delete from ring_key r where r.purpose = 'vault' and r.retired_at < now() - $1::float8 * interval '1 millisecond'
      and not exists (select 1 from data_key k where k.ring_key_id = r.id)`,
);

/** A value can be a megabyte, and a batch of values is in memory as a whole, twice. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The key ID in the head of a sealed value. */
const keyId = (sealed: string) => `('x' || encode(substring(${sealed} from 2 for 8), 'hex'))::bit(64)::bigint`;

export function createRotationStore(db: Db): RotationStore {
  return {
    async ownersBehind(ringKeyId, most) {
      const rows = await db.query<{ owner_id: bigint }>(OWNERS_BEHIND, [ringKeyId, most]);
      return rows.map((row) => row.owner_id);
    },

    async replaceKeys(keys) {
      await db.transaction(async (query) => {
        await query(RETIRE, [keys.map((key) => key.ownerId)]);
        await query(INSERT, [
          keys.map((key) => key.ownerId),
          keys.map((key) => key.ringKeyId),
          keys.map((key) => key.wrapped),
        ]);
      });
    },

    async stale(column, afterId, most) {
      return (await db.query<StaleRow>(staleOf(column), [afterId, most])).map(toStale);
    },

    async reseal(column, values) {
      if (values.length === 0) return 0;
      const rows = await db.query(resealOf(column), [
        values.map((value) => value.id),
        values.map((value) => value.before),
        values.map((value) => value.after),
      ]);
      return rows.length;
    },

    async sweep(columns, retiredMs) {
      await db.transaction(async (query) => {
        await query(sweepOf(columns), [retiredMs]);
        await query(SWEEP_RING, [retiredMs]);
      });
    },
  };
}

const staleOf = ({ table, column, ownerId, identity }: SealedColumn) =>
  sql(
    `rotation.stale.${table}.${column}`,
    `select * from (
       select t.id, t.${ownerId} as owner_id, ${identity} as identity, t.${column} as sealed,
              old.id as old_id, old.ring_key_id as old_ring, old.wrapped as old_wrapped,
              new.id as new_id, new.ring_key_id as new_ring, new.wrapped as new_wrapped,
              sum(octet_length(t.${column})) over (order by t.id) - octet_length(t.${column}) as bytes_before
         from ${table} t
         join data_key old on old.id = ${keyId(`t.${column}`)} and old.retired_at is not null
         join data_key new on new.owner_id = t.${ownerId} and new.retired_at is null
        where t.id > $1 order by t.id limit $2) s
      where bytes_before < ${MAX_BYTES} order by id`,
  );

const resealOf = ({ table, column }: SealedColumn) =>
  sql(
    `rotation.reseal.${table}.${column}`,
    `update ${table} t set ${column} = v.after from unnest($1::bigint[], $2::bytea[], $3::bytea[]) as v (id, before, after)
      where t.id = v.id and substring(t.${column} for length(v.before)) = v.before returning t.id`,
  );

const sweepOf = (columns: readonly SealedColumn[]) =>
  sql(
    'rotation.sweep',
    `delete from data_key k where k.retired_at < now() - $1::float8 * interval '1 millisecond' ${columns
      .map(({ table, column }) => `and not exists (select 1 from ${table} t where ${keyId(`t.${column}`)} = k.id)`)
      .join(' ')}`,
  );

function toStale(row: StaleRow): StaleValue {
  const { id, owner_id: ownerId, identity, sealed } = row;
  const retired = { id: row.old_id, ownerId, ringKeyId: row.old_ring, wrapped: row.old_wrapped };
  const present = { id: row.new_id, ownerId, ringKeyId: row.new_ring, wrapped: row.new_wrapped };
  return { id, ownerId, identity, sealed, retired, present };
}
