import { endAssignments } from '../authz/places/end-assignments.store.ts';
import type { PageRequest } from '../base/page.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import type { Once, Write } from '../changes/write.ts';
import { type Db, only, type Query, sql, type TransactionQuery } from '../db/db.ts';
import type { Contract, ContractDraft, ContractStore } from './contracts.ts';

interface ContractRow {
  id: bigint;
  uid: string;
  owner_id: bigint;
  name: string;
  product: string;
  features: string[];
  cluster_uids: string[];
  starts_at: Date;
  ends_at: Date | null;
  revoked_at: Date | null;
  quota: Record<string, number>;
  version: number;
  is_sold: boolean;
}

const SELECT = `select c.id, c.uid, c.owner_id, c.name, c.product, c.features, c.cluster_uids, c.starts_at, c.ends_at,
  c.revoked_at, c.quota, c.version, exists (select 1 from installer i where i.contract_id = c.id) as is_sold
  from contract c where c.owner_id = $1`;
const NAMED = '($2::text is null or c.name = $2) and ($3::bigint[] is null or c.id = any($3))';
const LIST = sql('contracts.list', `${SELECT} and ${NAMED} order by c.id limit $4 offset $5`);
const COUNT = sql(
  'contracts.count',
  `select count(*)::integer as total from contract c where c.owner_id = $1 and ${NAMED}`,
);
const GET = sql('contracts.get', `${SELECT} and c.id = $2`);
// Installers are locked before contracts, as a delivery of the marketplace does.
const LOCK_INSTALLERS = sql('contracts.lockInstallers', 'select id from installer where contract_id = $1 for update');
const LOCK = sql('contracts.lock', 'select id from contract where owner_id = $1 and id = $2 for update');
const LOCK_OWNER = sql('contracts.lockOwner', 'select id from account where id = $1 for key share');
const TAKEN = countTaken('contracts.taken', 'contract where owner_id = $1');
const INSERT = sql(
  'contracts.insert',
  `insert into contract (owner_id, uid, name, product, features, cluster_uids, starts_at, ends_at, revoked_at, quota)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning id`,
);
const UPDATE = sql(
  'contracts.update',
  `update contract set name = $2, product = $3, features = $4, cluster_uids = $5, starts_at = $6, ends_at = $7,
          revoked_at = $8, quota = $9, version = version + 1 where id = $1`,
);
/** Without a valid contract, links to the archive and the licence in it are worthless. */
const END_LINKS = sql(
  'contracts.endLinks',
  'update installer set link_generation = link_generation + 1 where contract_id = $1',
);
const DELETE = sql('contracts.delete', 'delete from contract where id = $1');

export function createContractStore(db: Db, write: Write, quotas: Quotas): ContractStore {
  return { list, get: (ownerId, id) => get(db.query, ownerId, id), create, update, remove };

  async function list(
    ownerId: bigint,
    name: string | undefined,
    { limit, offset }: PageRequest,
    among?: readonly bigint[],
  ) {
    const rows = await db.query<ContractRow>(LIST, [ownerId, name, among, limit, offset]);
    const { total } = only(await db.query<{ total: number }>(COUNT, [ownerId, name, among]));
    return { total, items: rows.map(toContract) };
  }

  async function create(ownerId: bigint, uid: string, draft: ContractDraft, actor: Actor, once?: Once<Contract>) {
    return await write(async (query, touch, record, keep) => {
      if ((await query(LOCK_OWNER, [ownerId])).length === 0) return undefined;
      await quotas.require(query, { limit: 'contractsPerOrganization', ownerId, count: TAKEN });
      const { id } = only(await query<{ id: bigint }>(INSERT, [ownerId, uid, ...valuesOf(draft)]));
      touch({ kind: 'contract', id, organizationId: ownerId });
      record({ ...about(actor, ownerId, id), action: 'contract.create', after: { uid, ...toState(draft) } });
      const created = await get(query, ownerId, id);
      if (created) keep(created);
      return created;
    }, once);
  }

  /** No permissions depend on the terms. A revision is taken for those who follow what changes. */
  async function update(ownerId: bigint, id: bigint, decide: (current: Contract) => ContractDraft, actor: Actor) {
    return await write(async (query, touch, record) => {
      const current = await locked(query, ownerId, id);
      if (!current) return undefined;
      const draft = decide(current);
      const isEnded = draft.revokedAt !== null && current.revokedAt === null;
      query.later(UPDATE, [id, ...valuesOf(draft)]);
      touch({ kind: 'contract', id, organizationId: ownerId });
      if (isEnded) await query(END_LINKS, [id]);
      const action = isEnded ? 'contract.revoke' : 'contract.update';
      record({ ...about(actor, ownerId, id), action, before: toState(current), after: toState(draft) });
      return await get(query, ownerId, id);
    });
  }

  async function remove(ownerId: bigint, id: bigint, decide: (current: Contract) => void, actor: Actor) {
    return await write(async (query, touch, record) => {
      const current = await locked(query, ownerId, id);
      if (!current) return false;
      decide(current);
      await endAssignments({ query, touch, record }, 'contract', [id], actor);
      query.later(DELETE, [id]);
      touch({ kind: 'contract', id, organizationId: ownerId });
      const before = { uid: current.uid, ...toState(current) };
      record({ ...about(actor, ownerId, id), action: 'contract.delete', before });
      return true;
    });
  }
}

async function get(query: Query, ownerId: bigint, id: bigint): Promise<Contract | undefined> {
  const [row] = await query<ContractRow>(GET, [ownerId, id]);
  return row && toContract(row);
}

async function locked(query: TransactionQuery, ownerId: bigint, id: bigint): Promise<Contract | undefined> {
  query.later(LOCK_INSTALLERS, [id]);
  query.later(LOCK, [ownerId, id]);
  return await get(query, ownerId, id);
}

function valuesOf(draft: ContractDraft): unknown[] {
  const { name, product, features, clusterUids, startsAt, endsAt, revokedAt, quota } = draft;
  return [name, product, features, clusterUids, startsAt, endsAt, revokedAt, quota];
}

function about(actor: Actor, organizationId: bigint, objectId: bigint) {
  return { actor, organizationId, objectType: 'contract', objectId };
}

function toState(draft: ContractDraft): object {
  const { name, product, features, clusterUids: clusters, startsAt: start, endsAt: end, revokedAt, quota } = draft;
  return { name, product, features, clusters, start, end, revoked: revokedAt !== null, quota };
}

function toContract(row: ContractRow): Contract {
  return {
    id: row.id,
    uid: row.uid,
    ownerId: row.owner_id,
    name: row.name,
    product: row.product,
    features: row.features,
    clusterUids: row.cluster_uids,
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    revokedAt: row.revoked_at,
    quota: row.quota,
    isSold: row.is_sold,
    version: row.version,
  };
}
