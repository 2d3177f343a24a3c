/**
 * Checks the guardrails inside every transaction that changes who may do what.
 *
 * 1. It runs last in the transaction, while the row of the revision is locked. So no other transaction writes, on any
 *    replica, between what it reads and the commit. It takes no lock that a writer could hold while it waits for that
 *    row. What takes seconds in a large organization, loading its copy, is done before the lock, so other writes do not
 *    wait.
 * 2. It keeps its own copy of each organization, and patches it with what the transaction wrote. If the transaction is
 *    rejected here, the patch is taken back. If it fails later, the copy is of a moment that the database has never been
 *    through, and the next writer loads it again. A copy is of one transaction at a time.
 * 3. What did not hold before the transaction is in the database, written by the transaction before. So a change is
 *    rejected only for what it violates itself, whichever replica made the other violations.
 * 4. A change that leaves a violation as it was, or makes it smaller, passes. So does a fact: a violation is noted then.
 */

import type { Model } from '../../packages/rebac/src/rebac.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import type { GraphTuple } from '../changes/graph-tuple.ts';
import type { Moment } from '../changes/revision.ts';
import { type Change, PLATFORM, type Query, type WriteGuard, type Written } from '../changes/write.ts';
import { copyFrom, type OrganizationCopy, type Undo } from '../simulation/organization-copy.ts';
import type { Guardrail, Violation, Violations } from './guardrail.ts';
import { ignoreDeletedUsers, newViolations, rejectionOf, toldOf, viewOf } from './new-violations.ts';
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
  guardrails(query: Query, organizationIds: readonly bigint[]): Promise<Guardrail[]>;
  /** Organizations with a guardrail that names one of these users, or a team that they are in. */
  organizationsNaming(query: Query, userIds: readonly bigint[]): Promise<bigint[]>;
  load(query: Query, organizationId: bigint): Promise<Moment & { tuples: Iterable<GraphTuple> }>;
  /** Whether all changes since a moment are still known. */
  continues(query: Query, since: Moment): Promise<boolean>;
  /** What was written since a moment. */
  patch(written: Written, organizationId: bigint, since: Moment): Promise<GuardPatch>;
  violations(query: Query, organizationId: bigint): Promise<KnownViolations>;
  keepViolations(query: Query, organizationId: bigint, violations: KnownViolations): Promise<void>;
  living(query: Query, userIds: readonly bigint[]): Promise<bigint[]>;
  names(query: Query, objects: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** The copy of one organization as of a moment, and what did not hold then. */
interface Entry extends Moment {
  readonly copy: OrganizationCopy;
  /** Undefined right after loading. */
  readonly known: KnownViolations | undefined;
  /** When it was used last, in milliseconds. */
  readonly usedAt: number;
}

const MAX_ORGANIZATIONS = 10_000;
/** An entry that was used within this time is taken to be patchable. If it is not, it is loaded under the lock. */
const FRESH_MS = 60_000;

export function createWriteGuard(store: WriteGuardStore, model: Model, maxBytes: number): WriteGuard {
  const entries = new Map<bigint, Entry>();
  /** Of those organizations that were written to since a guardrail changed anywhere. */
  let guardrails = new Map<bigint, readonly Guardrail[]>();
  let guardrailsStamp = '';
  /** Organizations whose copy a transaction is loading before its lock. */
  const preparing = new Map<bigint, Promise<void>>();
  /** Copies that a transaction is working on. If it has lost its lock, another one may write before it finds out. */
  const inUse = new Set<OrganizationCopy>();

  return async (query, touched) => {
    const prepared = await prepare(query, new Set(touched.flatMap(organizationOf)));
    return async (written) => {
      if (written.guardrails !== guardrailsStamp || guardrails.size > MAX_ORGANIZATIONS) {
        guardrails = new Map();
        guardrailsStamp = written.guardrails;
      }
      const organizationIds = await organizationsOf(written);
      const changed = new Set(written.touched.flatMap(changedGuardrailsOf));
      const rules = await rulesUnderLock(written.query, organizationIds, changed);
      const yieldIfDue = createYielder();
      for (const id of organizationIds) {
        await inspect(written, id, rules.get(id) ?? [], changed.has(id), prepared.get(id));
        await yieldIfDue();
      }
    };
  };

  /** A user can be in ten thousand organizations, so the guardrails that are not known are read together. */
  async function rulesUnderLock(query: Query, organizationIds: ReadonlySet<bigint>, changed: ReadonlySet<bigint>) {
    // What this transaction itself has changed counts only once it has committed.
    for (const id of changed) guardrails.delete(id);
    const unknown = [...organizationIds].filter((id) => !guardrails.has(id));
    const read = unknown.length === 0 ? [] : await store.guardrails(query, unknown);
    const found = Map.groupBy(read, ({ organizationId }) => organizationId);
    for (const id of unknown) if (!changed.has(id)) guardrails.set(id, found.get(id) ?? []);
    return new Map([...organizationIds].map((id) => [id, guardrails.get(id) ?? found.get(id)]));
  }

  /** Loads the copies that are not known yet. Each is of this transaction alone until it commits. */
  async function prepare(query: Query, organizationIds: ReadonlySet<bigint>): Promise<Map<bigint, Entry>> {
    const prepared = new Map<bigint, Entry>();
    const unknown: bigint[] = [];
    for (const id of organizationIds) if (!(await isKnown(query, id))) unknown.push(id);
    const rules = unknown.length === 0 ? [] : await store.guardrails(query, unknown);
    for (const [id, ofOne] of Map.groupBy(rules, ({ organizationId }) => organizationId)) {
      // A transaction that comes second waits, and finds the copy of the first one under the lock.
      const first = preparing.get(id);
      if (first) await first;
      else await prepareOne(query, id, ofOne, prepared);
    }
    return prepared;
  }

  async function isKnown(query: Query, organizationId: bigint): Promise<boolean> {
    const entry = entries.get(organizationId);
    if (!entry) return guardrails.get(organizationId)?.length === 0;
    return performance.now() - entry.usedAt < FRESH_MS || (await store.continues(query, entry));
  }

  async function prepareOne(
    query: Query,
    organizationId: bigint,
    rules: readonly Guardrail[],
    prepared: Map<bigint, Entry>,
  ): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    preparing.set(organizationId, promise);
    try {
      const entry = await load(query, organizationId);
      // The copy remembers these answers, so the check under the lock does not ask the engine for them again.
      await violationsAmong(entry.copy, rules);
      prepared.set(organizationId, entry);
    } finally {
      preparing.delete(organizationId);
      resolve();
    }
  }

  async function organizationsOf({ query, touched }: Written): Promise<Set<bigint>> {
    const found = new Set(touched.flatMap(organizationOf));
    if (!touched.some(({ organizationId }) => organizationId === PLATFORM)) return found;
    // A user who becomes a site administrator, or was one, matters only where a guardrail is about them.
    const people = touched.flatMap(({ kind, id }) => (kind === 'account' ? [id] : []));
    for (const id of await store.organizationsNaming(query, people)) found.add(id);
    return found;
  }

  async function inspect(
    written: Written,
    organizationId: bigint,
    rules: readonly Guardrail[],
    isChanged: boolean,
    prepared: Entry | undefined,
  ): Promise<void> {
    const { query } = written;
    if (rules.length === 0) {
      entries.delete(organizationId);
      if (isChanged) await store.keepViolations(query, organizationId, new Map());
      return;
    }
    const kept = prepared ?? entries.get(organizationId);
    const entry = kept && !inUse.has(kept.copy) ? kept : undefined;
    if (entry) inUse.add(entry.copy);
    try {
      await inspectCopy(written, organizationId, rules, entry);
    } finally {
      if (entry) inUse.delete(entry.copy);
    }
  }

  async function inspectCopy(
    written: Written,
    organizationId: bigint,
    rules: readonly Guardrail[],
    entry: Entry | undefined,
  ): Promise<void> {
    const { query } = written;
    const { copy, undo, known } = await copyNow(written, organizationId, entry);
    try {
      const found = await ignoreDeletedUsers(rules, await violationsAmong(copy, rules), (ids) =>
        store.living(query, ids),
      );
      const before = known ?? (await store.violations(query, organizationId));
      if (!written.isFact) await rejectNew(written, copy, rules, before, found);
      const after = withStatements(rules, found);
      if (!isSame(before, after)) await store.keepViolations(query, organizationId, after);
      const { revision, stamp } = written;
      remember(organizationId, { copy, known: after, revision, stamp, usedAt: performance.now() });
    } catch (error) {
      for (const back of undo.reverse()) back();
      throw error;
    }
  }

  /** The copy as of this transaction, and what did not hold before it, if that is known. */
  async function copyNow(written: Written, organizationId: bigint, entry: Entry | undefined) {
    const patch = entry && (await store.patch(written, organizationId, entry));
    if (!entry || !patch || patch.isUseless) {
      entries.delete(organizationId);
      const { copy } = await load(written.query, organizationId);
      return { copy, undo: [] as Undo[], known: undefined };
    }
    const undo: Undo[] = [];
    try {
      await applyPatch(entry.copy, patch, undo);
    } catch (error) {
      // Only a part of the patch is in the copy.
      entries.delete(organizationId);
      throw error;
    }
    // Other transactions that have written since may have written what does not hold, too.
    const isNext = entry.revision === written.revision - 1n;
    return { copy: entry.copy, undo, known: isNext ? entry.known : undefined };
  }

  async function load(query: Query, organizationId: bigint): Promise<Entry> {
    const { tuples, revision, stamp } = await store.load(query, organizationId);
    const copy = await copyFrom(model, tuples);
    return { copy, known: undefined, revision, stamp, usedAt: performance.now() };
  }

  async function rejectNew(
    { query, actor }: Written,
    copy: OrganizationCopy,
    rules: readonly Guardrail[],
    before: KnownViolations,
    found: Violations,
  ): Promise<void> {
    const enforced = rules.filter(({ enforce }) => enforce);
    const earlier = new Map([...before].filter(([id, { statement }]) => isCurrent(enforced, id, statement)));
    const [first] = newViolations(enforced, earlier, found);
    if (!first) return;
    const { organizationId } = first.rule;
    const sees = viewOf(copy, organizationId, actor?.id);
    throw rejectionOf(await toldOf(first, sees, (objects) => store.names(query, objects)));
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

async function applyPatch(copy: OrganizationCopy, { sources, tuples }: GuardPatch, undo: Undo[]): Promise<void> {
  const yieldIfDue = createYielder();
  const bySource = new Map(sources.map((source) => [source, [] as GraphTuple[]]));
  for (const tuple of tuples) bySource.get(tuple.source)?.push(tuple);
  for (const [source, stated] of bySource) {
    const replacing = copy.replacing(source, stated);
    let step = replacing.next();
    while (!step.done) {
      const rest = yieldIfDue();
      if (rest) await rest;
      step = replacing.next();
    }
    if (step.value) undo.push(step.value);
  }
}

/** The organization whose guardrails were changed, or that was created or deleted. */
function changedGuardrailsOf({ kind, id, organizationId }: Change): bigint[] {
  if (kind === 'account') return [id];
  return kind === 'guardrail' && organizationId != null ? [organizationId] : [];
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
