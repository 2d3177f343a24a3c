import { type Db, sql } from '../db/db.ts';
import type { SealedColumn } from '../vault/rotation.ts';
import type { KeyName, KeyringStore } from './keyring.ts';

const LOAD = sql('busKeys.load', 'select name, public_key, seed, created_at from bus_key order by name');
const ADD = sql(
  'busKeys.add',
  'insert into bus_key (name, public_key, seed) values ($1, $2, $3) on conflict (name) do nothing',
);

/** Where the sealed seeds are stored, for key rotation. The identity is the one that `identityOf` returns. */
export const BUS_KEY_SEEDS: SealedColumn = {
  table: 'bus_key',
  column: 'seed',
  ownerId: 'owner_id',
  identity: `'bus key ' || t.name`,
};

interface Row {
  name: KeyName;
  public_key: string;
  seed: Buffer;
  created_at: Date;
}

export function createKeyringStore(db: Db): KeyringStore {
  return {
    async load() {
      const rows = await db.query<Row>(LOAD);
      return rows.map((row) => ({
        name: row.name,
        publicKey: row.public_key,
        seed: row.seed,
        createdAt: row.created_at,
      }));
    },

    async add(keys) {
      await db.transaction(async (query) => {
        for (const { name, publicKey, seed } of keys) await query(ADD, [name, publicKey, seed]);
      });
    },
  };
}
