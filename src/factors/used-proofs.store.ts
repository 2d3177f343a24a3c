import { type Query, sql } from '../db/db.ts';
import type { UsedProof } from './challenges.ts';

const INSERT = sql(
  'usedProofs.insert',
  'insert into used_proof (hash, expires_at) values ($1, $2) on conflict (hash) do nothing returning hash',
);
const SWEEP = sql('usedProofs.sweep', 'delete from used_proof where expires_at < $1');

/** False if it was used before. Of two uses at once, the second waits for the first and then finds it. */
export async function useOnce(query: Query, { hash, expiresAt }: UsedProof, now: Date): Promise<boolean> {
  await query(SWEEP, [now]);
  return (await query(INSERT, [hash, expiresAt])).length > 0;
}
