import type { AuditAction } from '../changes/audit-actions.ts';
import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import { type Room, roomFor } from '../changes/room.store.ts';
import { type Change, type Once, PLATFORM, type Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, only, type Query, type Statement, sql } from '../db/db.ts';
import type { SealedColumn } from '../vault/rotation.ts';
import type { GroupMapping, Linking, Provider, ProviderFields } from './provider.ts';
import type { ProviderDraft, ProviderStore, ProviderUpdate, StoredProvider } from './providers.ts';

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
  version: number;
  created_at: Date;
  updated_at: Date;
}

const VALUES = `display_name, issuer, client_id, scopes, allowed_domains, create_accounts, linking, trust_email,
  trust_second_factor, group_claim, group_mappings, enabled`;
const SELECT = `select id, name, client_secret, ${VALUES.replace('group_mappings', 'group_mappings::text as group_mappings')},
  version, created_at, updated_at from provider`;
const LIST = sql('providers.list', `${SELECT} order by id`);
const GET = sql('providers.get', `${SELECT} where name = $1`);
const LOCK = sql('providers.lock', `${SELECT} where name = $1 for update`);
const ROOM = roomFor('providers.room', 'provider where owner_id = $1');
const INSERT = sql(
  'providers.insert',
  `insert into provider (name, client_secret, ${VALUES})
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::text::json, $14)`,
);
const UPDATE = sql(
  'providers.update',
  `update provider set client_secret = case when $3 then $2 else client_secret end, (${VALUES})
     = ($4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::text::json, $15), version = version + 1, updated_at = now()
    where name = $1`,
);
const DELETE = sql('providers.delete', 'delete from provider where name = $1');
// Nobody has been asked for a second factor in these sessions, neither here nor, as it turns out, there.
const END_TRUSTED = sql(
  'providers.endTrusted',
  `delete from session s using session_provider p
    where p.session_id = s.id and p.provider = $1 and s.method = 'trusted_provider' returning s.account_id`,
);

/** Where the sealed secrets of clients are stored, for key rotation. The identity is that of `secretIdentity`. */
export const PROVIDER_SECRETS: SealedColumn = {
  table: 'provider',
  column: 'client_secret',
  ownerId: 'owner_id',
  identity: `'provider ' || t.name`,
};

export function createProviderStore(db: Db, write: Write, room: Room): ProviderStore {
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
        await room.require(query, { limit: 'providers', ownerId: PLATFORM, count: ROOM });
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

  async function update(name: string, decide: (current: Provider) => ProviderUpdate, actor: Actor) {
    return await write(async (query, touch, record) => {
      const current = (await one(query, LOCK, name))?.provider;
      if (!current) return undefined;
      const { sealedSecret, ...next } = decide(current);
      await query(UPDATE, [name, sealedSecret ?? null, sealedSecret !== undefined, ...valuesOf(next)]);
      const updated = only([await one(query, GET, name)])?.provider;
      if (!updated) return undefined;
      const isDistrusted = current.trustSecondFactor && !updated.trustSecondFactor;
      const ended = isDistrusted && { endedSessions: await endTrusted(query, touch, name) };
      const before = toState(current, current.hasSecret);
      const secret = sealedSecret === undefined ? {} : { clientSecret: 'changed' };
      const after = { ...toState(updated, updated.hasSecret), ...secret, ...ended };
      record({ ...about(actor, 'provider.update', current.id), before, after });
      return updated;
    });
  }

  async function remove(name: string, decide: (current: Provider) => void, actor: Actor): Promise<boolean> {
    return await write(async (query, _touch, record) => {
      const current = (await one(query, LOCK, name))?.provider;
      if (!current) return false;
      decide(current);
      await query(DELETE, [name]);
      record({ ...about(actor, 'provider.delete', current.id), before: toState(current, current.hasSecret) });
      return true;
    });
  }
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
