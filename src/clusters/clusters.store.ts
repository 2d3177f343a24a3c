import { endAssignments } from '../authz/places/end-assignments.store.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import type { Once, Write } from '../changes/write.ts';
import { type Db, isUniqueViolation, only, type Query, sql } from '../db/db.ts';
import {
  busWord,
  CLUSTER_COLUMNS,
  CLUSTER_TABLES,
  type ClusterRow,
  columnOf,
  storedValue,
  toCluster,
} from './cluster.rows.ts';
import { FIELDS } from './cluster-fields.ts';
import type { ClusterDraft, ClusterStore, EditableCluster, Rejection } from './clusters.ts';
import { ACCESS_COLUMNS, type AccessRow, accessState, accessValues, toAccess } from './kubernetes-access.rows.ts';

const COLUMNS = ['name', ...FIELDS.map(columnOf), ...ACCESS_COLUMNS];

const GET = sql(
  'clusters.get',
  `select c.version, ${ACCESS_COLUMNS.map((column) => `c.${column}`).join(', ')}, c.reported_endpoint,
          c.reported_ca_bundle, ${CLUSTER_COLUMNS} ${CLUSTER_TABLES} where c.owner_id = $1 and c.id = $2`,
);
const LOCK = sql('clusters.lock', 'select id from cluster where owner_id = $1 and id = $2 for update');
const IS_ORGANIZATION = sql('clusters.isOrganization', `select 1 from account where id = $1 and kind = 'organization'`);
// Waits for an organization that is being deleted.
const LOCK_OWNER = sql('clusters.lockOwner', 'select id from account where id = $1 for key share');
// Of all owners: a UID is unique for each owner only.
const WITH_UID = sql('clusters.withUid', 'select owner_id from cluster where uid = any($1::text[])');
const TAKEN = countTaken('clusters.taken', 'cluster where owner_id = $1');
const INSERT = sql(
  'clusters.insert',
  `insert into cluster (owner_id, uid, phase, ${COLUMNS.join(', ')})
   values ($1, $2, 'Registered', ${COLUMNS.map((_, place) => `$${place + 3}`).join(', ')}) returning id`,
);
const UPDATE = sql(
  'clusters.update',
  `update cluster set ${COLUMNS.map((column, place) => `${column} = $${place + 2}`).join(', ')}, version = version + 1
    where id = $1`,
);
const DELETE = sql('clusters.delete', 'delete from cluster where id = $1');

const MAX_TRIES = 5;

export function createClusterStore(db: Db, write: Write, quotas: Quotas): ClusterStore {
  return {
    get: (ownerId, id) => get(db.query, ownerId, id),
    isOrganization,
    create,
    update,
    remove,
  };

  async function isOrganization(ownerId: bigint): Promise<boolean> {
    return (await db.query(IS_ORGANIZATION, [ownerId])).length > 0;
  }

  /** Tries again if another owner imports the same UID at the same moment: then the other one is first. */
  async function create(ownerId: bigint, uid: string, draft: ClusterDraft, actor: Actor, once?: Once<EditableCluster>) {
    for (let tries = 1; ; tries++) {
      try {
        return await unlessTaken(() => insert(ownerId, uid, draft, actor, once));
      } catch (error) {
        if (!isUniqueViolation(error, 'cluster_uid') || tries === MAX_TRIES) throw error;
      }
    }
  }

  async function insert(ownerId: bigint, uid: string, draft: ClusterDraft, actor: Actor, once?: Once<EditableCluster>) {
    return await write(async (query, touch, record, keep) => {
      if ((await query(LOCK_OWNER, [ownerId])).length === 0) return undefined;
      const ownWord = busWord(uid, ownerId);
      const owners = await query<{ owner_id: bigint }>(WITH_UID, [[uid, ownWord]]);
      if (owners.some((row) => row.owner_id === ownerId)) return { rejected: 'uid taken' } as const;
      await quotas.require(query, { limit: 'clustersPerOwner', ownerId, count: TAKEN });
      const word = owners.length === 0 ? uid : ownWord;
      const { id } = only(await query<{ id: bigint }>(INSERT, [ownerId, word, ...valuesOf(draft)]));
      touch({ kind: 'cluster', id, organizationId: ownerId });
      record({ ...about(actor, ownerId, id), action: 'cluster.create', after: { uid, ...toState(draft) } });
      const created = await get(query, ownerId, id);
      if (created) keep(created);
      return created;
    }, once);
  }

  /** The set decides who reaches the cluster. Otherwise a revision is taken for those who follow what changes. */
  async function update(ownerId: bigint, id: bigint, decide: (current: EditableCluster) => ClusterDraft, actor: Actor) {
    return await unlessTaken(() =>
      write(async (query, touch, record) => {
        // A new set refers to the owner, which an import of roles locks before clusters.
        query.later(LOCK_OWNER, [ownerId]);
        query.later(LOCK, [ownerId, id]);
        const current = await get(query, ownerId, id);
        if (!current) return undefined;
        const draft = decide(current);
        query.later(UPDATE, [id, ...valuesOf(draft)]);
        touch({ kind: 'cluster', id, organizationId: ownerId });
        const states = { before: toState(current), after: toState(draft) };
        record({ ...about(actor, ownerId, id), action: 'cluster.update', ...states });
        return await get(query, ownerId, id);
      }),
    );
  }

  async function remove(ownerId: bigint, id: bigint, decide: (current: EditableCluster) => void, actor: Actor) {
    return await write(async (query, touch, record) => {
      query.later(LOCK, [ownerId, id]);
      const current = await get(query, ownerId, id);
      if (!current) return false;
      decide(current);
      await endAssignments({ query, touch, record }, 'cluster', [id], actor);
      query.later(DELETE, [id]);
      touch({ kind: 'cluster', id, organizationId: ownerId });
      const before = { uid: current.uid, ...toState(current) };
      record({ ...about(actor, ownerId, id), action: 'cluster.delete', before });
      return true;
    });
  }
}

async function get(query: Query, ownerId: bigint, id: bigint): Promise<EditableCluster | undefined> {
  const [row] = await query<ClusterRow & AccessRow & { version: number }>(GET, [ownerId, id]);
  return row && { ...toCluster(row), ...toAccess(row), version: row.version };
}

async function unlessTaken<T>(work: () => Promise<T>): Promise<T | Rejection> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, 'cluster_name')) return { rejected: 'name taken' };
    if (isUniqueViolation(error, 'cluster_owner_uid')) return { rejected: 'uid taken' };
    throw error;
  }
}

function about(actor: Actor, organizationId: bigint, objectId: bigint) {
  return { actor, organizationId, objectType: 'cluster', objectId };
}

function valuesOf(draft: ClusterDraft): unknown[] {
  return [draft.name, ...FIELDS.map((field) => storedValue(field, draft[field.name])), ...accessValues(draft)];
}

/** A cluster as the audit log shows it: the fields that are set, under the names of the API. */
function toState(draft: ClusterDraft): object {
  const set = FIELDS.flatMap((field) => {
    const value = storedValue(field, draft[field.name]);
    return value === '' || value === null ? [] : [[field.wireName, value]];
  });
  return { name: draft.name, ...Object.fromEntries(set), ...accessState(draft) };
}
