import { type Query, sql } from '../db/db.ts';

/** Something that is accepted once: a challenge, a state of a sign-in, a logout token. It is stored when it is used. */
interface SingleUse {
  readonly hash: Buffer;
  /** From then on, it is not accepted anyway. */
  readonly expiresAt: Date;
}

const INSERT = sql(
  'singleUse.insert',
  'insert into single_use (hash, expires_at) values ($1, $2) on conflict (hash) do nothing returning hash',
);
// Not before the slowest clock of a replica has passed the end as well. Two requests that tidy up at the same moment do
// not wait for each other.
const PRUNE = sql(
  'singleUse.prune',
  `delete from single_use where hash in (
     select hash from single_use where expires_at < now() - interval '1 day' limit 100 for update skip locked)`,
);

/** False if it was used before, on any replica. Of two concurrent uses, the second waits for the first and finds it. */
export async function useOnce(query: Query, { hash, expiresAt }: SingleUse): Promise<boolean> {
  await query(PRUNE);
  return (await query(INSERT, [hash, expiresAt])).length > 0;
}
