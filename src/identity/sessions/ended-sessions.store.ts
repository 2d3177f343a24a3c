import { type Query, sql } from '../../db/db.ts';

/**
 * What ends all sessions of a user also ends what they have approved and no program has fetched yet: the program gets no
 * token. An approval in a session that ends is deleted with it, by a foreign key. So this matters for approvals in the
 * session that is kept, which may be the one that was stolen.
 */
const END_APPROVALS = sql(
  'endedSessions.approvals',
  `update device_request set state = 'denied' where account_id = $1 and state = 'approved'`,
);
const END_SESSIONS = sql(
  'endedSessions.sessions',
  'delete from session where account_id = $1 and id is distinct from $2 returning expires_at',
);

/** Programs that the user has approved, and that have not fetched their token yet, get none. */
export async function endApprovals(query: Query, accountId: bigint): Promise<void> {
  await query(END_APPROVALS, [accountId]);
}

/** For the transaction of whatever must not leave anything behind. Returns when each session would have expired. */
export async function endSessions(query: Query, accountId: bigint, kept?: bigint): Promise<readonly Date[]> {
  await endApprovals(query, accountId);
  const rows = await query<{ expires_at: Date }>(END_SESSIONS, [accountId, kept ?? null]);
  return rows.map((row) => row.expires_at);
}
