import { readCursor, writeCursor } from '../base/cursor.ts';
import { AppError } from '../base/errors.ts';
import { AUDIT_ACTIONS, type AuditAction } from '../changes/audit-actions.ts';
import type { KnownTexts } from '../changes/personal-texts.ts';
import { principalOfRobot, robotNamedIn } from '../changes/principal.ts';
import { beginOf, type Spans, spansOf } from './spans.ts';
import type { SignedAttestation } from './verification/attestation-signer.ts';

/** One row of the audit log. `before` and `after` are exactly the text that was hashed, but for personal texts. */
export interface AuditRow {
  readonly id: bigint;
  /** RFC 3339 in UTC with milliseconds, as it was hashed. */
  readonly at: string;
  readonly organizationId: bigint;
  /** The actor of the change: the number of a user or a robot. */
  readonly actor: { readonly id: bigint; readonly name: string };
  /** The user for whom the actor, a site administrator, acted. */
  readonly onBehalfOf: { readonly id: bigint; readonly name: string } | null;
  /** JSON as it was hashed: the outside token that a robot acted with. */
  readonly via: string | null;
  readonly action: string;
  readonly object: { readonly type: string; readonly id: bigint };
  readonly before: string | null;
  readonly after: string | null;
  readonly requestId: string;
  readonly previousHash: Buffer;
  readonly hash: Buffer;
  /** A person was erased from it, and its hash does not match what is left. The deployment's log attests that. */
  readonly isErased?: true;
  /** That it does, signed. Only in the export of a single log. */
  readonly attested?: SignedAttestation;
  /** What the hash covers instead of what is shown, if the entry identifies people. */
  readonly hashed?: { readonly parts: HashedParts; readonly texts: KnownTexts };
}

/** Elements of an entry that contain hashes in place of personal texts. */
export interface HashedParts {
  readonly actor?: string;
  readonly onBehalfOf?: string;
  readonly before?: string;
  readonly after?: string;
}

/** What a caller asks for, as it was sent. */
export interface AuditQuestion {
  /** A login name, the ID of an account, including a deleted one, or a robot such as `robot:deploy`. */
  readonly actor?: string | undefined;
  /** `role.create`, or a prefix that ends with a dot: `role.`. */
  readonly action?: string | undefined;
  /** `cluster:7`, or `cluster` for all clusters. */
  readonly object?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  readonly cursor?: string | undefined;
}

/** A position between two rows: after the row with this time and ID. */
export interface Place {
  readonly at: string;
  readonly id: bigint;
}

export interface AuditSearch {
  readonly organizationId?: bigint | undefined;
  readonly actorId?: bigint | undefined;
  readonly action?: string | undefined;
  readonly actionPrefix?: string | undefined;
  readonly objectType?: string | undefined;
  readonly objectId?: bigint | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

export type Order = 'newest first' | 'oldest first';

/** Entries of a page. A page can be short, or empty, although there are more: it ends where the search ended. */
export interface Found {
  readonly rows: AuditRow[];
  /** Where the search for a rare combination ended for now. Undefined if a short page is the last one. */
  readonly reached?: Place | undefined;
}

export interface AuditStore {
  accountNamed(name: string): Promise<bigint | undefined>;
  /** The ID of a robot of an organization, or of `acme/deploy`, which needs no organization. */
  robotNamed(organizationId: bigint | undefined, name: string): Promise<bigint | undefined>;
  /** Before which moment entries were archived: of one log, or of any. What the first entry of one log must follow from. */
  archived(
    organizationId: bigint | undefined,
  ): Promise<{ readonly before: Date; readonly lastHash: Buffer | undefined } | undefined>;
  list(search: AuditSearch, order: Order, after: Place | undefined, limit: number): Promise<Found>;
  /** How many entries each span has, of the newest `most` that a walk finds. Spans without any are left out. */
  countSpans(search: AuditSearch, spans: Spans, most: number): Promise<Counted>;
  /** How often each action happened since then, up to `most`, in one organization or in all. Others are left out. */
  countActions(
    organizationId: bigint | undefined,
    since: Date,
    actions: readonly AuditAction[],
    most: number,
  ): Promise<{ readonly action: AuditAction; readonly count: number }[]>;
}

export interface Counted {
  /** By the number of the span. */
  readonly counts: ReadonlyMap<number, number>;
  /** Absent if all entries were counted; else the time of the oldest one that was. */
  readonly reached?: Date | undefined;
}

/** How many entries there were, span by span. */
export interface Histogram {
  readonly since: Date;
  readonly until: Date;
  readonly seconds: number;
  readonly counts: readonly number[];
  readonly reached?: Date | undefined;
}

export interface ActionCount {
  readonly action: AuditAction;
  readonly count: number;
  /** There are more, which are not counted. */
  readonly hasMore: boolean;
  readonly description: string;
}

export type Audit = ReturnType<typeof createAudit>;

const DAY_MS = 86_400_000;
export const COUNTED_DAYS = 90;
export const HISTOGRAM_DAYS = 30;
/** A histogram is of the newest so many. */
export const MAX_COUNTED = 50_000;
/** Of one action. */
export const MAX_COUNTED_ACTIONS = 10_000;
const BATCH = 250;
const MAX_ID = 2n ** 63n - 1n;

/** Adds to the erased entries of one log that the deployment's log attests them. */
export type Attest = (chainId: bigint) => (rows: readonly AuditRow[]) => Promise<readonly AuditRow[]>;

/**
 * Who changed what: read page by page, and exported as a whole. `settle` writes what this process has noted
 * but not written yet.
 */
export function createAudit(store: AuditStore, settle: () => Promise<void>, attest: Attest) {
  return { page, organizationNamed, rows, actions, histogram, archived: store.archived };

  /** The last 30 days, unless the question is about another range. */
  async function histogram(organizationId: bigint | undefined, question: AuditQuestion, now: Date): Promise<Histogram> {
    const until = question.until ?? now;
    const since = question.since ?? new Date(until.getTime() - HISTOGRAM_DAYS * DAY_MS);
    const search = await searchFor(organizationId, { ...question, since, until });
    const spans = spansOf(since, until);
    const { counts, reached } = await store.countSpans(search, spans, MAX_COUNTED);
    return {
      since: beginOf(spans, 0),
      until: beginOf(spans, spans.count),
      seconds: spans.seconds,
      counts: Array.from({ length: spans.count }, (_, place) => counts.get(spans.first + place) ?? 0),
      reached,
    };
  }

  /** What happened of late, by the name of the action. */
  async function actions(organizationId: bigint | undefined, now: Date): Promise<ActionCount[]> {
    await settle();
    const known = Object.keys(AUDIT_ACTIONS) as AuditAction[];
    const counts = await store.countActions(
      organizationId,
      new Date(now.getTime() - COUNTED_DAYS * DAY_MS),
      known,
      MAX_COUNTED_ACTIONS + 1,
    );
    const sorted = counts.sort((one, other) => (one.action < other.action ? -1 : 1));
    return sorted.map(({ action, count }) => ({
      ...{ action, count: Math.min(count, MAX_COUNTED_ACTIONS), hasMore: count > MAX_COUNTED_ACTIONS },
      description: AUDIT_ACTIONS[action],
    }));
  }

  async function page(organizationId: bigint | undefined, question: AuditQuestion, limit: number) {
    const search = await searchFor(organizationId, question);
    // One more row than is shown tells whether there is a next page.
    const { rows: found, reached } = await store.list(
      search,
      'newest first',
      question.cursor === undefined ? undefined : readCursor(question.cursor, readPlace),
      limit + 1,
    );
    const items = found.slice(0, limit);
    const last = items.at(-1);
    const next = found.length > limit ? last : reached;
    const nextCursor = next ? writeCursor(placeOf(next)) : null;
    return { items, nextCursor };
  }

  /** All matching rows, oldest first, in batches: the next batch is read when the consumer takes it. */
  async function rows(organizationId: bigint | undefined, question: AuditQuestion) {
    const search = await searchFor(organizationId, question);
    return batches(search);
  }

  /** An export of all logs has the deployment's, which attests by itself. */
  async function* batches(search: AuditSearch): AsyncGenerator<readonly AuditRow[]> {
    const { organizationId: chainId } = search;
    const attested = chainId === undefined ? async (rows: AuditRow[]) => rows : attest(chainId);
    for (let after: Place | undefined; ; ) {
      const { rows: found, reached } = await store.list(search, 'oldest first', after, BATCH);
      if (found.length > 0) yield await attested(found);
      after = found.length === BATCH ? found.at(-1) : reached;
      if (after === undefined) return;
    }
  }

  /** By its name, or by its ID if it is deleted; 0 is the deployment itself. */
  async function organizationNamed(text: string): Promise<bigint> {
    return await accountNamed('org', text);
  }

  async function searchFor(organizationId: bigint | undefined, question: AuditQuestion): Promise<AuditSearch> {
    const { actor, since, until } = question;
    await settle();
    return {
      organizationId,
      actorId: actor === undefined ? undefined : await actorNamed(organizationId, actor),
      ...readAction(question.action),
      ...readObject(question.object),
      since,
      until,
    };
  }

  async function actorNamed(organizationId: bigint | undefined, text: string): Promise<bigint> {
    const robot = robotNamedIn(text);
    if (robot === undefined) return await accountNamed('actor', text);
    const id = 'id' in robot ? robot.id : await store.robotNamed(organizationId, robot.name);
    if (id !== undefined) return principalOfRobot(id);
    const advice = organizationId === undefined ? 'use robot:ORG/NAME, or the ID' : 'use the ID of a deleted robot';
    throw new AppError('invalid', `actor: no robot is named ${JSON.stringify(text.slice(0, 60))}; ${advice}`);
  }

  async function accountNamed(parameter: string, text: string): Promise<bigint> {
    const id = (await store.accountNamed(text)) ?? readNumber(text);
    if (id !== undefined) return id;
    throw new AppError(
      'invalid',
      `${parameter}: no account is named ${JSON.stringify(text.slice(0, 40))}; use the ID for a deleted account`,
    );
  }
}

function readAction(text: string | undefined): Pick<AuditSearch, 'action' | 'actionPrefix'> {
  if (text === undefined) return {};
  if (text === '')
    throw new AppError('invalid', 'action must be a name such as role.create or a prefix such as "role."');
  return text.endsWith('.') ? { actionPrefix: text } : { action: text };
}

function readObject(text: string | undefined): Pick<AuditSearch, 'objectType' | 'objectId'> {
  if (text === undefined) return {};
  const [, objectType = '', number] = /^(\w{1,40})(?::(\d{1,19}))?$/.exec(text) ?? [];
  const objectId = number === undefined ? undefined : readNumber(number);
  if (objectType === '' || (number !== undefined && objectId === undefined)) {
    throw new AppError('invalid', 'object must be a type and ID such as cluster:7, or a type such as cluster');
  }
  return { objectType, objectId };
}

function readNumber(text: string): bigint | undefined {
  const number = /^\d{1,19}$/.test(text) ? BigInt(text) : -1n;
  return number >= 0n && number <= MAX_ID ? number : undefined;
}

/** The time and ID of the last entry that the caller has seen. */
function placeOf({ at, id }: Place): string {
  return `${at} ${id}`;
}

function readPlace(text: string): Place | undefined {
  const [, at = '', number = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z) (\d{1,19})$/.exec(text) ?? [];
  const id = readNumber(number);
  return id === undefined || !isMoment(at) ? undefined : { at, id };
}

/** Date.parse accepts 30 February as a day in March; the database rejects it. */
function isMoment(at: string): boolean {
  const ms = Date.parse(at);
  return !Number.isNaN(ms) && !at.startsWith('0000') && new Date(ms).toISOString().startsWith(at.slice(0, 19));
}
