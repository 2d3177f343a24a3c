import type { AuditAction } from '../changes/audit-actions.ts';
import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import type { Once, Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, only, type Query, sql } from '../db/db.ts';
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
const LIST = sql('credentials.list', `select ${COLUMNS} from credential where owner_id = $1 order by id`);
const SUMMARIES = sql(
  'credentials.summaries',
  'select name, type, created_at, updated_at from credential where owner_id = $1 order by id',
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
const DELETE = sql('credentials.delete', 'delete from credential where id = $1');

/** Where the sealed specs are stored, for key rotation. The identity is the one that `identityOf` returns. */
export const CREDENTIAL_SPECS: SealedColumn = {
  table: 'credential',
  column: 'sealed',
  ownerId: 'owner_id',
  identity: `'credential ' || t.name`,
};

/** What everyone with access to the audit log may see: never the spec. */
const toState = ({ name, type }: Pick<CredentialCard, 'name' | 'type'>) => ({ name, type });

export function createCredentialStore(db: Db, write: Write): CredentialStore {
  return { list, summaries, get, create, update, remove };

  async function list(ownerId: bigint): Promise<StoredCredential[]> {
    return (await db.query<CredentialRow>(LIST, [ownerId])).map(toCredential);
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
