import { type Db, only, sql } from '../db/db.ts';
import type { AccountsStore } from './bus-accounts.ts';

interface Row {
  changed_at: bigint;
  realm: string | null;
  public_key: string;
}

// One statement, so one snapshot: the time and what was revoked by then belong together.
const STATE = sql(
  'busAccounts.state',
  `select s.changed_at, r.realm, r.public_key
     from bus_state s left join bus_revocation r on true where s.id = 1 order by r.revoked_at, r.public_key`,
);
const CHANGED_AT = sql('busAccounts.changedAt', 'select changed_at from bus_state where id = 1');

export function createAccountsStore(db: Db): AccountsStore {
  return {
    async state() {
      const rows = await db.query<Row>(STATE);
      return {
        changedAt: Number(rows[0]?.changed_at ?? 0n),
        revoked: rows.flatMap(({ realm, public_key }) => (realm === null ? [] : [{ realm, publicKey: public_key }])),
      };
    },

    async changedAt() {
      return Number(only(await db.query<{ changed_at: bigint }>(CHANGED_AT)).changed_at);
    },
  };
}
