import type { Write } from '../changes/write.ts';
import { sql } from '../db/db.ts';
import type { SessionStore } from './sessions.ts';

const INSERT = sql(
  'sessions.insert',
  'insert into session (hash, account_id, csrf, expires_at, token_id) values ($1, $2, $3, $4, $5)',
);
// Waits for a password change that is under way. A password change that comes later waits for this, and then ends this
// session with the others.
const SAME_PASSWORD = sql(
  'sessions.samePassword',
  'select id from account where id = $1 and password_hash = $2 for share',
);
// Waits for a revocation that is under way. One that comes later ends this session with the token.
const SAME_TOKEN = sql('sessions.sameToken', 'select id from token where id = $1 and account_id = $2 for key share');
const DELETE_EXPIRED = sql(
  'sessions.deleteExpired',
  'delete from session where account_id = $1 and expires_at < now()',
);
const DELETE = sql('sessions.delete', 'delete from session where hash = $1 returning account_id');

export function createSessionStore(write: Write): SessionStore {
  return {
    // No request has used the new session yet, so nothing remembered becomes wrong: no revision is taken.
    async create({ hash, accountId, csrf, expiresAt, passwordHash, tokenId }) {
      return await write(async (query) => {
        const isSame = passwordHash === undefined || (await query(SAME_PASSWORD, [accountId, passwordHash])).length > 0;
        const isThere = tokenId === undefined || (await query(SAME_TOKEN, [tokenId, accountId])).length > 0;
        if (!isSame || !isThere) return false;
        await query(DELETE_EXPIRED, [accountId]);
        await query(INSERT, [hash, accountId, csrf, expiresAt, tokenId ?? null]);
        return true;
      });
    },

    async remove(hash) {
      await write(async (query, touch) => {
        const [row] = await query<{ account_id: bigint }>(DELETE, [hash]);
        if (row) touch({ kind: 'account', id: row.account_id });
      });
    },
  };
}
