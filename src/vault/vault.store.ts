import { type Db, sql } from '../db/db.ts';
import type { DataKey, NewDataKey } from './data-key.ts';
import type { VaultStore } from './vault.ts';

interface DataKeyRow {
  id: bigint;
  owner_id: bigint;
  ring_key_id: bigint;
  wrapped: Buffer;
}

const CURRENT = sql(
  'vault.currentKey',
  'select id, owner_id, ring_key_id, wrapped from data_key where owner_id = $1 and retired_at is null',
);
const GET = sql('vault.key', 'select id, owner_id, ring_key_id, wrapped from data_key where id = $1');
const INSERT = sql(
  'vault.addKey',
  `insert into data_key (owner_id, ring_key_id, wrapped) values ($1, $2, $3)
   on conflict (owner_id) where retired_at is null do nothing`,
);

export function createVaultStore(db: Db): VaultStore {
  return { currentKey, key, addKey };

  async function currentKey(ownerId: bigint): Promise<DataKey | undefined> {
    const [row] = await db.query<DataKeyRow>(CURRENT, [ownerId]);
    return row && toDataKey(row);
  }

  async function key(id: bigint): Promise<DataKey | undefined> {
    const [row] = await db.query<DataKeyRow>(GET, [id]);
    return row && toDataKey(row);
  }

  async function addKey(key: NewDataKey): Promise<DataKey> {
    for (;;) {
      await db.query(INSERT, [key.ownerId, key.ringKeyId, key.wrapped]);
      const present = await currentKey(key.ownerId);
      if (present) return present;
    }
  }
}

function toDataKey(row: DataKeyRow): DataKey {
  return { id: row.id, ownerId: row.owner_id, ringKeyId: row.ring_key_id, wrapped: row.wrapped };
}
