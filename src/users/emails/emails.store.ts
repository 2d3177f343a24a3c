import { countTaken, type Quotas } from '../../changes/quotas.store.ts';
import type { Write } from '../../changes/write.ts';
import { type Db, isUniqueViolation, sql } from '../../db/db.ts';
import { countConfirmations } from './confirmations.store.ts';
import type { Email, EmailStore } from './emails.ts';

interface EmailRow {
  id: bigint;
  address: string;
  verified: boolean;
  is_primary: boolean;
}

const LIST = sql(
  'emails.list',
  'select id, address, verified, is_primary from email where account_id = $1 order by id',
);
const LOCK = sql('emails.lock', 'select id from account where id = $1 for no key update');
const USED = sql(
  'emails.used',
  `select a.address from unnest($1::text[]) with ordinality as a (address, place)
     join email e on e.address_key = lower(a.address) order by a.place limit 1`,
);
const INSERT = sql(
  'emails.insert',
  `insert into email (account_id, address, verified, is_primary)
   select $1, a.address, $3, false from unnest($2::text[]) with ordinality as a (address, place) order by a.place
   returning id, address, verified, is_primary`,
);
const TAKEN = countTaken('emails.taken', 'email where account_id = $1');
const DELETE = sql('emails.delete', 'delete from email where account_id = $1 and id = any($2::bigint[])');
const VERIFY = sql(
  'emails.verify',
  'update email set verified = true, confirmed_at = coalesce(confirmed_at, now()) where id = $1 and address = $2 returning account_id',
);

export function createEmailStore(db: Db, write: Write, quotas: Quotas): EmailStore {
  return {
    async list(accountId) {
      return (await db.query<EmailRow>(LIST, [accountId])).map(toEmail);
    },

    async add(accountId, addresses, verified, sending, once) {
      try {
        return await write(async (query, touch, _record, keep) => {
          await quotas.require(query, {
            limit: 'emailsPerUser',
            ownerId: accountId,
            count: TAKEN,
            adding: addresses.length,
          });
          const [used] = await query<{ address: string }>(USED, [addresses]);
          if (used) return { used: used.address };
          if (sending) await countConfirmations(query, accountId, addresses, sending);
          const rows = await query<EmailRow>(INSERT, [accountId, addresses, verified]);
          touch({ kind: 'account', id: accountId });
          const present = (await query<EmailRow>(LIST, [accountId])).map(toEmail);
          keep(present);
          return { added: rows.map(toEmail), present };
        }, once);
      } catch (error) {
        // Another user took one of them at the same moment.
        if (isUniqueViolation(error, 'email_address')) return { used: addresses.join(', ') };
        throw error;
      }
    },

    async remove(accountId, decide) {
      await write(async (query, touch) => {
        query.later(LOCK, [accountId]);
        const present = await query<EmailRow>(LIST, [accountId]);
        await query(DELETE, [accountId, decide(present.map(toEmail))]);
        touch({ kind: 'account', id: accountId });
      });
    },

    async verify(id, address) {
      return await write(async (query, touch) => {
        const [row] = await query<{ account_id: bigint }>(VERIFY, [id, address]);
        if (row) touch({ kind: 'account', id: row.account_id });
        return row !== undefined;
      });
    },
  };
}

function toEmail({ id, address, verified, is_primary }: EmailRow): Email {
  return { id, address, verified, primary: is_primary };
}
