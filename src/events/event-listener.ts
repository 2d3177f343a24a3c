import { createHash } from 'node:crypto';
import { AppError, type ErrorKind } from '../base/errors.ts';
import { writeJson } from '../base/json.ts';
import type { Moment, Revisions } from '../changes/revision.ts';
import type { Organization } from '../identity/callers.ts';
import { type ScopeArea, scopesAllow } from '../identity/scopes.ts';
import { type createEventCursors, revisionIn } from './event-cursor.ts';
import {
  type createVisibleChanges,
  eventId,
  eventType,
  type Follower,
  type RecordedChange,
  type SeenChange,
} from './visible-changes.ts';

/** Who listens. */
export interface EventCaller {
  readonly person: {
    readonly id: bigint;
    readonly isAdmin: boolean;
    readonly organizations: Pick<ReadonlyMap<bigint, unknown>, 'has' | 'keys' | 'size'>;
  };
  /** The account whose changes can end the credential: the caller's own or, for a robot, that of its organization. */
  readonly accountId: bigint;
  readonly scopes: readonly string[];
  /** Whether the token is limited to organizations: then no event is about the caller's own account. */
  readonly isLimited?: boolean;
  /** The administrator who acts for that user. */
  readonly sudoBy?: { readonly id: bigint } | undefined;
  /** When the credential expires. */
  readonly until: Date | null;
}

/** What changed since a revision. */
export interface RecordedNews {
  readonly moment: Moment;
  /** The stamp of that revision; undefined if it is pruned, or was never there. */
  readonly stampThen: string | undefined;
  /** In the order of revisions; undefined if there are too many. */
  readonly changes: readonly RecordedChange[] | undefined;
}

export interface EventStore {
  now(): Promise<Moment>;
  since(
    revision: bigint,
    options: {
      readonly max: number;
      /** Only changes of these accounts, or of any account. */
      readonly concerning?: { readonly accounts: readonly bigint[]; readonly isEveryAccount: boolean };
    },
  ): Promise<RecordedNews>;
}

/** Where events go. */
export interface EventSink {
  readonly isOpen: boolean;
  send(event: { readonly event: string; readonly id?: string | undefined; readonly data: string }): void;
  comment(): void;
  end(): void;
  onClose(listener: (isSlow: boolean) => void): void;
}

export interface EventListenerOptions {
  readonly caller: EventCaller;
  /** The only one that the stream is about, or all of the caller's and what is about themselves. */
  readonly organization: Organization | undefined;
  readonly lastEventId: string | undefined;
  /** False to hear only what changed since the last event. */
  readonly follow: boolean;
  /** Throws if the caller would be rejected by now. */
  readonly readmit: () => Promise<EventCaller>;
  /** Starts the response. Until then, an error can still become a status. */
  readonly open: () => EventSink;
  readonly now: () => Promise<Moment>;
  /** The listener follows other accounts than before. */
  readonly onAccounts: () => void;
  readonly onEnd: () => void;
}

interface ListenerFactoryOptions {
  readonly store: Pick<EventStore, 'since'>;
  readonly revisions: Pick<Revisions, 'current'>;
  readonly visible: ReturnType<typeof createVisibleChanges>;
  readonly cursors: ReturnType<typeof createEventCursors>;
  readonly onSlow: () => void;
  readonly onError: (error: unknown) => void;
}

/** A change as listeners hear of it, with the ID and the type that webhooks have for it, too. */
interface NamedChange extends SeenChange {
  readonly event: string;
  readonly type: string;
}

interface VisibleRevision extends Moment {
  readonly at: Date;
  readonly changes: readonly NamedChange[];
}

/** Why a client has to load everything again. */
export const RESET_REASONS = ['position', 'history', 'rights', 'access'] as const;
export type ResetReason = (typeof RESET_REASONS)[number];

export type EventListener = ReturnType<ReturnType<typeof createListenerFactory>>;

/** A client that missed more than this loads everything again, which is cheaper. */
const MAX_REPLAYED = 2000;
/** In each, it must be known what the listener may see. */
const MAX_ORGANIZATIONS = 200;
const REJECTIONS: readonly ErrorKind[] = ['invalid', 'unauthenticated', 'forbidden', 'notFound'];

/** One listener: where it is, what it may see, and the changes that are yet to be sent to it. */
export function createListenerFactory({ store, revisions, visible, cursors, onSlow, onError }: ListenerFactoryOptions) {
  return function createEventListener({
    organization,
    lastEventId,
    follow,
    readmit,
    open,
    now,
    ...parts
  }: EventListenerOptions) {
    let { caller } = parts;
    let follower = followerOf(caller, organization);
    let rights = new Map<bigint, string>();
    let audience = '';
    let position: Moment = { revision: -1n, stamp: '' };
    let sink: EventSink | undefined;
    let isOver = false;
    /** Everything that is sent, one after the other. Begins when the stream does. */
    const { promise: begun, resolve: startQueue } = Promise.withResolvers<void>();
    let queue: Promise<void> = begun;

    return {
      callerId: caller.person.id,
      get until() {
        return caller.until?.getTime() ?? Number.POSITIVE_INFINITY;
      },
      accounts,
      followsAccounts: () => follower.followsAccounts,
      begin,
      send: (changes: readonly RecordedChange[], moment: Moment) => enqueue(() => deliver(changes, moment)),
      reset: (moment: Moment) => enqueue(() => startOver('history', moment)),
      checkAgain: () => enqueue(admitAgain),
      comment: () => sink?.comment(),
      end,
    };

    function accounts(): bigint[] {
      return [follower.id, caller.accountId, ...(caller.sudoBy ? [caller.sudoBy.id] : []), ...follower.organizations];
    }

    async function begin(): Promise<void> {
      const from = lastEventId === undefined ? undefined : revisionIn(lastEventId);
      const news = from === undefined ? undefined : await store.since(from, { max: MAX_REPLAYED, concerning: mine() });
      const moment = news?.moment ?? (await now());
      await revisions.current();
      await learnRights();
      const wasThere = from !== undefined && news?.stampThen !== undefined && { revision: from, stamp: news.stampThen };
      const isKnown = wasThere && cursors.isValid(lastEventId ?? '', wasThere, audience);
      let seen = isKnown && news?.changes ? await see(news.changes) : undefined;
      if (seen && !seen.isSameRights) {
        await learnRights();
        seen = undefined;
      }
      if (isOver) return;
      sink = open();
      sink.onClose((isSlow) => {
        if (isSlow) onSlow();
        end();
      });
      // Before what was missed is sent, the client is still where it was.
      const id = lastEventId === undefined ? cursors.write(moment, audience) : undefined;
      sink.send({ event: 'ready', id, data: writeJson({ revision: moment.revision.toString() }) });
      position = moment;
      if (seen) sendEvents(seen.events);
      else if (lastEventId !== undefined) sendReset('position', moment);
      if (follow) startQueue();
      else end();
    }

    function mine() {
      return { accounts: [follower.id, ...follower.organizations], isEveryAccount: follower.followsAccounts };
    }

    function enqueue(work: () => Promise<void>): void {
      queue = queue.then(async () => {
        if (!isOver) await work();
      });
      queue.catch((error) => {
        if (!(error instanceof AppError)) onError(error);
        end();
      });
    }

    async function deliver(changes: readonly RecordedChange[], moment: Moment): Promise<void> {
      const fresh = changes.filter(({ revision }) => revision > position.revision);
      if (fresh.length === 0) return;
      const isAboutCaller = fresh.some(
        ({ kind, id }) => kind === 'account' && (id === caller.accountId || id === caller.sudoBy?.id),
      );
      if (isAboutCaller && !(await isStillSame())) return;
      const { events, isSameRights } = await see(fresh);
      if (!isSameRights) return await startOver('rights');
      sendEvents(events);
      position = moment;
    }

    async function admitAgain(): Promise<void> {
      await isStillSame();
    }

    /** False if the stream ended or started over. */
    async function isStillSame(): Promise<boolean> {
      const before = follower;
      try {
        caller = await readmit();
        requireMember(caller, organization);
      } catch (error) {
        rejected(error);
        return false;
      }
      follower = followerOf(caller, organization);
      if (isSameFollower(before, follower)) return true;
      parts.onAccounts();
      await startOver('rights');
      return false;
    }

    /** What the client has on its screen is none of its business any more. */
    function rejected(error: unknown): void {
      if (!(error instanceof AppError) || !REJECTIONS.includes(error.kind)) throw error;
      sink?.send({ event: 'reset', data: writeJson({ reason: 'access' }) });
      end();
    }

    /** The position is read after the accounts are listed, so that nothing falls in between. */
    async function startOver(reason: ResetReason, at?: Moment): Promise<void> {
      const moment = at ?? (await now());
      await revisions.current();
      try {
        await learnRights();
      } catch (error) {
        rejected(error);
      }
      if (isOver) return;
      position = moment;
      sendReset(reason, moment);
    }

    async function learnRights(): Promise<void> {
      const found = new Map<bigint, string>();
      for (const id of follower.organizations) found.set(id, await visible.rightsIn(follower.id, id));
      rights = found;
      if (organization && found.get(organization.id) === '') throw noMember();
      audience = audienceOf(follower, organization, rights);
    }

    async function see(changes: readonly RecordedChange[]) {
      const seen = new Map<RecordedChange, SeenChange>();
      let isSameRights = true;
      for (const [id, some] of Map.groupBy(changes, ({ organizationId }) => organizationId)) {
        if (id !== null && follower.organizations.has(id)) {
          const found = await visible.seenIn(follower, id, some);
          if (found.rights !== rights.get(id)) isSameRights = false;
          for (const [change, one] of found.seen) seen.set(change, one);
        }
        for (const change of some) {
          const one = seen.has(change) ? undefined : visible.seenOutside(follower, change);
          if (one) seen.set(change, one);
        }
      }
      const events = [...Map.groupBy(changes, ({ revision }) => revision)].flatMap(([revision, some]) => {
        const found = some.flatMap((change) => {
          const one = seen.get(change);
          return one ? [{ ...one, event: eventId(change), type: eventType(change, one) }] : [];
        });
        const [first] = some;
        return found.length === 0 || !first
          ? []
          : [{ revision, stamp: first.stamp, at: first.at, changes: distinct(found) }];
      });
      return { events, isSameRights };
    }

    function sendEvents(events: readonly VisibleRevision[]): void {
      for (const { changes, at, ...moment } of events) {
        const shown = changes.map(({ kind, id, ...where }) => ({ kind, id: id.toString(), ...where }));
        const data = writeJson({ revision: moment.revision.toString(), at, changes: shown });
        sink?.send({ event: 'change', id: cursors.write(moment, audience), data });
      }
    }

    function sendReset(reason: ResetReason, moment: Moment): void {
      const data = writeJson({ revision: moment.revision.toString(), reason });
      sink?.send({ event: 'reset', id: cursors.write(moment, audience), data });
    }

    function end(): void {
      if (isOver) return;
      isOver = true;
      startQueue();
      parts.onEnd();
      sink?.end();
    }
  };
}

/** The same answer for an organization that does not exist, which is one that was named and not found. */
export function requireMember(
  { person, isLimited }: EventCaller,
  organization: Organization | undefined,
  isNamed = organization !== undefined,
): void {
  if (isLimited && person.organizations.size === 0) {
    const message = 'a token that is limited to single objects cannot follow changes';
    throw new AppError('forbidden', message, { reason: 'token_limited' });
  }
  if (isNamed && !organization) throw noMember();
  if (!organization && person.organizations.size > MAX_ORGANIZATIONS) {
    const why = `you are in more than ${MAX_ORGANIZATIONS} organizations`;
    throw new AppError('invalid', `query parameter org is required, because ${why}`);
  }
  if (organization && !person.isAdmin && !person.organizations.has(organization.id)) throw noMember();
}

function noMember(): AppError {
  return new AppError('forbidden', 'Must be an organization member');
}

function followerOf(
  { person, scopes, isLimited = false }: EventCaller,
  organization: Organization | undefined,
): Follower {
  const mayRead = (area: ScopeArea) => scopesAllow(scopes, `read:${area}`);
  return {
    id: person.id,
    organizations: new Set(organization ? [organization.id] : person.organizations.keys()),
    followsSelf: organization === undefined && !isLimited,
    followsAccounts: organization === undefined && person.isAdmin && mayRead('admin'),
    mayRead,
  };
}

function isSameFollower(one: Follower, other: Follower): boolean {
  return (
    one.id === other.id &&
    one.followsAccounts === other.followsAccounts &&
    one.organizations.symmetricDifference(other.organizations).size === 0
  );
}

const AREAS: readonly ScopeArea[] = ['user', 'organization', 'authz', 'admin'];

/** Who hears what: an ID of an event is good for the same audience only. */
function audienceOf(follower: Follower, organization: Organization | undefined, rights: ReadonlyMap<bigint, string>) {
  const { id, followsAccounts, mayRead } = follower;
  const held = [...rights].sort(([a], [b]) => (a < b ? -1 : 1)).map(([one, text]) => `${one}: ${text}`);
  const said = [id, organization?.id ?? '', followsAccounts, ...AREAS.map(mayRead), ...held].join('\n');
  return createHash('sha256').update(said).digest('base64url');
}

/** One revision can touch an object several times. */
function distinct(changes: readonly NamedChange[]): NamedChange[] {
  const found = new Map<string, NamedChange>();
  for (const one of changes) {
    const key = `${one.kind} ${one.id} ${one.organization ?? ''} ${one.type}`;
    if (!found.has(key)) found.set(key, one);
  }
  return [...found.values()];
}
