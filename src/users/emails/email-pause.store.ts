import { type Query, sql } from '../../db/db.ts';

/** Kinds of email that anyone can have sent to an address. */
export type PausedKind = 'password' | 'sign-up';

// Of two requests at the same moment, the second waits for the first and then finds the pause.
const BEGIN = sql(
  'emailPause.begin',
  `insert into email_pause (kind, address_key, ends_at) values ($1, lower($2), now() + interval '10 minutes')
   on conflict (kind, address_key) do update set ends_at = excluded.ends_at where email_pause.ends_at <= now()
   returning kind`,
);
const PRUNE = sql(
  'emailPause.prune',
  `delete from email_pause where (kind, address_key) in (
     select kind, address_key from email_pause where ends_at <= now() limit 100 for update skip locked)`,
);

/** Takes the turn of an address: one email of a kind in ten minutes, on all replicas. False if it had one already. */
export async function beginEmailPause(query: Query, kind: PausedKind, address: string): Promise<boolean> {
  const isFree = (await query(BEGIN, [kind, address])).length > 0;
  await query(PRUNE);
  return isFree;
}
