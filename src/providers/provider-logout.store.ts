import type { Write } from '../changes/write.ts';
import { type Db, sql } from '../db/db.ts';
import { useOnce } from '../identity/single-use.store.ts';
import type { SealedColumn } from '../vault/rotation.ts';
import type { ProviderLogoutStore } from './provider-logout.ts';

const SESSION = sql(
  'providerLogout.session',
  'select account_id, provider, subject, id_token from session_provider where session_id = $1',
);
// With both, the provider means one session. If it did not tell which one ours belongs to, it may be this one. The client
// is known by the name of the provider: another client of the same issuer has sessions of its own.
const END = sql(
  'providerLogout.end',
  `delete from session s using session_provider p
    where p.session_id = s.id and p.provider = $1 and p.issuer = $2
      and ($3::text is null or p.subject = $3)
      and ($4::text is null or p.sid = $4 or (p.sid is null and $3::text is not null)) returning s.account_id`,
);

// A sign-in that waits for its second factor must not open a session later.
const END_PARKED = sql(
  'providerLogout.endParked',
  `delete from parked_sign_in p where p.provider = $1 and p.issuer = $2 and ($3::text is null or p.subject = $3)
      and ($4::text is null or p.sid = $4 or (p.sid is null and $3::text is not null))`,
);
const NOTICED = sql(
  'providerLogout.noticed',
  `insert into provider_state (provider, logout_notice_at) values ($1, $2)
   on conflict (provider) do update set logout_notice_at = excluded.logout_notice_at`,
);

/** Where the sealed ID tokens are stored, for key rotation. */
export const SESSION_ID_TOKENS: SealedColumn = {
  table: 'session_provider',
  column: 'id_token',
  ownerId: 'account_id',
  identity: `'id token ' || t.subject`,
};

interface SessionRow {
  account_id: bigint;
  provider: string;
  subject: string;
  id_token: Buffer | null;
}

export function createProviderLogoutStore(db: Db, write: Write): ProviderLogoutStore {
  return {
    async sessionOf(sessionId) {
      const [row] = await db.query<SessionRow>(SESSION, [sessionId]);
      return (
        row && {
          accountId: row.account_id,
          provider: row.provider,
          subject: row.subject,
          sealedIdToken: row.id_token,
        }
      );
    },

    async end(provider, { issuer, subject = null, sid = null }, { spent, until, now }, actor) {
      return await write(async (query, touch, record) => {
        if (!(await useOnce(query, { hash: spent, expiresAt: until }))) return undefined;
        const meant = [provider.name, issuer, subject, sid];
        const rows = await query<{ account_id: bigint }>(END, meant);
        await query(END_PARKED, meant);
        await query(NOTICED, [provider.name, now]);
        for (const [accountId, ended] of Map.groupBy(rows, (row) => row.account_id)) {
          touch({ kind: 'account', id: accountId });
          const about = { organizationId: accountId, objectType: 'user', objectId: accountId };
          const before = { sessions: ended.length, provider: provider.name };
          record({ actor, ...about, action: 'session.end_by_provider', before });
        }
        return rows.length;
      });
    },
  };
}
