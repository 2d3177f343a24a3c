import { type Db, sql } from '../../db/db.ts';
import { nameKey } from '../../identity/account-names/account-names.ts';
import type { AccountKind, NameCheckStore } from './name-check.ts';

const HOLDER = sql(
  'names.holder',
  `select id, kind, false as is_former, false as is_erased from account where name_key = $1 union all
   select account_id, kind, true, exists (select 1 from erasure where erasure.account_id = reserved_name.account_id)
   from reserved_name where name_key = $1 and expires_at > now() limit 1`,
);
const ADDRESS = sql('names.address', 'select 1 as taken from email where address_key = lower($1)');

export function createNameCheckStore(db: Db): NameCheckStore {
  return {
    async holderOf(name) {
      const [row] = await db.query<{ id: bigint; kind: AccountKind; is_former: boolean; is_erased: boolean }>(HOLDER, [
        nameKey(name),
      ]);
      return row && { accountId: row.id, kind: row.kind, isFormer: row.is_former, isErased: row.is_erased };
    },
    isAddressTaken: async (address) => (await db.query(ADDRESS, [address])).length > 0,
  };
}
