import { type Query, sql } from '../../db/db.ts';
import { ACCOUNT_WINDOW_MS, ADDRESS_WINDOW_MS, requireAllowance, type Sending } from './confirmations.ts';

// Those who want to send to the same address take turns, in one order for everyone.
const TURN = sql(
  'confirmations.turn',
  `select pg_advisory_xact_lock(one.key) from (
     select distinct hashtextextended('confirmation ' || lower(a.address), 0) as key
       from unnest($1::text[]) as a (address) order by 1 offset 0) as one`,
);
const OF_ACCOUNT = sql(
  'confirmations.ofAccount',
  'select sent_at from confirmation_email where account_id = $1 and sent_at > $2 order by sent_at',
);
const TO_ADDRESSES = sql(
  'confirmations.toAddresses',
  `select c.sent_at from confirmation_email c join unnest($1::text[]) as a (address) on c.address_key = lower(a.address)
    where c.sent_at > $2 order by c.sent_at desc limit 1`,
);
const INSERT = sql(
  'confirmations.insert',
  `insert into confirmation_email (account_id, address_key, sent_at)
   select $1, lower(a.address), $3 from unnest($2::text[]) as a (address)`,
);
// Two requests that tidy up at the same moment do not wait for each other.
const FORGET = sql(
  'confirmations.forget',
  `delete from confirmation_email where id in (
     select id from confirmation_email where sent_at <= $1 limit 100 for update skip locked)`,
);

interface SentRow {
  sent_at: Date;
}

/**
 * Counts the emails that the transaction is about to cause; throws if they are too many. The account's list of
 * addresses is locked, so no other request counts for the account meanwhile.
 */
export async function countConfirmations(
  query: Query,
  accountId: bigint,
  addresses: readonly string[],
  { perHour, now }: Sending,
): Promise<void> {
  const [hour, minutes] = [ACCOUNT_WINDOW_MS, ADDRESS_WINDOW_MS].map((window) => new Date(now.getTime() - window));
  await query(TURN, [addresses]);
  const ofAccount = (await query<SentRow>(OF_ACCOUNT, [accountId, hour])).map((row) => row.sent_at);
  const [last] = await query<SentRow>(TO_ADDRESSES, [addresses, minutes]);
  requireAllowance({ ofAccount, toAddresses: last?.sent_at }, addresses.length, perHour, now);
  await query(INSERT, [accountId, addresses, now]);
  await query(FORGET, [hour]);
}
