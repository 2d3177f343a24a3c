import { type Db, only, sql } from '../db/db.ts';
import type { SealedColumn } from '../vault/rotation.ts';
import type { BusUserStore } from './bus-users.ts';

const FIND = sql(
  'busUsers.find',
  'select public_key, seed, granted, issued_with from bus_user where account_id = $1 and realm = $2',
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
// The lock serialises this with a revocation of the token: a token that is revoked later takes the key with it.
const NOTE_TOKEN = sql(
  'busUsers.noteToken',
  `with held as (select id from token where id = $2 for key share), noted as (
   update bus_user u set issued_with = array_append(u.issued_with, held.id) from held
    where u.public_key = $1 and not u.issued_with @> array[held.id] returning u.id)
   select exists (select from held) as held, exists (select from noted) as noted`,
);
const REMOVE = sql('busUsers.remove', 'delete from bus_user where public_key = $1');

/** Where the sealed seeds are stored, for key rotation. The identity is the one that `identityOf` returns. */
export const BUS_USER_SEEDS: SealedColumn = {
  table: 'bus_user',
  column: 'seed',
  ownerId: 'account_id',
  identity: `'bus user ' || t.realm || ' ' || t.public_key`,
};

interface Row {
  public_key: string;
  seed: Buffer;
  granted: bigint[];
  issued_with: bigint[];
}

export function createBusUserStore(db: Db): BusUserStore {
  return {
    async find(personId, realm) {
      const [row] = await db.query<Row>(FIND, [personId, realm]);
      if (!row) return undefined;
      return { publicKey: row.public_key, seed: row.seed, rights: row.granted, issuedWith: row.issued_with };
    },

    async add(personId, realm, { publicKey, seed }, { rights, grantedBy }) {
      await db.query(ADD, [personId, realm, publicKey, seed, rights, grantedBy]);
    },

    async setGrant({ publicKey, rights: before }, { rights, grantedBy }) {
      return (await db.query(SET_GRANT, [publicKey, before, rights, grantedBy])).length > 0;
    },

    async noteToken(publicKey, tokenId) {
      const { held, noted } = only(await db.query<{ held: boolean; noted: boolean }>(NOTE_TOKEN, [publicKey, tokenId]));
      if (!held) return 'token gone';
      return noted ? 'noted' : 'key changed';
    },

    async remove(publicKey) {
      await db.query(REMOVE, [publicKey]);
    },
  };
}
