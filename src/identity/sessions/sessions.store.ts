import type { Actor } from '../../changes/audit-entry.ts';
import type { Quotas } from '../../changes/quotas.store.ts';
import type { Write } from '../../changes/write.ts';
import { deleteInBatches } from '../../db/batched-delete.ts';
import { type Db, only, type Query, sql } from '../../db/db.ts';
import { endSessions } from './ended-sessions.store.ts';
import { isSecondFactor } from './proof-kinds.ts';
import { IDLE_SLACK_MS, type LivenessStore } from './session-liveness.ts';
import type { SessionCard, SessionDraft, SessionStore } from './sessions.ts';

const INSERT = sql(
  'sessions.insert',
  `insert into session (hash, account_id, csrf, created_at, last_seen_at, expires_at, token_id, user_agent, ip,
                        method, proven_at, idle_minutes)
   values ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10, $11) returning id`,
);
const INSERT_PROVIDER = sql(
  'sessions.insertProvider',
  `insert into session_provider (session_id, account_id, provider, issuer, subject, sid, id_token, refresh_token,
                                 checked_at, check_at, check_until)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);
const PARK = sql(
  'sessions.park',
  `insert into parked_sign_in (hash, account_id, provider, issuer, subject, sid, id_token, refresh_token, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);
const DELETE_PARKED = sql(
  'sessions.deleteParked',
  `delete from parked_sign_in where id in (
     select id from parked_sign_in where expires_at < now() - interval '1 hour' limit 100 for update skip locked)`,
);
const UNPARK = sql(
  'sessions.unpark',
  'delete from parked_sign_in where hash = $1 and account_id = $2 returning id_token, refresh_token',
);
// Waits for a password change that is under way. A password change that comes later waits for this, and then ends this
// session with all other sessions of the user.
const SAME_PASSWORD = sql(
  'sessions.samePassword',
  'select id from account where id = $1 and password_hash = $2 for share',
);
// Waits for a revocation that is under way. One that comes later ends this session with the token.
const SAME_TOKEN = sql('sessions.sameToken', 'select id from token where id = $1 and account_id = $2 for key share');
// The same for an account at a provider that is unlinked.
const SAME_LINK = sql(
  'sessions.sameLink',
  'select id from linked_account where account_id = $1 and issuer = $2 and subject = $3 for key share',
);
// Waits for a second factor that is being added. One that is added later ends this session with the others.
const LOCK = sql('sessions.lock', 'select id from account where id = $1 for share');
const FACTORS = sql(
  'sessions.factors',
  '(select id from passkey where account_id = $1 limit 1) union all (select id from totp where account_id = $1)',
);
// A link that rested on an address alone rests on a second factor from now on.
const PROVE_LINK = sql(
  'sessions.proveLink',
  'update linked_account set by_address = false where account_id = $1 and issuer = $2 and subject = $3 and by_address',
);
/** Whether a session was used so lately that it goes on, at the moment of a parameter. */
const isInUse = (now: string) =>
  `(idle_minutes is null or coalesce(last_seen_at, created_at)
     > ${now} - idle_minutes * interval '1 minute' - interval '${IDLE_SLACK_MS} milliseconds')`;
const DELETE_EXPIRED = sql(
  'sessions.deleteExpired',
  `delete from session where account_id = $1 and (expires_at < now() or not ${isInUse('now()')})`,
);
// Of users who do not come back. An hour later, when the slowest clock of a replica agrees that they have expired.
const SWEEP = sql(
  'sessions.sweep',
  `delete from session where hash = any (array (
     select hash from session where expires_at < now() - interval '1 hour' order by expires_at limit $1
        for update skip locked))
   returning id`,
);
// Rejecting a sign-in because of old sessions would lock the user out, so the oldest sessions end instead.
const DELETE_OLDEST = sql(
  'sessions.deleteOldest',
  `delete from session where hash in (select hash from session where account_id = $1 and hash <> $2
                                       order by created_at desc, hash offset $3 - 1) returning account_id`,
);
const DELETE = sql('sessions.delete', 'delete from session where hash = $1 returning account_id');
// A second factor at a provider goes on to count.
const PROVE = sql(
  'sessions.prove',
  `update session set method = case method when 'trusted_provider' then method else $3 end, proven_at = $4
    where account_id = $1 and id = $2`,
);
const COUNT = sql(
  'sessions.count',
  `select count(*)::integer as total from session where account_id = $1 and expires_at > $2
      and ${isInUse('$2::timestamptz')}`,
);
const LIST = sql(
  'sessions.list',
  `select id, created_at, coalesce(last_seen_at, created_at) as last_seen_at, expires_at, user_agent, ip from session
    where account_id = $1 and expires_at > $2 and ${isInUse('$2::timestamptz')} order by coalesce(last_seen_at, created_at) desc, id desc
   offset $3 limit $4`,
);
const LAST_SEEN = sql(
  'sessions.lastSeen',
  'select coalesce(last_seen_at, created_at) as last_seen_at from session where id = $1',
);
const END = sql(
  'sessions.end',
  `delete from session where account_id = $1 and id = $2 and expires_at > $3 returning created_at, user_agent`,
);

interface ParkedRow {
  id_token: Buffer | null;
  refresh_token: Buffer | null;
}

interface SessionRow {
  id: bigint;
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
  user_agent: string;
  ip: string;
}

export function createSessionStore(db: Db, write: Write, quotas: Quotas): SessionStore & LivenessStore {
  return {
    async lastSeen(sessionId) {
      const [row] = await db.query<Pick<SessionRow, 'last_seen_at'>>(LAST_SEEN, [sessionId]);
      return row?.last_seen_at;
    },

    // No request has used the new session yet, so nothing remembered becomes wrong: no revision is taken unless others
    // end.
    async create(draft, parked) {
      const { accountId, passwordHash, tokenId, createdAt, expiresAt, provider } = draft;
      return await write(async (query, touch) => {
        const isSame = passwordHash === undefined || (await query(SAME_PASSWORD, [accountId, passwordHash])).length > 0;
        const isThere = tokenId === undefined || (await query(SAME_TOKEN, [tokenId, accountId])).length > 0;
        const link = provider && [accountId, provider.issuer, provider.subject];
        const isLinked = link === undefined || (await query(SAME_LINK, link)).length > 0;
        if (!isSame || !isThere || !isLinked || (await needsMore(query, draft))) return false;
        const [waiting] = parked ? await query<ParkedRow>(UNPARK, [parked, accountId]) : [];
        if (parked && !waiting) return false;
        quotas.turn(query, 'sessionsPerUser', accountId);
        await query(DELETE_EXPIRED, [accountId]);
        const secrets = [draft.hash, accountId, draft.csrf];
        const place = [draft.userAgent, draft.ip];
        const proof = [draft.method, draft.provenAt ?? null];
        const values = [...secrets, createdAt, expiresAt, tokenId ?? null, ...place, ...proof, draft.idleMinutes];
        const { id } = only(await query<{ id: bigint }>(INSERT, values));
        if (provider) {
          const { provider: name, issuer, subject, sid = null } = provider;
          if (isSecondFactor(draft.method)) await query(PROVE_LINK, [accountId, issuer, subject]);
          const idToken = provider.sealedIdToken ?? waiting?.id_token ?? null;
          const refreshToken = provider.sealedRefreshToken ?? waiting?.refresh_token ?? null;
          const { checkedAt = createdAt, checkAt = null, checkUntil = null } = draft.check ?? {};
          const who = [id, accountId, name, issuer, subject, sid];
          await query(INSERT_PROVIDER, [...who, idToken, refreshToken, checkedAt, checkAt, checkUntil]);
        }
        const ended = await query(DELETE_OLDEST, [accountId, draft.hash, quotas.limits.sessionsPerUser]);
        if (ended.length > 0) touch({ kind: 'account', id: accountId });
        return true;
      });
    },

    async sweep() {
      return await deleteInBatches(db.query, SWEEP, []);
    },

    async park({ hash, accountId, provider, expiresAt }) {
      const { provider: name, issuer, subject, sid = null, sealedIdToken = null, sealedRefreshToken = null } = provider;
      const who = [hash, accountId, name, issuer, subject, sid];
      await db.query(PARK, [...who, sealedIdToken, sealedRefreshToken, expiresAt]);
      await db.query(DELETE_PARKED);
    },

    async remove(hash) {
      await write(async (query, touch) => {
        const [row] = await query<{ account_id: bigint }>(DELETE, [hash]);
        if (row) touch({ kind: 'account', id: row.account_id });
      });
    },

    async prove(accountId, id, method, now) {
      await write(async (query, touch) => {
        await query(PROVE, [accountId, id, method, now]);
        touch({ kind: 'account', id: accountId });
      });
    },

    async list(accountId, now, { offset, limit }) {
      const { total } = only(await db.query<{ total: number }>(COUNT, [accountId, now]));
      const rows = await db.query<SessionRow>(LIST, [accountId, now, offset, limit]);
      return { items: rows.map(toCard), total };
    },

    async end(accountId, id, now, actor) {
      return await write(async (query, touch, record) => {
        const [row] = await query<Pick<SessionRow, 'created_at' | 'user_agent'>>(END, [accountId, id, now]);
        if (!row) return false;
        touch({ kind: 'account', id: accountId });
        const before = { createdAt: row.created_at, userAgent: row.user_agent };
        record({ ...about(actor, accountId), action: 'session.end', objectType: 'session', objectId: id, before });
        return true;
      });
    },

    async endOthers(accountId, kept, now, actor) {
      await write(async (query, touch, record) => {
        const ended = await endSessions(query, accountId, kept);
        const sessions = ended.filter((expiresAt) => expiresAt > now).length;
        if (sessions === 0) return;
        touch({ kind: 'account', id: accountId });
        const user = { objectType: 'user', objectId: accountId };
        record({ ...about(actor, accountId), action: 'session.end_all', ...user, before: { sessions } });
      });
    },
  };
}

/** Whether the user has got a second factor since the first one was checked. */
async function needsMore(query: Query, { accountId, method }: Pick<SessionDraft, 'accountId' | 'method'>) {
  if (method !== 'password' && method !== 'provider') return false;
  await query(LOCK, [accountId]);
  return (await query(FACTORS, [accountId])).length > 0;
}

/** Like tokens, sessions are in the audit log of their user. */
function about(actor: Actor, accountId: bigint) {
  return { actor, organizationId: accountId };
}

function toCard(row: SessionRow): SessionCard {
  const { id, ip } = row;
  const moments = { createdAt: row.created_at, lastSeenAt: row.last_seen_at, expiresAt: row.expires_at };
  return { id, ip, userAgent: row.user_agent, ...moments };
}
