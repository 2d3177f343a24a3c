/**
 * Checks the guardrails inside every transaction that changes who may do what.
 *
 * 1. It runs last in the transaction, while the row of the revision is locked. So nobody else writes, on any replica,
 *    between what it reads and the commit. It takes no lock that a writer could hold while it waits for that row.
 * 2. It keeps its own copy of each organization, and patches it with what the transaction wrote. If the transaction is
 *    refused here, the patch is taken back. If it fails later, the copy is of a moment that the database has never been
 *    through, and the next writer loads it again.
 * 3. What did not hold before the transaction is in the database, written by the transaction before. So a change is
 *    refused only for what it violates itself, whichever replica made the others.
 * 4. A change that leaves a violation as it was, or makes it smaller, passes. So does a fact: a violation is noted then.
 */
import type { GraphTuple } from '../changes/graph-tuple.ts';
import type { Moment } from '../changes/revision.ts';
import { type Change, PLATFORM, type Query, type WriteGuard, type Written } from '../changes/write.ts';
import type { Model } from '../rebac/model.ts';
import { copyFrom, type OrganizationCopy, type Undo } from '../simulation/organization-copy.ts';
import type { Guardrail, Violation, Violations } from './guardrail.ts';
import { ignoreDeletedUsers, refusalOf, toldOf, viewOf, violatedAnew } from './verdict.ts';
import { violationsAmong } from './violations.ts';

export interface GuardPatch {
  readonly sources: readonly string[];
  readonly tuples: Iterable<GraphTuple>;
  readonly isUseless: boolean;
}

/** A violation, and the statement that it is about. */
export interface KnownViolation extends Violation {
  readonly statement: number;
}

export type KnownViolations = ReadonlyMap<bigint, KnownViolation>;

/** Every function reads or writes in the transaction of the writer. */
export interface WriteGuardStore {
  guardrails(query: Query, organizationId: bigint): Promise<Guardrail[]>;
  /** Organizations with a guardrail that names one of these users, or a team that they are in. */
  organizationsNaming(query: Query, userIds: readonly bigint[]): Promise<bigint[]>;
  load(written: Written, organizationId: bigint): Promise<Iterable<GraphTuple>>;
  /** What was written since a moment. */
  patch(written: Written, organizationId: bigint, since: Moment): Promise<GuardPatch>;
  violations(query: Query, organizationId: bigint): Promise<KnownViolations>;
  keepViolations(query: Query, organizationId: bigint, violations: KnownViolations): Promise<void>;
  living(query: Query, userIds: readonly bigint[]): Promise<bigint[]>;
  names(query: Query, objects: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** The graph of one organization as of a moment, and what did not hold then. */
interface Entry extends Moment {
  readonly copy: OrganizationCopy;
  readonly known: KnownViolations;
}

const MAX_ORGANIZATIONS = 10_000;

export function createWriteGuard(store: WriteGuardStore, model: Model, maxBytes: number): WriteGuard {
  const entries = new Map<bigint, Entry>();
  /** Of those organizations that were written to since a guardrail changed anywhere. */
  let guardrails = new Map<bigint, readonly Guardrail[]>();
  let guardrailsStamp = '';

  return async (written) => {
    if (written.guardrails !== guardrailsStamp || guardrails.size > MAX_ORGANIZATIONS) {
      guardrails = new Map();
      guardrailsStamp = written.guardrails;
    }
    for (const organizationId of await organizationsOf(written)) await inspect(written, organizationId);
  };

  async function organizationsOf({ query, touched }: Written): Promise<Set<bigint>> {
    const found = new Set(touched.flatMap(organizationOf));
    if (!touched.some(({ organizationId }) => organizationId === PLATFORM)) return found;
    // Whoever becomes a site administrator, or was one, matters only where a guardrail is about them.
    const people = touched.flatMap(({ kind, id }) => (kind === 'account' ? [id] : []));
    for (const id of await store.organizationsNaming(query, people)) found.add(id);
    return found;
  }

  async function inspect(written: Written, organizationId: bigint): Promise<void> {
    const { query, touched } = written;
    const isAboutItself = touched.some((change) => isAbout(change, organizationId));
    const stored = isAboutItself ? undefined : guardrails.get(organizationId);
    const rules = stored ?? (await store.guardrails(query, organizationId));
    // What this transaction itself has changed counts only once it has committed.
    if (isAboutItself) guardrails.delete(organizationId);
    else guardrails.set(organizationId, rules);
    if (rules.length === 0) {
      entries.delete(organizationId);
      if (isAboutItself) await store.keepViolations(query, organizationId, new Map());
      return;
    }
    const { copy, undo, known } = await copyNow(written, organizationId);
    try {
      const found = await ignoreDeletedUsers(rules, await violationsAmong(copy, rules), (ids) =>
        store.living(query, ids),
      );
      const before = known ?? (await store.violations(query, organizationId));
      if (!written.isFact) await refuseNew(written, copy, rules, before, found);
      const after = withStatements(rules, found);
      if (!isSame(before, after)) await store.keepViolations(query, organizationId, after);
      remember(organizationId, { copy, known: after, revision: written.revision, stamp: written.stamp });
    } catch (error) {
      for (const back of undo.reverse()) back();
      throw error;
    }
  }

  /** The graph as of this transaction, and what did not hold before it, if that is known. */
  async function copyNow(written: Written, organizationId: bigint) {
    const entry = entries.get(organizationId);
    const patch = entry && (await store.patch(written, organizationId, entry));
    if (!entry || !patch || patch.isUseless) {
      entries.delete(organizationId);
      return { copy: await loaded(written, organizationId), undo: [] as Undo[], known: undefined };
    }
    const bySource = new Map(patch.sources.map((source) => [source, [] as GraphTuple[]]));
    for (const tuple of patch.tuples) bySource.get(tuple.source)?.push(tuple);
    const undo = [...bySource].flatMap(([source, tuples]) => entry.copy.replaceSource(source, tuples) ?? []);
    // If others have written since, they may have written what does not hold, too.
    const isNext = entry.revision === written.revision - 1n;
    return { copy: entry.copy, undo, known: isNext ? entry.known : undefined };
  }

  async function loaded(written: Written, organizationId: bigint): Promise<OrganizationCopy> {
    return await copyFrom(model, await store.load(written, organizationId));
  }

  async function refuseNew(
    { query, actor }: Written,
    copy: OrganizationCopy,
    rules: readonly Guardrail[],
    before: KnownViolations,
    found: Violations,
  ): Promise<void> {
    const enforced = rules.filter(({ enforce }) => enforce);
    const earlier = new Map([...before].filter(([id, { statement }]) => isCurrent(enforced, id, statement)));
    const [first] = violatedAnew(enforced, earlier, found);
    if (!first) return;
    const { organizationId } = first.rule;
    const sees = viewOf(copy, organizationId, actor?.id);
    throw refusalOf(await toldOf(first, sees, (objects) => store.names(query, objects)));
  }

  function remember(organizationId: bigint, entry: Entry): void {
    entries.delete(organizationId);
    entries.set(organizationId, entry);
    let bytes = 0;
    for (const { copy } of entries.values()) bytes += copy.bytes;
    for (const [oldest, { copy }] of entries) {
      if (bytes <= maxBytes || oldest === organizationId) return;
      entries.delete(oldest);
      bytes -= copy.bytes;
    }
  }
}

/** Whether its guardrails were changed, or it was created or deleted. */
function isAbout({ kind, id, organizationId: ownerId }: Change, organizationId: bigint): boolean {
  return (kind === 'guardrail' ? ownerId : kind === 'account' ? id : undefined) === organizationId;
}

function organizationOf({ organizationId }: Change): bigint[] {
  return organizationId == null || organizationId === PLATFORM ? [] : [organizationId];
}

function withStatements(rules: readonly Guardrail[], found: Violations): KnownViolations {
  return new Map(
    rules.flatMap(({ id, statement }) => {
      const violation = found.get(id);
      return violation ? [[id, { ...violation, statement }] as const] : [];
    }),
  );
}

function isSame(one: KnownViolations, other: KnownViolations): boolean {
  return one.size === other.size && [...one].every(([id, violation]) => isSameViolation(violation, other.get(id)));
}

function isSameViolation(one: KnownViolation, other: KnownViolation | undefined): boolean {
  return (
    one.statement === other?.statement &&
    one.total === other.total &&
    one.held === other.held &&
    one.userIds.join() === other.userIds.join()
  );
}

/** What was known about an earlier statement is not about this one. */
function isCurrent(rules: readonly Guardrail[], id: bigint, statement: number): boolean {
  return rules.some((rule) => rule.id === id && rule.statement === statement);
}
