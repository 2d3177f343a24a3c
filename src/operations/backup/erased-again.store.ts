import { endAssignmentsOfLeavers } from '../../authz/places/end-assignments.store.ts';
import { appendAudit } from '../../changes/audit-chain.store.ts';
import type { AuditEntry } from '../../changes/audit-entry.ts';
import type { Change, Write } from '../../changes/write.ts';
import { only, sql, type TransactionQuery } from '../../db/db.ts';
import { endRequests } from '../../requests/ended-requests.store.ts';
import { createErasureStore } from '../../users/erasure/erasure.store.ts';
import { createUserChanges } from '../../users/user-changes.store.ts';

const ERASED = sql('erasedAgain.erased', 'select account_id from erasure where account_id = any($1::bigint[])');
const IS_THERE = sql('erasedAgain.isThere', `select 1 from account where id = $1 and kind = 'user'`);
const RELEASE = sql('erasedAgain.release', 'delete from legal_hold where account_id = $1');
// An account that is created from now on must not have the number of a person who is erased.
const SKIP_NUMBERS = sql(
  'erasedAgain.skipNumbers',
  `select setval(s.name, greatest($1::bigint, (select max(id) from account))) from (
     select pg_get_serial_sequence('account', 'id')::regclass as name) s
    where coalesce((select max(id) from account), 0) < $1`,
);
const HAS_ADMINISTRATOR = sql(
  'erasedAgain.hasAdministrator',
  `select exists (select 1 from account where is_admin and kind = 'user' and active and not prohibit_login) as any`,
);
const OPERATOR = { id: 0n, name: 'operator', requestId: 'command' };

export interface ErasedAgain {
  readonly people: number;
  /** None is left if everyone who was one at the time of the backup is erased. */
  readonly hasAdministrator: boolean;
}

/**
 * Erases people whom a restored backup still has: a part of the transaction that restores it. A legal hold of that time
 * ended before they were erased. No rule about the organizations that they leave is asked, as they left them before.
 */
export async function eraseAgain(query: TransactionQuery, ids: readonly bigint[]): Promise<ErasedAgain> {
  const write = writeWithin(query);
  const [users, erasures] = [createUserChanges(write), createErasureStore({ query }, write)];
  const done = new Set((await query<{ account_id: bigint }>(ERASED, [ids])).map((row) => row.account_id));
  const how = { orphans: true, erases: true, isRestore: true };
  let people = 0;
  for (const id of ids.filter((one) => !done.has(one))) {
    await query(RELEASE, [id]);
    const isThere = (await query(IS_THERE, [id])).length > 0;
    const outcome = isThere
      ? await users.remove(id, () => undefined, OPERATOR, how)
      : await erasures.eraseDeleted(id, OPERATOR);
    if (outcome === 'done') people++;
  }
  const highest = ids.reduce((most, id) => (id > most ? id : most), 0n);
  await query(SKIP_NUMBERS, [highest]);
  return { people, hasAdministrator: only(await query<{ any: boolean }>(HAS_ADMINISTRATOR)).any };
}

/** No server is running, so there are no caches, and no guards but those that let facts pass. */
export function writeWithin(query: TransactionQuery): Write {
  return async (work) => {
    const touched: Change[] = [];
    const entries: AuditEntry[] = [];
    const touch = (change: Change) => void touched.push(change);
    const record = (entry: AuditEntry) => void entries.push(entry);
    const result = await work(query, touch, record, () => undefined);
    for (const finish of [endAssignmentsOfLeavers, endRequests]) {
      await finish(query, [...touched], touch, record, [...entries]);
    }
    await appendAudit(query, entries);
    return result;
  };
}
