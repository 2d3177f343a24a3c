import { limitReached } from '../base/config/limits.ts';
import { yieldToEventLoop } from '../base/scheduling/slices.ts';
import type { AuditAction } from '../changes/audit-actions.ts';
import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import type { Once, Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, only, type Query, sql, type TransactionQuery } from '../db/db.ts';
import type { SealedColumn } from '../vault/rotation.ts';
import type {
  CredentialCard,
  CredentialDraft,
  CredentialStore,
  CredentialSummary,
  Precondition,
  StoredCredential,
} from './credentials.ts';

interface CredentialRow {
  id: bigint;
  name: string;
  type: string;
  version: number;
  created_at: Date;
  sealed: Buffer;
}

type SummaryRow = Pick<CredentialRow, 'name' | 'type' | 'created_at'> & { updated_at: Date };

const COLUMNS = 'id, name, type, version, created_at, sealed';
// Everything in one read, unless it is long. Then nothing comes, and it is read in parts.
const LIST = sql(
  'credentials.list',
  `select ${COLUMNS} from credential where owner_id = $1
      and (select sum(octet_length(sealed)) from credential where owner_id = $1) <= $2 order by id`,
);
const SUMMARIES = sql(
  'credentials.summaries',
  'select name, type, created_at, updated_at from credential where owner_id = $1 order by id',
);
const SIZES = sql(
  'credentials.sizes',
  'select id, octet_length(sealed) as bytes from credential where owner_id = $1 order by id',
);
const PART = sql(
  'credentials.part',
  `select ${COLUMNS} from credential where owner_id = $1 and id = any($2::bigint[]) order by id`,
);
const GET = sql('credentials.get', `select ${COLUMNS} from credential where owner_id = $1 and name = $2`);
const LOCK = sql('credentials.lock', `select ${COLUMNS} from credential where owner_id = $1 and name = $2 for update`);
const INSERT = sql(
  'credentials.insert',
  `insert into credential (owner_id, name, type, sealed) values ($1, $2, $3, $4) returning ${COLUMNS}`,
);
const UPDATE = sql(
  'credentials.update',
  `update credential set type = $2, sealed = $3, version = version + 1, updated_at = greatest(now(), updated_at)
    where id = $1 returning ${COLUMNS}`,
);
const TAKEN = countTaken('credentials.taken', 'credential where owner_id = $1');
const OTHER_BYTES = sql(
  'credentials.otherBytes',
  `select coalesce(sum(octet_length(sealed)), 0)::float8 as bytes from credential where owner_id = $1 and name <> $2`,
);
const DELETE = sql('credentials.delete', 'delete from credential where id = $1');

/** What one statement returns is read in one go, and other requests wait meanwhile. */
const BYTES_AT_ONCE = 1024 * 1024;

/** Where the sealed specs are stored, for key rotation. The identity is the one that `identityOf` returns. */
export const CREDENTIAL_SPECS: SealedColumn = {
  table: 'credential',
  column: 'sealed',
  ownerId: 'owner_id',
  identity: `'credential ' || t.name`,
};

/** What everyone with access to the audit log may see: never the spec. */
const toState = ({ name, type }: Pick<CredentialCard, 'name' | 'type'>) => ({ name, type });

export function createCredentialStore(db: Db, write: Write, quotas: Quotas): CredentialStore {
  return { list, summaries, get, create, update, remove };

  async function list(ownerId: bigint): Promise<StoredCredential[]> {
    const found = await db.query<CredentialRow>(LIST, [ownerId, BYTES_AT_ONCE]);
    if (found.length > 0) return found.map(toCredential);
    return await db.snapshot(async (query) => {
      const parts: bigint[][] = [];
      let left = 0;
      for (const { id, bytes } of await query<{ id: bigint; bytes: number }>(SIZES, [ownerId])) {
        if (bytes > left) [left] = [BYTES_AT_ONCE, parts.push([])];
        left -= bytes;
        parts.at(-1)?.push(id);
      }
      const rows: CredentialRow[] = [];
      for (const part of parts) {
        rows.push(...(await query<CredentialRow>(PART, [ownerId, part])));
        await yieldToEventLoop();
      }
      return rows.map(toCredential);
    });
  }

  async function summaries(ownerId: bigint): Promise<CredentialSummary[]> {
    const rows = await db.query<SummaryRow>(SUMMARIES, [ownerId]);
    return rows.map(({ name, type, created_at: createdAt, updated_at: updatedAt }) => ({
      ...{ name, type, createdAt, updatedAt },
    }));
  }

  async function get(ownerId: bigint, name: string): Promise<StoredCredential | undefined> {
    return await one(db.query, GET, [ownerId, name]);
  }

  async function create(draft: CredentialDraft, actor: Actor, once?: Once<CredentialCard>) {
    try {
      return await write(async (query, _touch, record, keep) => {
        await quotas.require(query, { limit: 'credentialsPerUser', ownerId: actor.id, count: TAKEN });
        await requireBytes(query, draft, actor);
        const values = [actor.id, draft.name, draft.type, draft.sealed];
        const created = toCredential(only(await query<CredentialRow>(INSERT, values)));
        record({ ...about(actor, 'credential.create', created), after: toState(draft) });
        keep(created);
        return created;
      }, once);
    } catch (error) {
      if (isUniqueViolation(error, 'credential_name')) return undefined;
      throw error;
    }
  }

  async function update(draft: CredentialDraft, precondition: Precondition, actor: Actor) {
    return await write(async (query, _touch, record) => {
      const current = await one(query, LOCK, [actor.id, draft.name]);
      if (!current) return undefined;
      precondition(current);
      if (draft.sealed.length > current.sealed.length) await requireBytes(query, draft, actor);
      const changed = await one(query, UPDATE, [current.id, draft.type, draft.sealed]);
      record({ ...about(actor, 'credential.update', current), before: toState(current), after: toState(draft) });
      return changed;
    });
  }

  async function remove(name: string, precondition: Precondition, actor: Actor) {
    return await write(async (query, _touch, record) => {
      const current = await one(query, LOCK, [actor.id, name]);
      if (!current) return false;
      precondition(current);
      await query(DELETE, [current.id]);
      record({ ...about(actor, 'credential.delete', current), before: toState(current) });
      return true;
    });
  }

  /** All credentials of a user are opened and sent in one response, so their total size counts. */
  async function requireBytes(
    query: TransactionQuery,
    { name, sealed }: CredentialDraft,
    { id }: Actor,
  ): Promise<void> {
    const max = quotas.limits.credentialBytesPerUser;
    quotas.turn(query, 'credentialBytesPerUser', id);
    const { bytes } = only(await query<{ bytes: number }>(OTHER_BYTES, [id, name]));
    if (bytes + sealed.length > max) throw limitReached('credentialBytesPerUser', max, bytes);
  }
}

async function one(query: Query, statement: typeof GET, values: unknown[]): Promise<StoredCredential | undefined> {
  const [row] = await query<CredentialRow>(statement, values);
  return row && toCredential(row);
}

function about(actor: Actor, action: AuditAction, { id }: CredentialCard): AuditEntry {
  return { actor, organizationId: actor.id, action, objectType: 'credential', objectId: id };
}

function toCredential({ created_at, ...row }: CredentialRow): StoredCredential {
  return { ...row, createdAt: created_at };
}
