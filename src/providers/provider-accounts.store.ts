import type { Actor } from '../changes/audit-entry.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import type { Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, only, type Query, sql } from '../db/db.ts';
import { nameConflictIn } from '../identity/account-names/account-names.store.ts';
import { insertUser, type Transaction } from '../users/users.store.ts';
import type { AddressOwner, LinkDraft, LinkedOwner, LocalAccount, ProviderAccountStore } from './provider-accounts.ts';

interface AccountRow {
  id: bigint;
  login: string;
  is_admin: boolean;
  active: boolean;
  prohibit_login: boolean;
}

interface OwnerRow extends AccountRow {
  verified: boolean;
  is_primary: boolean;
  is_relinked: boolean;
}

const ACCOUNT = 'a.id, a.name as login, a.is_admin, a.active, a.prohibit_login';
const LINKED = sql(
  'providerAccounts.linked',
  `select ${ACCOUNT}, l.by_address from linked_account l join account a on a.id = l.account_id where l.issuer = $1 and l.subject = $2`,
);
const USED = sql(
  'providerAccounts.used',
  'update linked_account set last_used_at = $3 where issuer = $1 and subject = $2 and last_used_at < $3',
);
const ADDRESS_OWNER = sql(
  'providerAccounts.addressOwner',
  `select ${ACCOUNT}, e.verified, e.is_primary, coalesce(a.relink_until > now(), false) as is_relinked from email e join account a on a.id = e.account_id where e.address_key = lower($1)`,
);
// Two first sign-ins of one person take turns, so that the second finds what the first has created.
const TURN = sql(
  'providerAccounts.turn',
  `select pg_advisory_xact_lock(hashtextextended('linked account ' || $1 || ' ' || $2, 0))`,
);
const TAKEN = countTaken('providerAccounts.taken', 'linked_account where account_id = $1');
const INSERT = sql(
  'providerAccounts.insert',
  `insert into linked_account (account_id, provider, issuer, subject, email, by_address)
   values ($1, $2, $3, $4, $5, $6) returning id`,
);
// Whatever an administrator has allowed is used up by it.
const RELINKED = sql(
  'providerAccounts.relinked',
  'update account set relink_until = null where id = $1 and relink_until is not null',
);
const FREE_NAME = sql(
  'providerAccounts.freeName',
  `select n.name from unnest($1::text[]) with ordinality as n (name, place)
    where not exists (select 1 from account a where a.name_key = lower(n.name))
      and not exists (select 1 from reserved_name r where r.name_key = lower(n.name)) order by n.place limit 1`,
);

export function createProviderAccountStore(db: Db, write: Write, quotas: Quotas): ProviderAccountStore {
  return {
    linked: (issuer, subject) => linkedIn(db.query, issuer, subject),

    async used(issuer, subject, at) {
      await db.query(USED, [issuer, subject, at]);
    },

    async addressOwner(address): Promise<AddressOwner | undefined> {
      const [row] = await db.query<OwnerRow>(ADDRESS_OWNER, [address]);
      if (!row) return undefined;
      const { verified: isVerified, is_primary: isPrimary, is_relinked: isRelinked } = row;
      return { ...toAccount(row), isVerified, isPrimary, isRelinked };
    },

    async link(draft, accountId, actor) {
      return await write(async (query, touch, record) => {
        await query(TURN, [draft.issuer, draft.subject]);
        const present = await linkedIn(query, draft.issuer, draft.subject);
        if (present) return present.id;
        await insertLink({ query, touch, record }, quotas, draft, accountId, actor);
        return accountId;
      });
    },

    async create(draft, link, actor) {
      try {
        return await write(async (query, touch, record) => {
          await query(TURN, [link.issuer, link.subject]);
          const present = await linkedIn(query, link.issuer, link.subject);
          if (present) return present.id;
          const [free] = await query<{ name: string }>(FREE_NAME, [draft.names]);
          if (!free) return 'names taken';
          const { email, fullName } = draft;
          const flags = { passwordHash: null, isAdmin: false, active: true, prohibitLogin: false };
          const user = { name: free.name, email, fullName, ...flags };
          const accountId = await insertUser({ query, touch, record }, user, actor);
          await insertLink({ query, touch, record }, quotas, link, accountId, actor);
          return accountId;
        });
      } catch (error) {
        if (nameConflictIn(error) !== undefined) return 'names taken';
        if (isUniqueViolation(error, 'email_address')) return 'email taken';
        throw error;
      }
    },
  };
}

/** As a part of a transaction that has taken its turn. */
async function insertLink(
  { query, record }: Transaction,
  quotas: Quotas,
  { provider, issuer, subject, email, isByAddress = false }: LinkDraft,
  accountId: bigint,
  actor: Actor,
): Promise<void> {
  await query(RELINKED, [accountId]);
  await quotas.require(query, { limit: 'linkedAccountsPerUser', ownerId: accountId, count: TAKEN });
  const { id } = only(await query<{ id: bigint }>(INSERT, [accountId, provider, issuer, subject, email, isByAddress]));
  const about = { organizationId: accountId, objectType: 'linked_account', objectId: id };
  record({ actor, ...about, action: 'linked_account.create', after: { provider, issuer, subject, email } });
}

async function linkedIn(query: Query, issuer: string, subject: string): Promise<LinkedOwner | undefined> {
  const [row] = await query<AccountRow & { by_address: boolean }>(LINKED, [issuer, subject]);
  return row && { ...toAccount(row), isByAddress: row.by_address };
}

function toAccount({ id, login, is_admin, active, prohibit_login }: AccountRow): LocalAccount {
  return { id, login, isAdmin: is_admin, active, prohibitLogin: prohibit_login };
}
