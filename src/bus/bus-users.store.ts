import { type Db, sql } from '../db/db.ts';
import type { SealedColumn } from '../vault/rotation.ts';
import type { BusUserStore } from './bus-users.ts';

const FIND = sql(
  'busUsers.find',
  'select public_key, seed, granted from bus_user where account_id = $1 and realm = $2',
);
// The lock serialises this with a deactivation: a key is never added to an account that has just been closed.
const ADD = sql(
  'busUsers.add',
  `insert into bus_user (account_id, realm, public_key, seed, granted, granted_by)
   select a.id, $2, $3, $4, $5::bigint[], $6::bigint[]
     from (select id from account where id = $1 and kind = 'user' and active and not prohibit_login
              and (is_admin or $2 = 'application') for share) a
   on conflict (account_id, realm) do nothing`,
);
const SET_GRANT = sql(
  'busUsers.setGrant',
  `update bus_user set granted = $3::bigint[], granted_by = $4::bigint[]
    where public_key = $1 and granted = $2::bigint[] returning id`,
);
const REMOVE = sql('busUsers.remove', 'delete from bus_user where public_key = $1');

/** Where the sealed seeds are stored, for key rotation. The identity is the one that `identityOf` returns. */
export const BUS_USER_SEEDS: SealedColumn = {
  table: 'bus_user',
  column: 'seed',
  ownerId: 'account_id',
  identity: `'bus user ' || t.realm || ' ' || t.public_key`,
};

export function createBusUserStore(db: Db): BusUserStore {
  return {
    async find(personId, realm) {
      const [row] = await db.query<{ public_key: string; seed: Buffer; granted: bigint[] }>(FIND, [personId, realm]);
      return row && { publicKey: row.public_key, seed: row.seed, rights: row.granted };
    },

    async add(personId, realm, { publicKey, seed }, { rights, grantedBy }) {
      await db.query(ADD, [personId, realm, publicKey, seed, rights, grantedBy]);
    },

    async setGrant({ publicKey, rights: before }, { rights, grantedBy }) {
      return (await db.query(SET_GRANT, [publicKey, before, rights, grantedBy])).length > 0;
    },

    async remove(publicKey) {
      await db.query(REMOVE, [publicKey]);
    },
  };
}
