import { type Db, type Query, sql } from '../db/db.ts';
import type { SpentStore } from './provider-sign-in.ts';

const SPEND = sql(
  'spentSecrets.spend',
  'insert into spent_secret (hash, expires_at) values ($1, $2) on conflict do nothing returning hash',
);
// Two requests that tidy up at the same moment do not wait for each other.
const FORGET = sql(
  'spentSecrets.forget',
  `delete from spent_secret where hash in (
     select hash from spent_secret where expires_at < now() - interval '1 day' limit 100 for update skip locked)`,
);

/** What can be used once, on whichever replica. */
export function createSpentStore(db: Db): SpentStore {
  return {
    async spend(hash, expiresAt) {
      const isNew = await spendSecret(db.query, hash, expiresAt);
      await db.query(FORGET);
      return isNew;
    },
  };
}

/** As a part of a transaction. */
export async function spendSecret(query: Query, hash: Buffer, expiresAt: Date): Promise<boolean> {
  return (await query(SPEND, [hash, expiresAt])).length > 0;
}
