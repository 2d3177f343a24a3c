import type { Actor, AuditEntry } from '../../changes/audit-entry.ts';
import type { Change } from '../../changes/write.ts';
import { only, type Query, sql } from '../../db/db.ts';
import { BUILT_IN_TEAMS } from '../../organizations/built-in-teams.ts';
import { insertOrganization } from '../../organizations/organizations.store.ts';
import { NO_FIELDS } from '../../organizations/organizations.ts';
import { selectInstaller } from '../installers/installers.rows.ts';
import { canonicalJson } from '../notifications/canonical-json.ts';
import type {
  Announcement,
  BindingDraft,
  DeliveryTransaction,
  Installer,
  Subscription,
  SubscriptionDraft,
} from './delivery-transaction.ts';
import type { SubscriptionState } from './lifecycle.ts';

const SUBSCRIPTION = sql(
  'transaction.subscription',
  'select id, state, event_time, event_rank from subscription where marketplace = $1 and key = $2 for update',
);
const ADD_SUBSCRIPTION = sql(
  'transaction.addSubscription',
  `insert into subscription (marketplace, key, application_id, managed_resource_group_id, resource_id_parts, state,
                             event_time, event_rank, plan, resource_usage_id)
   values ($1, $2, $3, $4, $5::json, $6, $7, $8, $9::json, $10) returning id`,
);
const MOVE_SUBSCRIPTION = sql(
  'transaction.moveSubscription',
  `update subscription set state = $2, event_time = $3, event_rank = $4, plan = coalesce($5::json, plan),
          resource_usage_id = coalesce($6, resource_usage_id), updated_at = now() where id = $1`,
);
const NAME_TAKEN = sql(
  'transaction.nameTaken',
  `select exists (select 1 from account where name_key = lower($1))
       or exists (select 1 from reserved_name where name_key = lower($1) and expires_at > now()) as taken`,
);
const ADD_ADMIN = sql(
  'transaction.addAdmin',
  `insert into account (kind, name, full_name, password_hash) values ('user', $1, 'Administrator', $2) returning id`,
);
const ADD_CONTRACT = sql(
  'transaction.addContract',
  'insert into contract (owner_id, uid, name, product) values ($1, $2, $3, $4) returning id',
);
const BIND = sql(
  'transaction.bind',
  `with chosen as (update installer_options set delivery_id = null where delivery_id = $13)
   update installer set bound_at = $2, subscription_id = $3, organization_id = $4, contract_id = $5, cluster_id = $6,
          cloud_account = $7, admin_login = $8, domains = $9::text[], base_url = $10, version = $11, claim_id = $12
    where id = $1 and bound_at is null`,
);
const REVOKE = sql(
  'transaction.revoke',
  `with mine as (update installer set link_generation = link_generation + 1 where subscription_id = $1
                 returning contract_id)
   update contract c set revoked_at = $2, version = version + 1 from mine where c.id = mine.contract_id and c.revoked_at is null
   returning c.id, c.uid, c.owner_id`,
);
const LAPSE = sql(
  'transaction.lapse',
  'update installer set contract_lapsed = true where contract_id = any($1::bigint[])',
);
const REINSTATE = sql(
  'transaction.reinstate',
  `with mine as (update installer set contract_lapsed = false where contract_id = $1)
   update contract set revoked_at = null, version = version + 1 where id = $1`,
);

export interface Transaction {
  readonly query: Query;
  readonly touch: (change: Change) => void;
  readonly record: (entry: AuditEntry) => void;
}

interface IdRow {
  id: bigint;
}

/** What one delivery can do inside its transaction. Its announcements are written when the delivery is settled. */
export function createDeliveryTransaction(
  { query, touch, record }: Transaction,
  deliveryId: bigint,
  actor: Actor,
  now: Date,
) {
  const announcements: Announcement[] = [];
  const transaction: DeliveryTransaction = {
    now,
    subscription,
    addSubscription,
    moveSubscription,
    installer: (id) => selectInstaller(query, id, true),
    isNameTaken: async (name) => (await query<{ taken: boolean }>(NAME_TAKEN, [name]))[0]?.taken ?? false,
    bind,
    revokeContracts,
    reinstateContract,
    announce: (announcement) => announcements.push(announcement),
  };
  return { transaction, announcements };

  async function subscription(marketplace: string, key: string): Promise<Subscription | undefined> {
    const [row] = await query<{ id: bigint; state: SubscriptionState; event_time: string; event_rank: number }>(
      SUBSCRIPTION,
      [marketplace, key],
    );
    return row && { id: row.id, state: row.state, eventTime: row.event_time, eventRank: row.event_rank };
  }

  async function addSubscription(draft: SubscriptionDraft): Promise<Subscription> {
    const { application, state, eventTime, eventRank } = draft;
    const values = [draft.marketplace, application.key, application.text, application.managedResourceGroupId];
    const parts = canonicalJson(application.resourceIdParts);
    const rest = [parts, state, eventTime, eventRank, draft.plan && canonicalJson(draft.plan), draft.resourceUsageId];
    const { id } = only(await query<IdRow>(ADD_SUBSCRIPTION, [...values, ...rest]));
    record({
      actor,
      organizationId: chainOf(id),
      action: 'subscription.create',
      objectType: 'subscription',
      objectId: id,
      after: { state, application: application.text },
      startsChain: true,
    });
    return { id, state, eventTime, eventRank };
  }

  async function moveSubscription(current: Subscription, next: SubscriptionDraft): Promise<void> {
    const plan = next.plan && canonicalJson(next.plan);
    await query(MOVE_SUBSCRIPTION, [
      current.id,
      next.state,
      next.eventTime,
      next.eventRank,
      plan,
      next.resourceUsageId,
    ]);
    if (current.state === next.state) return;
    record({
      actor,
      organizationId: chainOf(current.id),
      action: 'subscription.update',
      objectType: 'subscription',
      objectId: current.id,
      before: { state: current.state },
      after: { state: next.state },
    });
  }

  async function bind(installer: Installer, draft: BindingDraft): Promise<Installer> {
    const { id: founderId } = only(await query<IdRow>(ADD_ADMIN, [draft.adminLogin, draft.adminPasswordHash]));
    const { id: organizationId } = await insertOrganization(query, touch, {
      ...NO_FIELDS,
      name: draft.organizationName,
      description: `Standalone organization from ${installer.marketplace}`,
      founderId,
      teams: BUILT_IN_TEAMS,
    });
    const contract = [organizationId, draft.contractUid, draft.contractName, draft.product];
    const { id: contractId } = only(await query<IdRow>(ADD_CONTRACT, contract));
    touch({ kind: 'contract', id: contractId, organizationId });
    await query(BIND, [
      installer.id,
      now,
      draft.subscriptionId,
      organizationId,
      contractId,
      draft.clusterId,
      draft.cloudAccount,
      draft.adminLogin,
      draft.domains,
      draft.baseUrl,
      draft.version,
      draft.claimId,
      deliveryId,
    ]);
    const { contractUid, clusterId, cloudAccount, subscriptionId, adminLogin } = draft;
    const after = {
      contractUid,
      clusterId,
      cloudAccount,
      subscriptionId,
      adminLogin,
      marketplace: installer.marketplace,
    };
    const about = { organizationId, objectType: 'organization', objectId: organizationId };
    record({ ...about, actor, action: 'installer.bind', after, startsChain: true });
    const { adminPasswordHash, organizationName, contractName, product, ...binding } = draft;
    const ids = {
      boundAt: now,
      organizationId,
      organizationName,
      contractId,
      contractRevoked: false,
      contractLapsed: false,
    };
    return { ...installer, binding: { ...binding, ...ids } };
  }

  async function revokeContracts(subscriptionId: bigint): Promise<number> {
    const rows = await query<{ id: bigint; uid: string; owner_id: bigint }>(REVOKE, [subscriptionId, now]);
    for (const { id, uid, owner_id: organizationId } of rows) {
      touch({ kind: 'contract', id, organizationId });
      const about = { organizationId, objectType: 'contract', objectId: id };
      const states = { before: { revoked: false }, after: { revoked: true, uid } };
      record({ ...about, actor, action: 'contract.revoke', ...states });
    }
    if (rows.length > 0) await query(LAPSE, [rows.map(({ id }) => id)]);
    return rows.length;
  }

  async function reinstateContract({ binding }: Installer): Promise<void> {
    if (!binding) return;
    const { contractId: id, contractUid: uid, organizationId } = binding;
    await query(REINSTATE, [id]);
    touch({ kind: 'contract', id, organizationId });
    const about = { organizationId, objectType: 'contract', objectId: id };
    const states = { before: { revoked: true }, after: { revoked: false, uid } };
    record({ ...about, actor, action: 'contract.reinstate', ...states });
  }
}

/** A subscription belongs to no organization, so it has its own audit chain, under its negated ID. */
function chainOf(subscriptionId: bigint): bigint {
  return -subscriptionId;
}
