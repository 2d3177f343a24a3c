import { type Db, only, type Query, type Statement, sql } from '../db/db.ts';
import type { RingPurpose, RingStore, Slot, Wrap } from './ring.ts';
import type { RootKeyStore } from './root-key.ts';

interface SlotRow {
  ring_key_id: bigint;
  purpose: RingPurpose;
  is_current: boolean;
  wrapped: Buffer;
}

// Serializes two first starts, or two rotations.
const LOCK = sql('ring.lock', `select pg_advisory_xact_lock(hashtextextended('key ring', 0))`);
const ANY = sql('ring.any', 'select exists (select 1 from ring_key) as any');
const HAS_TABLE = sql('ring.hasTable', 'select to_regclass($1) is not null as there');
const ANY_ACCOUNT = sql('ring.anyAccount', 'select exists (select 1 from account) as any');
const ROOTS = sql('ring.roots', 'select distinct root from key_slot order by root');
const SLOTS = sql(
  'ring.slots',
  `select s.ring_key_id, k.purpose, k.retired_at is null as is_current, s.wrapped
     from key_slot s join ring_key k on k.id = s.ring_key_id where s.root = $1 order by s.ring_key_id`,
);
const RETIRE = sql('ring.retire', 'update ring_key set retired_at = now() where purpose = $1 and retired_at is null');
const INSERT = sql('ring.insert', 'insert into ring_key (purpose) values ($1) returning id');
const INSERT_SLOT = sql(
  'ring.insertSlot',
  'insert into key_slot (ring_key_id, root, wrapped) values ($1, $2, $3) on conflict do nothing',
);
const KEEP_ONLY = sql('ring.keepOnly', 'delete from key_slot where root <> $1');

export function createRingStore(db: Db): RingStore & RootKeyStore {
  return { slots, roots, hasRing, isEmpty, begin, renew, keepOnly };

  // Both are asked before the first migration has run.
  async function hasRing(): Promise<boolean> {
    return (await hasTable('ring_key')) && (await any(ANY));
  }

  async function isEmpty(): Promise<boolean> {
    return !(await hasRing()) && !((await hasTable('account')) && (await any(ANY_ACCOUNT)));
  }

  async function hasTable(name: string): Promise<boolean> {
    return only(await db.query<{ there: boolean }>(HAS_TABLE, [name])).there;
  }

  async function any(statement: Statement): Promise<boolean> {
    return only(await db.query<{ any: boolean }>(statement)).any;
  }

  async function slots(root: string): Promise<Slot[]> {
    const rows = await db.query<SlotRow>(SLOTS, [root]);
    return rows.map((row) => ({
      ringKeyId: row.ring_key_id,
      purpose: row.purpose,
      isCurrent: row.is_current,
      wrapped: row.wrapped,
    }));
  }

  async function roots(): Promise<string[]> {
    return (await db.query<{ root: string }>(ROOTS)).map(({ root }) => root);
  }

  async function begin(keys: Parameters<RingStore['begin']>[0]): Promise<void> {
    await db.transaction(async (query) => {
      await query(LOCK);
      const [row] = await query<{ any: boolean }>(ANY);
      if (row?.any) return;
      for (const { purpose, wrap } of keys) await insert(query, purpose, wrap);
    });
  }

  async function renew(purpose: RingPurpose, wrap: Wrap, further: Parameters<RingStore['renew']>[2]): Promise<void> {
    await db.transaction(async (query) => {
      await query(LOCK);
      for (const { ringKeyId, root, wrapped } of further) await query(INSERT_SLOT, [ringKeyId, root, wrapped]);
      await query(RETIRE, [purpose]);
      await insert(query, purpose, wrap);
    });
  }

  async function keepOnly(root: string): Promise<void> {
    await db.query(KEEP_ONLY, [root]);
  }
}

async function insert(query: Query, purpose: RingPurpose, wrap: Wrap): Promise<void> {
  const { id } = only(await query<{ id: bigint }>(INSERT, [purpose]));
  for (const { root, wrapped } of wrap(id)) await query(INSERT_SLOT, [id, root, wrapped]);
}
