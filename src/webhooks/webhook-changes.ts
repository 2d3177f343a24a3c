import type { Moment } from '../changes/revision.ts';
import { PLATFORM } from '../changes/write.ts';
import type { RecordedChange } from '../events/visible-changes.ts';
import { MAX_QUEUE, type NewDelivery } from './webhook.ts';
import type { Lease, Outlet, Queued, WebhookQueueStore } from './webhook-queue.ts';
import type { WebhookSight } from './webhook-sight.ts';
import { isWanted } from './webhook-types.ts';

interface Parts {
  readonly store: Pick<WebhookQueueStore, 'page'>;
  readonly sight: WebhookSight;
}

interface Found {
  readonly until: Moment;
  readonly queued: Queued;
  /** Their creators may not see anything any more. */
  readonly disabled: readonly bigint[];
  readonly isMore: boolean;
}

/** A transaction touches at most 5,000 objects, and each is noted once for each action. */
const MAX_CHANGES = 12_000;

/** What has changed since the position of the sender, and which webhooks are to hear of it. */
export async function readChanges(
  { store, sight }: Parts,
  { revision, stamp }: Lease,
  outlets: readonly Pick<Outlet, 'webhook' | 'queued'>[],
): Promise<Found> {
  // Older changes are neither sent nor kept.
  const floor = outlets.map(({ webhook }) => webhook.madeRevision).reduce((least, one) => (one < least ? one : least));
  const after = floor > revision ? floor : revision;
  const { until, stampThen, changes, isMore, isLost } = await store.page(after, MAX_CHANGES);
  const isSameHistory = stampThen !== undefined && (after > revision || stamp === null || stampThen === stamp);
  const active = outlets.filter(({ webhook }) => webhook.active);
  const isReset = isLost || !isSameHistory;
  const [full, open] = [active.filter(isFull), active.filter((outlet) => !isFull(outlet))];
  const disabled: bigint[] = [];
  const deliveries: NewDelivery[] = [];
  const dropped: bigint[] = [];
  for (const outlet of open) {
    const { webhook } = outlet;
    const { id, ownerId, creator, types, sinceRevision } = webhook;
    const concerning = changes.filter(
      (change) => change.revision > sinceRevision && (ownerId === PLATFORM || change.organizationId === ownerId),
    );
    if (concerning.length === 0) continue;
    if (!(await sight.isEntitled(ownerId, creator))) {
      disabled.push(id);
      continue;
    }
    const seen = await sight.of(ownerId, creator, concerning);
    let room = MAX_QUEUE - outlet.queued;
    for (const change of concerning) {
      const one = seen.get(change);
      if (!one || !isWanted(types, one.type, one.kind)) continue;
      if (room-- > 0) deliveries.push({ webhookId: id, change, type: one.type, objectKind: one.kind });
    }
    if (room < 0) dropped.push(id);
  }
  const owners = new Set(outlets.map(({ webhook }) => webhook.ownerId));
  const isKept = ({ kind, organizationId }: RecordedChange) =>
    kind !== 'webhook' && (owners.has(PLATFORM) || (organizationId !== null && owners.has(organizationId)));
  const resets = [
    ['history', isReset ? active.map(({ webhook }) => webhook.id) : []],
    ['queue', [...dropped, ...(changes.length > 0 ? full.map(({ webhook }) => webhook.id) : [])]],
  ] as const;
  const queued = { events: changes.filter(isKept), deliveries, resets };
  return { until, queued, disabled, isMore };
}

/** Then events are dropped, and its receiver is told so once there is room again. */
function isFull({ webhook, queued }: Pick<Outlet, 'webhook' | 'queued'>): boolean {
  return webhook.resetReason !== null || queued >= MAX_QUEUE;
}
