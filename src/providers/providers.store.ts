import type { AuditAction } from '../changes/audit-actions.ts';
import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import { type Change, type Once, PLATFORM, type Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, only, type Query, type Statement, sql } from '../db/db.ts';
import type { SealedColumn } from '../vault/rotation.ts';
import type { GroupMapping, Linking, Provider, ProviderFields } from './provider.ts';
import type { ProviderDraft, ProviderStore, StoredProvider } from './providers.ts';

interface ProviderRow {
  id: bigint;
  name: string;
  display_name: string;
  issuer: string;
  client_id: string;
  client_secret: Buffer | null;
  scopes: string[];
  allowed_domains: string[];
  create_accounts: boolean;
  linking: Linking;
  trust_email: boolean;
  trust_second_factor: boolean;
  group_claim: string;
  group_mappings: string;
  enabled: boolean;
  session_hours: number | null;
  session_idle_minutes: number | null;
  recheck_minutes: number | null;
  allow_remember: boolean;
  version: number;
  created_at: Date;
  updated_at: Date;
}

const VALUES = `display_name, issuer, client_id, scopes, allowed_domains, create_accounts, linking, trust_email,
  trust_second_factor, group_claim, group_mappings, enabled, session_hours, session_idle_minutes, recheck_minutes,
  allow_remember`;
const SELECT = `select id, name, client_secret, ${VALUES.replace('group_mappings', 'group_mappings::text as group_mappings')},
  version, created_at, updated_at from provider`;
const LIST = sql('providers.list', `${SELECT} order by id`);
const GET = sql('providers.get', `${SELECT} where name = $1`);
// Two requests must not each disable what the other one relies on. They take turns from the first row on.
const TURN = sql('providers.turn', 'select name, enabled from provider order by id for update');
const LOCK = sql('providers.lock', `${SELECT} where name = $1 for update`);
const TAKEN = countTaken('providers.taken', 'provider where owner_id = $1');
const INSERT = sql(
  'providers.insert',
  `insert into provider (name, client_secret, ${VALUES})
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::text::json, $14,
           $15, $16, $17, $18)`,
);
const UPDATE = sql(
  'providers.update',
  `update provider set client_secret = case when $3 then $2 else client_secret end, (${VALUES})
     = ($4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::text::json, $15, $16, $17, $18, $19), version = version + 1, updated_at = now()
    where name = $1`,
);
const DELETE = sql('providers.delete', 'delete from provider where name = $1');
// No user was asked for a second factor in these sessions, neither here nor, as it turns out, there.
const END_TRUSTED = sql(
  'providers.endTrusted',
  `delete from session s using session_provider p
    where p.session_id = s.id and p.provider = $1 and s.method = 'trusted_provider' returning s.account_id`,
);

// Sessions that are open follow what is stricter from now on. Without a refresh token, they end instead of being checked.
const TIGHTEN = sql(
  'providers.tighten',
  `update session s
      set expires_at = least(s.expires_at, s.created_at + $2::integer * interval '1 hour',
            case when p.refresh_token is null and $4::integer > 0
                 then s.created_at + $4::integer * interval '1 minute' end),
          idle_minutes = case when $3::integer is null then s.idle_minutes else nullif($3::integer, 0) end
     from session_provider p where p.session_id = s.id and p.provider = $1 returning s.account_id`,
);
const CHECK_SOONER = sql(
  'providers.checkSooner',
  `update session_provider set check_at = least(check_at, checked_at + $2::integer * interval '1 minute')
    where provider = $1 and check_at is not null and $2::integer > 0`,
);

/** Where the sealed secrets of clients are stored, for key rotation. The identity is that of `secretIdentity`. */
export const PROVIDER_SECRETS: SealedColumn = {
  table: 'provider',
  column: 'client_secret',
  ownerId: 'owner_id',
  identity: `'provider ' || t.name`,
};

export function createProviderStore(db: Db, write: Write, quotas: Quotas): ProviderStore {
  return {
    list: async () => (await db.query<ProviderRow>(LIST)).map((row) => toStored(row).provider),
    get: (name) => one(db.query, GET, name),
    create,
    update,
    remove,
  };

  async function create(draft: ProviderDraft, actor: Actor, once?: Once<Provider>) {
    const { name, sealedSecret } = draft;
    try {
      return await write(async (query, _touch, record, keep) => {
        await quotas.require(query, { limit: 'providers', ownerId: PLATFORM, count: TAKEN });
        await query(INSERT, [name, sealedSecret, ...valuesOf(draft)]);
        const created = (await one(query, GET, name))?.provider;
        if (!created) return undefined;
        record({ ...about(actor, 'provider.create', created.id), after: toState(created, sealedSecret !== null) });
        keep(created);
        return created;
      }, once);
    } catch (error) {
      if (isUniqueViolation(error, 'provider_name')) return undefined;
      throw error;
    }
  }

  async function update(name: string, decide: Parameters<ProviderStore['update']>[1], actor: Actor) {
    return await write(async (query, touch, record) => {
      const others = await enabledBesides(query, name);
      const current = (await one(query, LOCK, name))?.provider;
      if (!current) return undefined;
      const { sealedSecret, ...next } = decide(current, others);
      await query(UPDATE, [name, sealedSecret ?? null, sealedSecret !== undefined, ...valuesOf(next)]);
      const updated = only([await one(query, GET, name)])?.provider;
      if (!updated) return undefined;
      const isDistrusted = current.trustSecondFactor && !updated.trustSecondFactor;
      const ended = isDistrusted && { endedSessions: await endTrusted(query, touch, name) };
      if (isTermChanged(current, updated)) await tighten(query, touch, updated);
      const before = toState(current, current.hasSecret);
      const secret = sealedSecret === undefined ? {} : { clientSecret: 'changed' };
      const after = { ...toState(updated, updated.hasSecret), ...secret, ...ended };
      record({ ...about(actor, 'provider.update', current.id), before, after });
      return updated;
    });
  }

  async function remove(name: string, decide: Parameters<ProviderStore['remove']>[1], actor: Actor): Promise<boolean> {
    return await write(async (query, _touch, record) => {
      const others = await enabledBesides(query, name);
      const current = (await one(query, LOCK, name))?.provider;
      if (!current) return false;
      decide(current, others);
      await query(DELETE, [name]);
      record({ ...about(actor, 'provider.delete', current.id), before: toState(current, current.hasSecret) });
      return true;
    });
  }
}

function isTermChanged(one: Provider, other: Provider): boolean {
  const fields = ['sessionHours', 'sessionIdleMinutes', 'recheckMinutes'] as const;
  return fields.some((field) => one[field] !== other[field]);
}

async function tighten(query: Query, touch: (change: Change) => void, provider: Provider): Promise<void> {
  const { name, sessionHours, sessionIdleMinutes, recheckMinutes } = provider;
  const terms = [name, sessionHours, sessionIdleMinutes, recheckMinutes];
  await query(CHECK_SOONER, [name, recheckMinutes]);
  const rows = await query<{ account_id: bigint }>(TIGHTEN, terms);
  for (const id of new Set(rows.map((row) => row.account_id))) touch({ kind: 'account', id });
}

async function enabledBesides(query: Query, name: string): Promise<string[]> {
  const rows = await query<Pick<ProviderRow, 'name' | 'enabled'>>(TURN);
  return rows.filter((row) => row.enabled && row.name !== name).map((row) => row.name);
}

async function endTrusted(query: Query, touch: (change: Change) => void, name: string): Promise<number> {
  const rows = await query<{ account_id: bigint }>(END_TRUSTED, [name]);
  for (const id of new Set(rows.map((row) => row.account_id))) touch({ kind: 'account', id });
  return rows.length;
}

async function one(query: Query, statement: Statement, name: string): Promise<StoredProvider | undefined> {
  const [row] = await query<ProviderRow>(statement, [name]);
  return row && toStored(row);
}

function valuesOf(fields: ProviderFields): unknown[] {
  return [
    fields.displayName,
    fields.issuer,
    fields.clientId,
    fields.scopes,
    fields.allowedDomains,
    fields.createAccounts,
    fields.linking,
    fields.trustEmail,
    fields.trustSecondFactor,
    fields.groupClaim,
    JSON.stringify(fields.groupMappings),
    fields.enabled,
    fields.sessionHours,
    fields.sessionIdleMinutes,
    fields.recheckMinutes,
    fields.allowRemember,
  ];
}

function toStored(row: ProviderRow): StoredProvider {
  const provider: Provider = {
    id: row.id,
    name: row.name,
    origin: 'database',
    displayName: row.display_name,
    issuer: row.issuer,
    clientId: row.client_id,
    hasSecret: row.client_secret !== null,
    scopes: row.scopes,
    allowedDomains: row.allowed_domains,
    createAccounts: row.create_accounts,
    linking: row.linking,
    trustEmail: row.trust_email,
    trustSecondFactor: row.trust_second_factor,
    groupClaim: row.group_claim,
    groupMappings: JSON.parse(row.group_mappings) as GroupMapping[],
    enabled: row.enabled,
    sessionHours: row.session_hours,
    sessionIdleMinutes: row.session_idle_minutes,
    recheckMinutes: row.recheck_minutes,
    allowRemember: row.allow_remember,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
  return { provider, sealedSecret: row.client_secret };
}

function about(actor: Actor, action: AuditAction, objectId: bigint): AuditEntry {
  return { actor, organizationId: PLATFORM, action, objectType: 'provider', objectId };
}

/** A provider as the audit log shows it: never its secret. */
function toState(provider: Provider, hasSecret: boolean): object {
  const { id: _, origin: __, version: ___, createdAt: ____, updatedAt: _____, ...shown } = provider;
  return { ...shown, hasSecret };
}
