import { isRobotPrincipal } from '../changes/principal.ts';
import { PLATFORM } from '../changes/write.ts';
import {
  type createVisibleChanges,
  eventType,
  type Follower,
  type RecordedChange,
  type SeenChange,
} from '../events/visible-changes.ts';
import type { Person } from '../identity/callers.ts';
import { scopesAllow } from '../identity/scopes.ts';
import type { WebhookCreator } from './webhook.ts';
import { isEventType } from './webhook-types.ts';

interface SightParts {
  readonly visible: ReturnType<typeof createVisibleChanges>;
  readonly personWithId: (id: bigint) => Promise<Person | undefined>;
}

/** The changes that are seen, each with its type. */
export type Seen = ReadonlyMap<RecordedChange, SeenChange & { readonly type: string }>;

/** An ID that nothing has. */
const GONE = 0n;

export type WebhookSight = ReturnType<typeof createWebhookSight>;

/**
 * What a user may see of changes: the creator of a webhook, at each attempt, or a caller who looks at deliveries. It is
 * the same as in `GET /events`.
 */
export function createWebhookSight({ visible, personWithId }: SightParts) {
  return { of, isEntitled };

  /** False if they left, were deactivated, deleted or demoted: then nothing more is sent for them. */
  async function isEntitled(ownerId: bigint, { id }: Pick<WebhookCreator, 'id'>): Promise<boolean> {
    if (!isRobotPrincipal(id)) {
      const person = await personWithId(id);
      if (!person?.active || person.prohibitLogin) return false;
      if (ownerId === PLATFORM) return person.isAdmin;
    } else if (ownerId === PLATFORM) {
      return false;
    }
    return (await visible.rightsIn(id, ownerId)) !== '';
  }

  async function of(
    ownerId: bigint,
    { id, scopes }: Pick<WebhookCreator, 'id' | 'scopes'>,
    changes: readonly RecordedChange[],
  ): Promise<Seen> {
    const seen = new Map<RecordedChange, SeenChange & { readonly type: string }>();
    const note = (change: RecordedChange, one: SeenChange | undefined) => {
      if (!one || one.kind === 'webhook') return;
      const type = eventType(change, one);
      if (isEventType(type)) seen.set(change, { ...one, type });
    };
    const isSite = ownerId === PLATFORM;
    for (const [organizationId, some] of Map.groupBy(changes, ({ organizationId: one }) => one)) {
      const follower = followerOf(id, scopes, isSite, organizationId);
      if (organizationId !== null && organizationId !== PLATFORM && (isSite || organizationId === ownerId)) {
        const found = await visible.seenIn(follower, organizationId, some);
        for (const [change, one] of found.seen) note(change, one);
      }
      if (isSite) for (const change of some) if (!seen.has(change)) note(change, visible.seenOutside(follower, change));
    }
    return seen;
  }
}

/** What a delivery is about; an `events.reset` is about nothing, and seen by all who see the webhook. */
interface Mark {
  readonly id: bigint;
  readonly change: RecordedChange;
  readonly isReset: boolean;
}

/**
 * Which deliveries a caller may see, for a list that is gone through in parts. A caller who would see an object that is
 * gone sees all of its kind, so usually a question for each kind is enough.
 */
export function createDeliverySight(
  sight: WebhookSight,
  ownerId: bigint,
  viewer: Pick<WebhookCreator, 'id' | 'scopes'>,
) {
  const known = new Map<string, boolean>();
  return async function seen(marks: readonly Mark[]): Promise<bigint[]> {
    const changes = marks.flatMap(({ change, isReset }) => (isReset ? [] : [change]));
    await judge(changes.map((change) => ({ ...change, id: GONE })));
    await judge(changes.filter((change) => !seesAll(change)));
    return marks.flatMap(({ id, change, isReset }) =>
      isReset || seesAll(change) || known.get(keyOf(change)) === true ? [id] : [],
    );
  };

  async function judge(changes: readonly RecordedChange[]): Promise<void> {
    const unknown = new Map(changes.map((change) => [keyOf(change), change]));
    for (const key of unknown.keys()) if (known.has(key)) unknown.delete(key);
    if (unknown.size === 0) return;
    const found = await sight.of(ownerId, viewer, [...unknown.values()]);
    for (const [key, change] of unknown) known.set(key, found.has(change));
  }

  function seesAll(change: RecordedChange): boolean {
    return known.get(keyOf({ ...change, id: GONE })) === true;
  }
}

function keyOf({ kind, id, organizationId }: RecordedChange): string {
  return `${kind} ${id} ${organizationId}`;
}

function followerOf(id: bigint, scopes: readonly string[], isSite: boolean, organizationId: bigint | null): Follower {
  const mayRead: Follower['mayRead'] = (area) => scopesAllow(scopes, `read:${area}`);
  return {
    id,
    organizations: new Set(organizationId === null ? [] : [organizationId]),
    followsSelf: false,
    followsAccounts: isSite && mayRead('admin'),
    mayRead,
  };
}
