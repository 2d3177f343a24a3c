import type { Write } from '../../changes/write.ts';
import { type Db, sql } from '../../db/db.ts';
import type { SealedColumn } from '../../vault/rotation.ts';
import type { SessionCheckStore } from './session-checks.ts';

const CLAIM = sql(
  'sessionChecks.claim',
  `update session_provider set checking_until = $3
    where session_id = $1 and check_at <= $2 and (checking_until is null or checking_until <= $2)
   returning account_id, provider, subject, refresh_token, check_until`,
);
const EXISTS = sql('sessionChecks.exists', 'select id from session_provider where session_id = $1');
const CONFIRM = sql(
  'sessionChecks.confirm',
  `update session_provider set checked_at = $2, check_at = $3, check_until = $4,
                               refresh_token = coalesce($5, refresh_token), checking_until = null
    where session_id = $1`,
);
const POSTPONE = sql(
  'sessionChecks.postpone',
  'update session_provider set check_at = $2, checking_until = null where session_id = $1',
);
const END = sql('sessionChecks.end', 'delete from session where id = $1 returning id');

/** Where the sealed refresh tokens are stored, for key rotation. */
export const SESSION_REFRESH_TOKENS: SealedColumn = {
  table: 'session_provider',
  column: 'refresh_token',
  ownerId: 'account_id',
  identity: `'refresh token ' || t.subject`,
};

/** Where the tokens wait of those who still have to show a second factor. */
export const PARKED_ID_TOKENS: SealedColumn = {
  table: 'parked_sign_in',
  column: 'id_token',
  ownerId: 'account_id',
  identity: `'id token ' || t.subject`,
};
export const PARKED_REFRESH_TOKENS: SealedColumn = {
  ...SESSION_REFRESH_TOKENS,
  table: 'parked_sign_in',
};

interface DueRow {
  account_id: bigint;
  provider: string;
  subject: string;
  refresh_token: Buffer | null;
  check_until: Date;
}

export function createSessionCheckStore(db: Db, write: Write): SessionCheckStore {
  return {
    // Nothing that is remembered changes by it, so no revision is taken.
    async claim(sessionId, now, until) {
      const [row] = await db.query<DueRow>(CLAIM, [sessionId, now, until]);
      if (!row) return undefined;
      const { account_id: accountId, provider, subject, refresh_token, check_until } = row;
      const sealedRefreshToken = refresh_token;
      return { sessionId, accountId, provider, subject, sealedRefreshToken, checkUntil: check_until };
    },

    exists: async (sessionId) => (await db.query(EXISTS, [sessionId])).length > 0,

    async confirm({ sessionId, accountId }, { checkedAt, checkAt, checkUntil, sealedRefreshToken = null }) {
      await write(async (query, touch) => {
        await query(CONFIRM, [sessionId, checkedAt, checkAt, checkUntil, sealedRefreshToken]);
        touch({ kind: 'account', id: accountId });
      });
    },

    async postpone({ sessionId, accountId }, until) {
      await write(async (query, touch) => {
        await query(POSTPONE, [sessionId, until]);
        touch({ kind: 'account', id: accountId });
      });
    },

    async end({ sessionId, accountId, provider }, why, actor) {
      await write(async (query, touch, record) => {
        if ((await query(END, [sessionId])).length === 0) return;
        touch({ kind: 'account', id: accountId });
        const about = { organizationId: accountId, objectType: 'user', objectId: accountId };
        const before = { sessions: 1, provider };
        record({ actor, ...about, action: 'session.end_by_provider', before, after: { why } });
      });
    },
  };
}
