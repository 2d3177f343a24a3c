import type { Judge } from '../authz/judge.ts';
import type { ObjectRef } from '../authz/object-ref.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import type { AuditAction } from '../changes/audit-actions.ts';
import {
  type ChangeKind,
  OBJECT_KINDS,
  SEEN_TYPES,
  type SeenType,
  TUPLELESS_KINDS,
  type TuplelessKind,
} from '../changes/object-kinds.ts';
import type { Moment } from '../changes/revision.ts';
import type { ScopeArea } from '../identity/scopes.ts';

/** A change as it was recorded, with its moment. */
export interface RecordedChange extends Moment {
  /** Which of all changes of the revision it is. */
  readonly place: number;
  readonly at: Date;
  /** What happened, in the words of the audit log, if it says something about the object. */
  readonly action: AuditAction | null;
  readonly kind: ChangeKind;
  readonly id: bigint;
  /** The account whose authorization graph the change belongs to. */
  readonly organizationId: bigint | null;
  /** Null if that account is a user, or gone. */
  readonly organizationName: string | null;
}

/** What events call that which changed. `account` is a user or an organization, for site administrators. */
export type EventKind = (typeof OBJECT_KINDS)[SeenType]['word'] | TuplelessKind | 'account';
export const EVENT_KINDS: readonly EventKind[] = [
  ...SEEN_TYPES.map((type) => OBJECT_KINDS[type].word),
  ...TUPLELESS_KINDS,
  'account',
];

/** A change as the caller may see it. */
export interface SeenChange {
  readonly kind: EventKind;
  readonly id: bigint;
  /** Absent for what belongs to no organization. */
  readonly organization?: string;
}

/** The same for every listener and webhook, so that receivers of several recognize what they have heard of already. */
export function eventId({ revision, place }: Pick<RecordedChange, 'revision' | 'place'>): string {
  return `${revision}-${place}`;
}

/** What happened, as events call it. */
export function eventType({ action }: Pick<RecordedChange, 'action'>, { kind }: Pick<SeenChange, 'kind'>): string {
  return action ?? `${kind}.update`;
}

/** Whose changes a caller follows, and how far their credential allows to see them. */
export interface Follower {
  readonly id: bigint;
  readonly organizations: ReadonlySet<bigint>;
  /** Also hears changes of the caller: of their account, and of what they own themselves. */
  readonly followsSelf: boolean;
  /** A site administrator, who hears of every account. */
  readonly followsAccounts: boolean;
  readonly mayRead: (area: ScopeArea) => boolean;
}

/** Those of these access requests that the caller may see. */
export type VisibleRequests = (
  organizationId: bigint,
  callerId: bigint,
  ids: readonly bigint[],
) => Promise<ReadonlySet<bigint>>;

interface Visibility {
  /** Absent if no single object of the kind can be seen without all of them. */
  readonly type?: ObjectRef['type'];
  /** A user who holds this on the organization may see every object of the kind there, and so also know of a deleted one. */
  readonly all: string;
  readonly area: ScopeArea;
}

type SeenObject = Exclude<SeenType, 'user' | 'organization'>;

/** Accounts are seen as users and organizations, everything else object by object. */
const SEEN_OBJECTS = SEEN_TYPES.filter((type): type is SeenObject => type !== 'user' && type !== 'organization');
const KNOWN: ReadonlyMap<ChangeKind, Visibility> = new Map<ChangeKind, Visibility>([
  ...SEEN_OBJECTS.map((type) => {
    const { source, viewAll, area } = OBJECT_KINDS[type];
    return [source, { type, all: viewAll, area }] as const;
  }),
  ['guardrail', { all: OBJECT_KINDS.role.viewAll, area: OBJECT_KINDS.role.area }],
  // Only owners see every review.
  ['review', { all: 'can_delete', area: OBJECT_KINDS.role.area }],
  ['webhook', { all: 'can_edit', area: 'organization' }],
  // Users who can add members see all invitations.
  ['invitation', { all: 'can_add_member', area: 'organization' }],
]);
/** Of these, members see single objects, whatever they may see of the organization: their teams, and their roles. */
const SEEN_SINGLY = SEEN_OBJECTS.filter((type) => OBJECT_KINDS[type].isSeenSingly);
const VIEW = 'can_view';
const OBJECTS_AT_ONCE = 500;

/**
 * What a caller may see of the changes of one organization.
 *
 * 1. An object is named only if the caller may view it now, or may view every object of its kind in the organization.
 *    So a deleted object is named only to those who could see it, and all other callers are not even told that
 *    something changed.
 * 2. Rights are a text that differs whenever the caller may see other objects than before. It covers the objects that
 *    they see singly: a caller who loses sight of one hears of that as a change of their rights.
 */
export function createVisibleChanges(judge: Pick<Judge, 'allowed' | 'objects'>, visibleRequests: VisibleRequests) {
  return { rightsIn, seenIn, seenOutside };

  /** Empty if the caller is not in the organization. */
  async function rightsIn(callerId: bigint, organizationId: bigint): Promise<string> {
    const organization = { type: 'organization', id: organizationId } as const;
    const [held = []] = await judge.allowed(callerId, organizationId, [organization]);
    return await rightsOf(callerId, organizationId, held);
  }

  async function rightsOf(callerId: bigint, organizationId: bigint, held: readonly string[]): Promise<string> {
    if (!held.includes(VIEW)) return '';
    // Whether a member could leave has nothing to do with what they see.
    const rights = held.filter((relation) => relation.startsWith('can_') && relation !== 'can_leave');
    for (const type of SEEN_SINGLY) {
      if (held.includes(OBJECT_KINDS[type].viewAll)) continue;
      const ids = await judge.objects(callerId, organizationId, VIEW, type);
      rights.push(...ids.map((id) => `${type}:${id}`).sort());
    }
    return rights.join(' ');
  }

  /** All of one organization. The rights are of a moment after the changes. */
  async function seenIn(
    follower: Follower,
    organizationId: bigint,
    changes: readonly RecordedChange[],
  ): Promise<{ readonly rights: string; readonly seen: ReadonlyMap<RecordedChange, SeenChange> }> {
    const seen = new Map<RecordedChange, SeenChange>();
    const yieldIfDue = createYielder();
    const organization = { type: 'organization', id: organizationId } as const;
    let held: readonly string[] = [];
    for (let first = 0; first === 0 || first < changes.length; first += OBJECTS_AT_ONCE) {
      const part = changes.slice(first, first + OBJECTS_AT_ONCE);
      const refs = part.map((change) => refOf(change) ?? organization);
      const [holds = [], ...each] = await judge.allowed(follower.id, organizationId, [organization, ...refs]);
      held = holds;
      const requests = await requestsIn(follower, organizationId, part);
      for (const [place, change] of part.entries()) {
        const one =
          change.kind === 'request'
            ? seenRequest(follower, change, held, requests)
            : seenAs(follower, change, held, each[place] ?? []);
        if (one) seen.set(change, one);
      }
      await yieldIfDue();
    }
    return { rights: await rightsOf(follower.id, organizationId, held), seen };
  }

  async function requestsIn(follower: Follower, organizationId: bigint, part: readonly RecordedChange[]) {
    const ids = part.flatMap(({ kind, id }) => (kind === 'request' ? [id] : []));
    return ids.length === 0 ? new Set<bigint>() : await visibleRequests(organizationId, follower.id, ids);
  }
}

/** A change that names the organization instead of a request is about its request rules. */
function seenRequest(
  follower: Follower,
  { id, organizationId, organizationName }: RecordedChange,
  held: readonly string[],
  requests: ReadonlySet<bigint>,
): SeenChange | undefined {
  if (!held.includes(VIEW) || !follower.mayRead('authz')) return undefined;
  const isRules = id === organizationId && held.includes(OBJECT_KINDS.role.viewAll);
  if (!isRules && !requests.has(id)) return undefined;
  return { kind: 'request', id, ...(organizationName === null ? {} : { organization: organizationName }) };
}

/** What is in no organization: the caller's own account, what they own themselves, and accounts for administrators. */
function seenOutside(follower: Follower, change: RecordedChange): SeenChange | undefined {
  const { kind, id, organizationId } = change;
  const isOwn = organizationId === follower.id || (kind === 'account' && id === follower.id);
  if (isOwn && follower.followsSelf && follower.mayRead('user')) {
    if (kind === 'account') return { kind: 'user', id };
    return kind === 'platform' || isTupleless(kind) ? undefined : { kind, id };
  }
  return kind === 'account' && follower.followsAccounts ? { kind, id } : undefined;
}

function isTupleless(kind: ChangeKind): kind is TuplelessKind {
  return TUPLELESS_KINDS.some((one) => one === kind);
}

function refOf({ kind, id }: RecordedChange): ObjectRef | undefined {
  const type = KNOWN.get(kind)?.type;
  return type && { type, id };
}

function seenAs(
  follower: Follower,
  { kind, id, organizationId, organizationName }: RecordedChange,
  held: readonly string[],
  onObject: readonly string[],
): SeenChange | undefined {
  if (!held.includes(VIEW)) return undefined;
  const organization = organizationName === null ? {} : { organization: organizationName };
  const known = KNOWN.get(kind);
  if (known) {
    const isSeenSingly = known.type !== undefined && onObject.includes(VIEW);
    const isVisible = follower.mayRead(known.area) && (held.includes(known.all) || isSeenSingly);
    return isVisible ? { kind: kind as EventKind, id, ...organization } : undefined;
  }
  if (kind !== 'account' || !follower.mayRead('organization')) return undefined;
  if (id === organizationId) return { kind: 'organization', id, ...organization };
  const isVisible = id === follower.id || held.includes(OBJECT_KINDS.user.viewAll);
  return isVisible ? { kind: 'user', id, ...organization } : undefined;
}
