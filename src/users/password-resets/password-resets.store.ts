import { createHash } from 'node:crypto';
import { PLATFORM, type Write } from '../../changes/write.ts';
import { type Db, only, type Query, sql } from '../../db/db.ts';
import { nameKey } from '../../identity/account-names/account-names.ts';
import { endSessions } from '../../identity/sessions/ended-sessions.store.ts';
import { beginEmailPause } from '../emails/email-pause.store.ts';
import type { OpenCode, PasswordLink, PasswordResetStore, ResetAccount } from './password-resets.ts';

interface AccountRow {
  id: bigint;
  name: string;
  password_hash: string | null;
  is_admin: boolean;
  active: boolean;
  prohibit_login: boolean;
  has_factor: boolean;
  is_provisioned: boolean;
  providers: string[];
  primary_address: string | null;
}

interface CodeRow {
  account_id: bigint;
  email_id: bigint | null;
  state: Buffer;
  is_open: boolean;
}

const ACCOUNT = `a.id, a.name, a.password_hash, a.is_admin, a.active, a.prohibit_login, a.has_factor,
  exists (select 1 from scim_user s where s.account_id = a.id and s.is_owned) as is_provisioned,
  array(select distinct l.provider from linked_account l where l.account_id = a.id order by l.provider) as providers,
  (select p.address from email p where p.account_id = a.id and p.is_primary) as primary_address`;
// Without EMAIL_CONFIRMATION, users can add addresses of other people, and these count as verified.
const BY_ADDRESS = sql(
  'passwordResets.byAddress',
  `select ${ACCOUNT}, e.id as email_id, e.address from email e join account a on a.id = e.account_id and a.kind = 'user'
    where e.address_key = lower($1) and e.verified and (e.is_primary or e.confirmed_at is not null)`,
);
const BY_NAME = sql(
  'passwordResets.byName',
  `select ${ACCOUNT} from account a where a.kind = 'user' and a.name_key = $1`,
);
const BY_ID = sql('passwordResets.byId', `select ${ACCOUNT} from account a where a.kind = 'user' and a.id = $1`);
const LOCK = sql('passwordResets.lock', `select id from account where id = $1 and kind = 'user' for no key update`);
const HAS_ADDRESS = sql('passwordResets.hasAddress', 'select id from email where id = $1 and account_id = $2');
const END_CODES = sql(
  'passwordResets.endCodes',
  'update password_code set ended_at = now() where account_id = $1 and ended_at is null',
);
const INSERT = sql(
  'passwordResets.insert',
  `insert into password_code (hash, account_id, email_id, state, expires_at)
   values ($1, $2, $3, $4, now() + interval '30 minutes') returning expires_at`,
);
const CODE = sql(
  'passwordResets.code',
  `select account_id, email_id, state, ended_at is null and expires_at > now() as is_open
     from password_code where hash = $1`,
);
// Long enough for a user who opens an old email to be told that its link has expired.
const PRUNE = sql(
  'passwordResets.prune',
  `delete from password_code where hash in (
     select hash from password_code where expires_at < now() - interval '30 days' limit 100 for update skip locked)`,
);
const SET_PASSWORD = sql(
  'passwordResets.setPassword',
  'update account set password_hash = $2, version = version + 1, updated_at = now() where id = $1',
);

export function createPasswordResetStore(db: Db, write: Write): PasswordResetStore {
  return {
    async takeTurn(address) {
      if (!(await beginEmailPause(db.query, 'password', address))) return undefined;
      const [row] = await db.query<AccountRow & { email_id: bigint; address: string }>(BY_ADDRESS, [address]);
      return row && { account: toAccount(row), emailId: row.email_id, address: row.address };
    },

    async accountNamed(name) {
      const [row] = await db.query<AccountRow>(BY_NAME, [nameKey(name)]);
      return row && toAccount(row);
    },

    async createCode({ accountId, hash, emailId }, actor, once, show) {
      return await write<Date | undefined, PasswordLink>(async (query, _touch, record, keep) => {
        await query(LOCK, [accountId]);
        const [row] = await query<AccountRow>(BY_ID, [accountId]);
        if (!row || (emailId !== undefined && (await query(HAS_ADDRESS, [emailId, accountId])).length === 0)) return;
        await query(END_CODES, [accountId]);
        await query(PRUNE);
        const values = [hash, accountId, emailId ?? null, stateOf(row)];
        const { expires_at: expiresAt } = only(await query<{ expires_at: Date }>(INSERT, values));
        const action = emailId === undefined ? 'user.password_link' : 'user.password_email';
        record({ actor, ...about(accountId), action, after: { username: row.name, expiresAt } });
        if (show) keep(show(expiresAt));
        return expiresAt;
      }, once);
    },

    find: (hash) => find(db.query, hash),

    async reset(hash, passwordHash, decide, requestId) {
      return await write(async (query, touch, record) => {
        // The account is locked before the code is looked at, so of two requests with one code, one finds it ended.
        const [code] = await query<CodeRow>(CODE, [hash]);
        if (!code) return undefined;
        await query(LOCK, [code.account_id]);
        const found = await find(query, hash);
        if (found === undefined || found === 'ended') return found;
        decide(found);
        const { id, login, hasPassword } = found.account;
        await query(SET_PASSWORD, [id, passwordHash]);
        await query(END_CODES, [id]);
        await endSessions(query, id);
        touch({ kind: 'account', id });
        const states = { before: { username: login, hasPassword }, after: { hasPassword: true } };
        record({ actor: { id, name: login, requestId }, ...about(id), action: 'user.password_reset', ...states });
        return found.account;
      });
    },
  };
}

async function find(query: Query, hash: Buffer): Promise<OpenCode | 'ended' | undefined> {
  const [code] = await query<CodeRow>(CODE, [hash]);
  if (!code) return undefined;
  const { account_id: accountId, email_id: emailId } = code;
  const [row] = await query<AccountRow>(BY_ID, [accountId]);
  if (!row || !code.is_open || !stateOf(row).equals(code.state)) return 'ended';
  if (emailId !== null && (await query(HAS_ADDRESS, [emailId, accountId])).length === 0) return 'ended';
  return { account: toAccount(row), isEmailed: emailId !== null };
}

/** Whatever changes the password or the primary address ends the code, wherever that happens. */
function stateOf({ password_hash, primary_address }: AccountRow): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([password_hash, primary_address]))
    .digest();
}

function toAccount(row: AccountRow): ResetAccount {
  return {
    id: row.id,
    login: row.name,
    isAdmin: row.is_admin,
    canSignIn: row.active && !row.prohibit_login,
    hasPassword: row.password_hash !== null,
    hasSecondFactor: row.has_factor,
    isProvisioned: row.is_provisioned,
    providers: row.providers,
    primaryAddress: row.primary_address ?? undefined,
  };
}

function about(id: bigint) {
  return { organizationId: PLATFORM, objectType: 'user', objectId: id } as const;
}
