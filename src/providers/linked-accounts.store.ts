import type { Write } from '../changes/write.ts';
import { type Db, only, type Query, sql } from '../db/db.ts';
import type { LinkedAccount, LinkedAccountStore } from './linked-accounts.ts';

interface LinkedRow {
  id: bigint;
  provider: string;
  issuer: string;
  subject: string;
  email: string;
  created_at: Date;
  last_used_at: Date;
}

const LIST = sql(
  'linkedAccounts.list',
  `select id, provider, issuer, subject, email, created_at, last_used_at from linked_account
    where account_id = $1 order by id`,
);
// Two requests must not each leave the other one's link as the last way to sign in.
const LOCK = sql('linkedAccounts.lock', 'select id from account where id = $1 for no key update');
const HAS_PASSWORD = sql(
  'linkedAccounts.hasPassword',
  'select password_hash is not null as yes from account where id = $1',
);
const HAS_PASSKEY = sql('linkedAccounts.hasPasskey', 'select id from passkey where account_id = $1 limit 1');
const RELINK = sql('linkedAccounts.relink', 'update account set relink_until = $2 where id = $1');
const DELETE = sql('linkedAccounts.delete', 'delete from linked_account where account_id = $1 and id = $2');
const END_SESSIONS = sql(
  'linkedAccounts.endSessions',
  `delete from session where id in (
     select session_id from session_provider where account_id = $1 and issuer = $2 and subject = $3) returning id`,
);

const END_PARKED = sql(
  'linkedAccounts.endParked',
  'delete from parked_sign_in where account_id = $1 and issuer = $2 and subject = $3',
);

export function createLinkedAccountStore(db: Db, write: Write): LinkedAccountStore {
  return {
    list: (accountId) => list(db.query, accountId),

    async remove(accountId, id, { passwordsCount, relinkUntil }, actor) {
      return await write(async (query, touch, record) => {
        await query(LOCK, [accountId]);
        const present = await list(query, accountId);
        const link = present.find((one) => one.id === id);
        if (!link) return 'not found';
        const hasPassword = passwordsCount && only(await query<{ yes: boolean }>(HAS_PASSWORD, [accountId])).yes;
        const isLast = present.length === 1 && !hasPassword;
        if (isLast && relinkUntil === undefined) return 'last way';
        const isLocked = isLast && (await query(HAS_PASSKEY, [accountId])).length === 0;
        if (isLocked) await query(RELINK, [accountId, relinkUntil]);
        await query(DELETE, [accountId, id]);
        await query(END_PARKED, [accountId, link.issuer, link.subject]);
        const { provider, issuer, subject, email } = link;
        const ended = await query(END_SESSIONS, [accountId, issuer, subject]);
        if (ended.length > 0) touch({ kind: 'account', id: accountId });
        const about = { organizationId: accountId, objectType: 'linked_account', objectId: id };
        const before = { provider, issuer, subject, email };
        const after = { endedSessions: ended.length, ...(isLocked && { relinkUntil }) };
        record({ actor, ...about, action: 'linked_account.delete', before, after });
        return 'done';
      });
    },

    async allowRelink(accountId, until, actor) {
      await write(async (query, _touch, record) => {
        await query(RELINK, [accountId, until]);
        const about = { organizationId: accountId, objectType: 'user', objectId: accountId };
        record({ actor, ...about, action: 'linked_account.allow', after: { relinkUntil: until } });
      });
    },
  };
}

async function list(query: Query, accountId: bigint): Promise<LinkedAccount[]> {
  const rows = await query<LinkedRow>(LIST, [accountId]);
  return rows.map(({ created_at: createdAt, last_used_at: lastUsedAt, ...same }) => ({
    ...same,
    createdAt,
    lastUsedAt,
  }));
}
