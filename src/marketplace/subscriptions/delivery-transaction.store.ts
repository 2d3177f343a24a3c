import { inBatches } from '../../base/scheduling/batches.ts';
import type { Actor, AuditEntry } from '../../changes/audit-entry.ts';
import type { Change } from '../../changes/write.ts';
import { known, sql, type TransactionQuery } from '../../db/db.ts';
import { BUILT_IN_TEAMS } from '../../organizations/built-in-teams.ts';
import { insertOrganizations } from '../../organizations/organizations.store.ts';
import { NO_FIELDS } from '../../organizations/organizations.ts';
import { lockInstallers } from '../installers/installers.rows.ts';
import { canonicalJson } from '../notifications/canonical-json.ts';
import type { Notification } from '../notifications/notification.ts';
import type {
  Announcement,
  BindingDraft,
  DeliveryTransaction,
  Installer,
  Subscription,
  SubscriptionDraft,
} from './delivery-transaction.ts';
import type { SubscriptionState } from './lifecycle.ts';

// With a limit, PostgreSQL looks each key up, even if it planned this while the table was empty. No two transactions
// wait for each other here: a transaction that reads a subscription holds the lock of its subject.
const SUBSCRIPTIONS = sql(
  'transaction.subscriptions',
  `select w.marketplace, w.key, found.*, case when found.id is null
            then nextval((select pg_get_serial_sequence('subscription', 'id')::regclass)) end as new_id
     from unnest($1::text[], $2::text[]) as w (marketplace, key)
     left join lateral (select s.id, s.state, s.event_time, s.event_rank from subscription s
       where s.marketplace = w.marketplace and s.key = w.key limit 1 for update) as found on true`,
);
const ADD_SUBSCRIPTIONS = sql(
  'transaction.addSubscriptions',
  `insert into subscription (id, marketplace, key, application_id, managed_resource_group_id, resource_id_parts, state,
                             event_time, event_rank, plan, resource_usage_id)
   overriding system value
   select d.id, d.marketplace, d.key, d.application_id, d.resource_group, d.parts::json, d.state, d.event_time,
          d.event_rank, d.plan::json, d.usage_id
     from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                 $9::integer[], $10::text[], $11::text[])
       as d (id, marketplace, key, application_id, resource_group, parts, state, event_time, event_rank, plan, usage_id)`,
);
const MOVE_SUBSCRIPTIONS = sql(
  'transaction.moveSubscriptions',
  `update subscription s set state = d.state, event_time = d.event_time, event_rank = d.event_rank,
          plan = coalesce(d.plan::json, s.plan), resource_usage_id = coalesce(d.usage_id, s.resource_usage_id),
          updated_at = now()
     from unnest($1::bigint[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::text[])
       as d (id, state, event_time, event_rank, plan, usage_id) where s.id = d.id and s.id = any($1::bigint[])`,
);
const NAMES_TAKEN = sql(
  'transaction.namesTaken',
  `select wished, coalesce((select true from account where name_key = lower(wished) limit 1),
            (select true from reserved_name where name_key = lower(wished) and expires_at > now() limit 1), false) as taken
     from unnest($1::text[]) as wished`,
);
const ADD_ADMINS = sql(
  'transaction.addAdmins',
  `insert into account (kind, name, full_name, password_hash)
   select 'user', d.name, 'Administrator', d.password_hash from unnest($1::text[], $2::text[]) as d (name, password_hash)
   returning id, name`,
);
const ADD_CONTRACTS = sql(
  'transaction.addContracts',
  `insert into contract (owner_id, uid, name, product)
   select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) returning id, uid`,
);
const BIND = sql(
  'transaction.bindAll',
  `with chosen as (update installer_options set delivery_id = null where delivery_id = any($13::bigint[]))
   update installer i set bound_at = d.bound_at, subscription_id = d.subscription_id, organization_id = d.organization_id,
          contract_id = d.contract_id, cluster_id = d.cluster_id, cloud_account = d.cloud_account,
          admin_login = d.admin_login, domains = array(select json_array_elements_text(d.domains::json)),
          base_url = d.base_url, version = d.version, claim_id = d.claim_id
     from unnest($1::text[], $2::timestamptz[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[],
                 $8::text[], $9::text[], $10::text[], $11::text[], $12::text[])
       as d (id, bound_at, subscription_id, organization_id, contract_id, cluster_id, cloud_account, admin_login, domains,
             base_url, version, claim_id)
    where i.id = d.id and i.id = any($1::text[]) and i.bound_at is null`,
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
  readonly query: TransactionQuery;
  readonly touch: (change: Change) => void;
  readonly record: (entry: AuditEntry) => void;
}

/** A delivery that is bound to an installer, and by whom. */
interface BindOrder {
  readonly deliveryId: bigint;
  readonly actor: Actor;
  readonly now: Date;
  readonly installer: Installer;
  readonly draft: BindingDraft;
}

type Bound = BindOrder & { readonly organizationId: bigint; readonly contractId: bigint };

interface IdRow {
  id: bigint;
}

interface SubscriptionRow {
  marketplace: string;
  key: string;
  id: bigint | null;
  state: SubscriptionState;
  event_time: string;
  event_rank: number;
  /** For a subscription that does not exist yet. */
  new_id: bigint | null;
}

/**
 * What each of several deliveries can do inside the transaction that they share. They run side by side, and what they
 * ask for in the same turn becomes one statement.
 */
export function createDeliveryTransactions({ query, touch, record }: Transaction) {
  const findSubscription = inBatches(findSubscriptions);
  const addSubscription = inBatches(addSubscriptions);
  const moveSubscription = inBatches(moveSubscriptions);
  const lockInstaller = inBatches((ids: readonly string[]) => lockInstallers(query, ids));
  const isNameTaken = inBatches(areNamesTaken);
  const bind = inBatches(bindAll);
  const owners = new Map<string, bigint>();
  /** The IDs of subscriptions that were looked up and do not exist yet. */
  const newIds = new Map<string, bigint>();
  const expectedSubscriptions = new Map<string, Promise<Subscription | undefined>>();
  const expectedInstallers = new Map<string, Promise<Installer | undefined>>();
  return { open, expect };

  /** Queries everything that these will need now, so that it travels with what else is asked in this turn. */
  function expect(notifications: readonly Notification[]): void {
    const wanted = notifications.flatMap(({ marketplace, application }) =>
      application ? [{ marketplace, key: application.key }] : [],
    );
    const ids = new Set(notifications.flatMap(({ binding }) => (binding ? [binding.installerId] : [])));
    if (wanted.length > 0) keep(expectedSubscriptions, wanted.map(subjectOf), findSubscriptions(wanted));
    if (ids.size > 0) keep(expectedInstallers, [...ids], lockInstallers(query, [...ids]));
  }

  function open(deliveryId: bigint, actor: Actor, now: Date) {
    const announcements: Announcement[] = [];
    let hasWritten = false;
    let hasBound = false;
    const transaction: DeliveryTransaction = {
      now,
      subscription: (marketplace, key) =>
        expectedSubscriptions.get(subjectOf({ marketplace, key })) ?? findSubscription({ marketplace, key }),
      async addSubscription(draft) {
        hasWritten = true;
        const added = await addSubscription(draft);
        recordSubscription(actor, added.id, undefined, draft);
        return added;
      },
      async moveSubscription(current, next) {
        hasWritten = true;
        await moveSubscription({ current, next });
        if (current.state !== next.state) recordSubscription(actor, current.id, current, next);
      },
      installer,
      isNameTaken,
      async bind(installer, draft) {
        hasWritten = true;
        hasBound = true;
        return await bind({ deliveryId, actor, now, installer, draft });
      },
      async revokeContracts(subscriptionId) {
        hasWritten = true;
        return await revokeContracts(subscriptionId, actor, now);
      },
      async reinstateContract(installer) {
        hasWritten = true;
        await reinstateContract(installer, actor);
      },
      announce: (announcement) => announcements.push(announcement),
    };
    return { transaction, announcements, hasWritten: () => hasWritten, hasBound: () => hasBound };

    /** A lock does not hold back other deliveries in the same transaction, so these are distinguished here. */
    async function installer(id: string): Promise<Installer | undefined> {
      const owner = owners.get(id) ?? deliveryId;
      if (owner !== deliveryId) throw new Error('two deliveries of one transaction are about the same installer');
      owners.set(id, deliveryId);
      return await (expectedInstallers.get(id) ?? lockInstaller(id));
    }
  }

  async function findSubscriptions(wanted: readonly { marketplace: string; key: string }[]) {
    const rows = await query<SubscriptionRow>(SUBSCRIPTIONS, [
      wanted.map(({ marketplace }) => marketplace),
      wanted.map(({ key }) => key),
    ]);
    const found = new Map(rows.map((row) => [subjectOf(row), row]));
    return wanted.map((one) => {
      const { id, new_id: newId, ...row } = known(found.get(subjectOf(one)));
      if (newId !== null) newIds.set(subjectOf(one), newId);
      return id === null ? undefined : { id, state: row.state, eventTime: row.event_time, eventRank: row.event_rank };
    });
  }

  async function addSubscriptions(drafts: readonly SubscriptionDraft[]): Promise<Subscription[]> {
    const applications = drafts.map(({ application }) => application);
    const added = drafts.map(({ marketplace, application: { key }, state, eventTime, eventRank }) => {
      return { id: known(newIds.get(subjectOf({ marketplace, key }))), state, eventTime, eventRank };
    });
    query.later(ADD_SUBSCRIPTIONS, [
      added.map(({ id }) => id),
      drafts.map(({ marketplace }) => marketplace),
      applications.map(({ key }) => key),
      applications.map(({ text }) => text),
      applications.map(({ managedResourceGroupId }) => managedResourceGroupId),
      applications.map(({ resourceIdParts }) => canonicalJson(resourceIdParts)),
      drafts.map(({ state }) => state),
      drafts.map(({ eventTime }) => eventTime),
      drafts.map(({ eventRank }) => eventRank),
      drafts.map(({ plan }) => plan && canonicalJson(plan)),
      drafts.map(({ resourceUsageId }) => resourceUsageId),
    ]);
    return added;
  }

  async function moveSubscriptions(moves: readonly { current: Subscription; next: SubscriptionDraft }[]) {
    query.later(MOVE_SUBSCRIPTIONS, [
      moves.map(({ current }) => current.id),
      moves.map(({ next }) => next.state),
      moves.map(({ next }) => next.eventTime),
      moves.map(({ next }) => next.eventRank),
      moves.map(({ next }) => next.plan && canonicalJson(next.plan)),
      moves.map(({ next }) => next.resourceUsageId),
    ]);
    return moves;
  }

  function recordSubscription(
    actor: Actor,
    id: bigint,
    before: Subscription | undefined,
    { state, application }: SubscriptionDraft,
  ): void {
    // A subscription belongs to no organization, so it has its own audit chain, under its negated ID.
    const about = { actor, organizationId: -id, objectType: 'subscription', objectId: id };
    if (before) record({ ...about, action: 'subscription.update', before: { state: before.state }, after: { state } });
    else {
      const after = { state, application: application.text };
      record({ ...about, action: 'subscription.create', after, startsChain: true });
    }
  }

  async function areNamesTaken(names: readonly string[]): Promise<boolean[]> {
    const rows = await query<{ wished: string; taken: boolean }>(NAMES_TAKEN, [names]);
    const taken = new Map(rows.map((row) => [row.wished, row.taken]));
    return names.map((name) => known(taken.get(name)));
  }

  async function bindAll(orders: readonly BindOrder[]): Promise<Installer[]> {
    const drafts = orders.map(({ draft }) => draft);
    const admins = await query<IdRow & { name: string }>(ADD_ADMINS, [
      drafts.map(({ adminLogin }) => adminLogin),
      drafts.map(({ adminPasswordHash }) => adminPasswordHash),
    ]);
    const founders = new Map(admins.map(({ id, name }) => [name, id]));
    const organizations = await insertOrganizations(
      query,
      touch,
      orders.map(({ installer, draft }) => ({
        ...NO_FIELDS,
        name: draft.organizationName,
        description: `Standalone organization from ${installer.marketplace}`,
        founderId: known(founders.get(draft.adminLogin)),
        teams: BUILT_IN_TEAMS,
      })),
    );
    const contracts = await query<IdRow & { uid: string }>(ADD_CONTRACTS, [
      organizations.map(({ id }) => id),
      drafts.map(({ contractUid }) => contractUid),
      drafts.map(({ contractName }) => contractName),
      drafts.map(({ product }) => product),
    ]);
    const contractIds = new Map(contracts.map(({ id, uid }) => [uid, id]));
    const bound = orders.map((order, place) => {
      const contractId = known(contractIds.get(order.draft.contractUid));
      return { ...order, organizationId: known(organizations[place]?.id), contractId };
    });
    query.later(BIND, [
      bound.map(({ installer }) => installer.id),
      bound.map(({ now }) => now),
      drafts.map(({ subscriptionId }) => subscriptionId),
      bound.map(({ organizationId }) => organizationId),
      bound.map(({ contractId }) => contractId),
      drafts.map(({ clusterId }) => clusterId),
      drafts.map(({ cloudAccount }) => cloudAccount),
      drafts.map(({ adminLogin }) => adminLogin),
      drafts.map(({ domains }) => JSON.stringify(domains)),
      drafts.map(({ baseUrl }) => baseUrl),
      drafts.map(({ version }) => version),
      drafts.map(({ claimId }) => claimId),
      bound.map(({ deliveryId }) => deliveryId),
    ]);
    return bound.map(recordBinding);
  }

  function recordBinding({ actor, now, installer, draft, organizationId, contractId }: Bound): Installer {
    touch({ kind: 'contract', id: contractId, organizationId, isNew: true });
    const { adminPasswordHash, organizationName, contractName, product, ...binding } = draft;
    const { contractUid, clusterId, cloudAccount, subscriptionId, adminLogin } = draft;
    const { marketplace } = installer;
    const after = { contractUid, clusterId, cloudAccount, subscriptionId, adminLogin, marketplace };
    const about = { organizationId, objectType: 'organization', objectId: organizationId };
    record({ ...about, actor, action: 'installer.bind', after, startsChain: true });
    const ids = { boundAt: now, organizationId, organizationName, contractId };
    return { ...installer, binding: { ...binding, ...ids, contractRevoked: false, contractLapsed: false } };
  }

  async function revokeContracts(subscriptionId: bigint, actor: Actor, now: Date): Promise<number> {
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

  async function reinstateContract({ binding }: Installer, actor: Actor): Promise<void> {
    if (!binding) return;
    const { contractId: id, contractUid: uid, organizationId } = binding;
    await query(REINSTATE, [id]);
    touch({ kind: 'contract', id, organizationId });
    const about = { organizationId, objectType: 'contract', objectId: id };
    const states = { before: { revoked: true }, after: { revoked: false, uid } };
    record({ ...about, actor, action: 'contract.reinstate', ...states });
  }
}

/** The audit log names the marketplace. */
export function actorOf({ marketplace }: { marketplace: string }, { requestId }: { requestId: string }): Actor {
  return { id: 0n, name: marketplace, requestId };
}

/** Each result under its key. If the query fails, so do the deliveries that wait for its result, and no other ones. */
function keep<Value>(
  kept: Map<string, Promise<Value>>,
  keys: readonly string[],
  question: Promise<readonly Value[]>,
): void {
  for (const [place, key] of keys.entries()) {
    const value = question.then((values) => values[place] as Value);
    value.catch(() => undefined);
    kept.set(key, value);
  }
}

function subjectOf({ marketplace, key }: { marketplace: string; key: string }): string {
  return `${marketplace} ${key}`;
}
