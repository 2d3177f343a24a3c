import { type Query, sql } from '../db/db.ts';
import type { UsedProof } from './challenges.ts';

const INSERT = sql(
  'usedProofs.insert',
  'insert into used_proof (hash, expires_at) values ($1, $2) on conflict (hash) do nothing returning hash',
);
// Not before the slowest clock of a replica has passed the end as well. Two requests that tidy up at the same moment do
// not wait for each other.
const FORGET = sql(
  'usedProofs.forget',
  `delete from used_proof where hash in (
     select hash from used_proof where expires_at < now() - interval '1 day' limit 100 for update skip locked)`,
);

/** False if it was used before. Of two uses at once, the second waits for the first and then finds it. */
export async function useOnce(query: Query, { hash, expiresAt }: UsedProof): Promise<boolean> {
  await query(FORGET);
  return (await query(INSERT, [hash, expiresAt])).length > 0;
}
