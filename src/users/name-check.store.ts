import { type Db, sql } from '../db/db.ts';
import { nameKey } from '../identity/account-names.ts';
import type { AccountKind, NameCheckStore } from './name-check.ts';

const HOLDER = sql(
  'names.holder',
  `select id, kind from account where name_key = $1 union all
   select account_id, null from reserved_name where name_key = $1 and expires_at > now() limit 1`,
);
const ADDRESS = sql('names.address', 'select 1 as taken from email where address_key = lower($1)');

export function createNameCheckStore(db: Db): NameCheckStore {
  return {
    async holderOf(name) {
      const [row] = await db.query<{ id: bigint; kind: AccountKind | null }>(HOLDER, [nameKey(name)]);
      return row && { accountId: row.id, ...(row.kind !== null && { kind: row.kind }) };
    },
    isAddressTaken: async (address) => (await db.query(ADDRESS, [address])).length > 0,
  };
}
