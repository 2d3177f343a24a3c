import type { JsonWebKey } from 'node:crypto';
import { type Db, sql } from '../db/db.ts';
import type { SealedColumn } from '../vault/rotation.ts';
import type { SigningKeyStore } from './signing-keys.ts';

const LOAD = sql(
  'clusterTokenKeys.load',
  'select kid, public_key, sealed, created_at from cluster_token_key order by created_at desc, id desc',
);
// Two processes may find no key at the same moment: one of them waits, and then finds the key of the other.
const LOCK = sql('clusterTokenKeys.lock', 'lock table cluster_token_key in share row exclusive mode');
const ADD = sql(
  'clusterTokenKeys.add',
  `insert into cluster_token_key (kid, public_key, sealed) select $1, $2::jsonb, $3
    where not exists (select 1 from cluster_token_key where created_at > $4)`,
);
const REMOVE = sql('clusterTokenKeys.remove', 'delete from cluster_token_key where created_at < $1');

/** Where the sealed keys are stored, for key rotation. The identity is the one that `identityOf` returns. */
export const CLUSTER_TOKEN_KEYS: SealedColumn = {
  table: 'cluster_token_key',
  column: 'sealed',
  ownerId: 'owner_id',
  identity: `'cluster token key ' || t.kid`,
};

interface Row {
  kid: string;
  public_key: JsonWebKey;
  sealed: Buffer;
  created_at: Date;
}

export function createSigningKeyStore(db: Db): SigningKeyStore {
  return {
    async load() {
      const rows = await db.query<Row>(LOAD);
      return rows.map(({ kid, public_key: jwk, sealed, created_at: createdAt }) => ({ kid, jwk, sealed, createdAt }));
    },

    async add({ kid, jwk, sealed }, unlessSince) {
      await db.transaction(async (query) => {
        await query(LOCK);
        await query(ADD, [kid, JSON.stringify(jwk), sealed, unlessSince]);
      });
    },

    async removeBefore(moment) {
      await db.query(REMOVE, [moment]);
    },
  };
}
