import { deleteInBatches } from '../db/batched-delete.ts';
import { type Db, only, sql } from '../db/db.ts';
import type { SealedColumn } from '../vault/rotation.ts';
import type { IdempotencyStore, KeptResponse } from './idempotency.ts';

interface BeginRow {
  is_free: boolean;
  fingerprint: Buffer | null;
  sealed: Buffer | null;
  kept: number;
}

// The lock ends with the transaction, also if the process dies. Trying it never waits.
const BEGIN = sql(
  'idempotency.begin',
  `select pg_try_advisory_xact_lock($1) as is_free, k.fingerprint, k.sealed,
          (select count(*)::integer from (
             select 1 from idempotency_key o where o.account_id = $4 and o.created_at > $3 limit $5) s) as kept
     from (select 1) one left join idempotency_key k on k.hash = $2 and k.created_at > $3`,
);
const FIND = sql(
  'idempotency.find',
  'select fingerprint, sealed from idempotency_key where hash = $1 and created_at > $2',
);
// Another transaction may have inserted it since BEGIN looked. A row that has expired is as good as absent.
const INSERT = sql(
  'idempotency.insert',
  `insert into idempotency_key as k (account_id, hash, fingerprint, sealed, created_at) values ($1, $2, $3, $4, $5)
   on conflict (hash) do update
      set fingerprint = excluded.fingerprint, sealed = excluded.sealed, created_at = excluded.created_at
    where k.created_at <= $6 returning id`,
);
const SWEEP = sql(
  'idempotency.sweep',
  `delete from idempotency_key where id = any (array (
     select id from idempotency_key where created_at <= $1 order by created_at limit $2 for update skip locked))
   returning id`,
);

/** Where the responses are stored, for key rotation. The identity is the one that `identityOf` returns. */
export const IDEMPOTENT_RESPONSES: SealedColumn = {
  table: 'idempotency_key',
  column: 'sealed',
  ownerId: 'account_id',
  identity: `'response ' || encode(t.hash, 'hex')`,
};

export function createIdempotencyStore(db: Db): IdempotencyStore {
  return {
    async begin(query, { hash, accountId, expired }, max) {
      const values = [hash.readBigInt64BE(), hash, expired, accountId, max];
      const { is_free: isFree, fingerprint, sealed, kept } = only(await query<BeginRow>(BEGIN, values));
      return { isFree, kept, found: fingerprint && sealed ? { fingerprint, sealed } : undefined };
    },

    async insert(query, { accountId, hash, fingerprint, now, expired }, sealed) {
      return (await query(INSERT, [accountId, hash, fingerprint, sealed, now, expired])).length === 1;
    },

    async find({ hash, expired }) {
      const [row] = await db.query<KeptResponse>(FIND, [hash, expired]);
      return row;
    },

    async sweep(expired) {
      await deleteInBatches(db.query, SWEEP, [expired]);
    },
  };
}
