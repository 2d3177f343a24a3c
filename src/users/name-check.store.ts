import { type Db, sql } from '../db/db.ts';
import { nameKey } from '../identity/account-names.ts';
import type { AccountKind, NameCheckStore } from './name-check.ts';

const NAME = sql('names.name', 'select kind from account where name_key = $1');
const ADDRESS = sql('names.address', 'select 1 as taken from email where address_key = lower($1)');

export function createNameCheckStore(db: Db): NameCheckStore {
  return {
    takenBy: async (name) => (await db.query<{ kind: AccountKind }>(NAME, [nameKey(name)]))[0]?.kind,
    isAddressTaken: async (address) => (await db.query(ADDRESS, [address])).length > 0,
  };
}
