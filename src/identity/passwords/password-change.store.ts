import { PLATFORM, type Write } from '../../changes/write.ts';
import { sql } from '../../db/db.ts';
import { endSessions } from '../sessions/ended-sessions.store.ts';
import type { PasswordChangeStore } from './password-change.ts';

// A sign-in with the old password that is under way holds a lock on the account, and ends below with the others.
const UPDATE = sql(
  'passwordChange.update',
  `update account set password_hash = $2, version = version + 1, updated_at = now()
    where id = $1 and kind = 'user' and password_hash is not distinct from $3 returning name`,
);
const IS_LINKED = sql('passwordChange.isLinked', 'select id from linked_account where account_id = $1 limit 1');

export function createPasswordChangeStore(write: Write): PasswordChangeStore {
  return {
    async change({ accountId, passwordHash, expected, keptSession, isProven }, actor) {
      return await write(async (query, touch, record) => {
        if (!isProven && expected === null && (await query(IS_LINKED, [accountId])).length > 0) return 'unproven';
        const [row] = await query<{ name: string }>(UPDATE, [accountId, passwordHash, expected]);
        if (!row) return 'changed meanwhile';
        await endSessions(query, accountId, keptSession);
        touch({ kind: 'account', id: accountId });
        const about = { organizationId: PLATFORM, objectType: 'user', objectId: accountId };
        const before = { username: row.name, hasPassword: expected !== null };
        record({ actor, ...about, action: 'user.password', before, after: { hasPassword: true } });
        return 'done';
      });
    },
  };
}
