/**
 * Who could do what at a past moment.
 *
 * 1. The past is the present, with the entries of the audit log undone, newest first. Both are read in one snapshot of
 *    the database, so an entry is undone if and only if its change is in what was read.
 * 2. Nothing is answered that might be wrong. An entry that does not fit the state that it left, a row that was made
 *    without an entry, and a restore are walls: moments before them are rejected.
 * 3. The rules are those of today: the model and the catalog of this release, applied to the rows of then.
 * 4. Whoever asks is judged by what they may see now. What does not exist any more is for readers of the audit log.
 */

import { createGraph, type Graph, type Model } from '../../packages/rebac/src/rebac.ts';
import { AppError } from '../base/errors.ts';
import { apart, createYielder, yieldToEventLoop } from '../base/scheduling/slices.ts';
import type { GraphTuple } from '../changes/graph-tuple.ts';
import { kindOf } from '../changes/object-kinds.ts';
import { nameKey } from '../identity/account-names/account-names.ts';
import {
  beforeTheArchived,
  beforeTheLog,
  type Fields,
  type LoggedChange,
  type RelationOf,
  unknownBefore,
} from './logged-change.ts';
import { createPastCache } from './past-cache.ts';
import { formerNames, type Known, namesIn } from './past-names.ts';
import { ADMINISTRATORS, dropEnded, type PastState, type RoleState, stateOf, tuplesOf } from './past-state.ts';
import { CHANGING_ACTIONS, PLATFORM_ACTIONS, touchedBy, undo } from './undo.ts';

/** An entry of the audit log as it is stored. */
export interface ChangeRow {
  readonly id: bigint;
  /** RFC 3339 in UTC. */
  readonly at: string;
  readonly actor: { readonly id: bigint; readonly name: string };
  readonly action: string;
  readonly object: { readonly type: string; readonly id: bigint };
  readonly before: string | null;
  readonly after: string | null;
}

export interface PresentRole {
  readonly id: bigint;
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly { readonly namespace: string; readonly action: string }[];
  readonly teamIds: readonly bigint[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface LogSearch {
  readonly actions: readonly string[];
  /** In the chain of the deployment. */
  readonly platformActions: readonly string[];
  readonly max: number;
}

/** The present of an account, and what happened since a moment, newest first, both as of one moment. */
export interface Recent {
  readonly isOrganization: boolean;
  /** When the first entry of its chain was written. */
  readonly begins: Date | undefined;
  /** When the first entry was written that is kept, of each log that the question needs and that was archived in part. */
  readonly kept: readonly Date[];
  readonly chain: readonly ChangeRow[];
  readonly platform: readonly ChangeRow[];
  /** Rows that are clearly newer than the moment, see `isExplained`. */
  readonly newer: readonly { readonly key: string; readonly at: Date }[];
  readonly count: number;
  readonly tuples: Iterable<GraphTuple>;
  readonly roles: readonly PresentRole[];
  readonly teamNames: ReadonlyMap<bigint, string>;
  /** The IDs of the sets of clusters, by name. */
  readonly setIds: ReadonlyMap<string, string>;
}

export interface PastStore {
  load(accountId: bigint, at: Date, search: LogSearch, extent?: 'with roles'): Promise<Recent | undefined>;
  since(
    organizationId: bigint,
    at: Date,
    search: LogSearch,
    sees: 'organization' | 'everything',
  ): Promise<{ readonly total: number; readonly items: readonly ChangeRow[] }>;
  begins(organizationId: bigint): Promise<Date | undefined>;
  /** When roles were created and last changed, as the log says up to that moment. */
  roleTimes(
    organizationId: bigint,
    at: Date,
    ids: readonly bigint[],
  ): Promise<ReadonlyMap<bigint, { readonly createdAt: Date | null; readonly updatedAt: Date | null }>>;
}

/** The graphs of the present at the time of the question. */
export interface NowGraphs {
  readonly first: Graph;
  readonly second: Graph;
}

type Ask<T> = (first: Graph, second: Graph, now: NowGraphs) => T;

interface PresentGraphs {
  together<T>(one: bigint, other: bigint, ask: (first: Graph, second: Graph) => T): Promise<T>;
}

/** One account at one moment. */
interface Then {
  readonly graph: Graph;
  /** The last names of what has been deleted or renamed since. */
  readonly names: Known;
}

export interface PastRole extends PresentRole {
  /** In the order of the team IDs. */
  readonly teamNames: readonly string[];
}

export interface PastOptions {
  readonly store: PastStore;
  readonly present: PresentGraphs;
  readonly model: Model;
  readonly relationOf: RelationOf;
  readonly maxBytes: number;
}

export type Past = ReturnType<typeof createPast>;
export type PastGraphs = ReturnType<Past['graphsAt']>;

const TUPLES_IN_SLICE = 4_000;
/** Each takes some memory until all are undone. */
const MAX_CHANGES = 50_000;
const SEARCH: LogSearch = { actions: CHANGING_ACTIONS, platformActions: PLATFORM_ACTIONS, max: MAX_CHANGES };
export const MAX_SHOWN = 50;

export function createPast({ store, present, model, relationOf, maxBytes }: PastOptions) {
  const cache = createPastCache<Then>(maxBytes);
  return { graphsAt, rolesAt, since, begins: store.begins };

  /** The same interface as the graphs of the present, so that the same rules can ask. One for each question. */
  function graphsAt(at: Date) {
    const known = new Map<bigint, Promise<Then>>();
    return { at, together, names, personNamed };

    /** With the graphs of the present as well: they decide what the caller may see. */
    async function together<T>(one: bigint, other: bigint, ask: Ask<T>): Promise<T> {
      const first = await then(one);
      const second = await then(other);
      return await present.together(one, other, (firstNow, secondNow) =>
        ask(first.graph, second.graph, { first: firstNow, second: secondNow }),
      );
    }

    /** How objects of the organization were called that have no name any more. */
    async function names(organizationId: bigint): Promise<Known> {
      return (await then(organizationId)).names;
    }

    /** A user who has been deleted since, and who was in the organization or an administrator. */
    async function personNamed(organizationId: bigint, login: string) {
      const key = nameKey(login);
      for (const [object, name] of await names(organizationId)) {
        if (object.startsWith('user:') && nameKey(name) === key) return { id: BigInt(object.slice(5)), name };
      }
      return undefined;
    }

    function then(accountId: bigint): Promise<Then> {
      const found = known.get(accountId) ?? cache.get(accountId, at, () => apart(() => graphOf(accountId, at)));
      known.set(accountId, found);
      return found;
    }
  }

  async function graphOf(accountId: bigint, at: Date): Promise<Then> {
    const { recent, changes, rest, state } = await undone(accountId, at);
    const graph = createGraph(model);
    for (const _ of graph.loadInParts(concat(rest, tuplesOf(state)), recent.count, TUPLES_IN_SLICE))
      await yieldToEventLoop();
    return { graph, names: namesIn(changes) };
  }

  /** The roles of an organization as they were, by ID. */
  async function rolesAt(organizationId: bigint, at: Date): Promise<PastRole[]> {
    const { recent, changes, touched, state } = await undone(organizationId, at, 'with roles');
    const rows = new Map(recent.roles.map((role) => [role.id, role]));
    const former = formerNames(changes);
    const nameOf = (id: bigint) => former.get(`team:${id}`) ?? recent.teamNames.get(id) ?? '';
    const untouched = recent.roles.filter(({ id }) => !touched.has(`role:${id}`));
    const ids = [...state.roles.keys()].map(BigInt);
    const times = await store.roleTimes(organizationId, at, ids);
    const changed = [...state.roles].map(([text, role]) => {
      const id = BigInt(text);
      const { createdAt, updatedAt } = times.get(id) ?? {};
      const created = rows.get(id)?.createdAt ?? createdAt ?? at;
      return roleThen(id, role, rows.get(id), { createdAt: created, updatedAt: updatedAt ?? created });
    });
    return [...untouched, ...changed]
      .sort((one, other) => (one.id < other.id ? -1 : 1))
      .map((role) => ({ ...role, teamNames: role.teamIds.map(nameOf) }));
  }

  /** What happened since, newest first. What administrators of the deployment did is shown only to them. */
  async function since(organizationId: bigint, at: Date, sees: 'organization' | 'everything', max = MAX_SHOWN) {
    return await store.since(organizationId, at, { ...SEARCH, max }, sees);
  }

  /** Everything that is as it is now, and the state of everything else. */
  async function undone(accountId: bigint, at: Date, extent?: 'with roles') {
    const recent = await store.load(accountId, at, SEARCH, extent);
    if (!recent) throw new AppError('notFound', 'organization does not exist', { reason: 'organization_not_found' });
    rejectTooEarly(recent, at);
    const yieldIfDue = createYielder();
    const changes: LoggedChange[] = [];
    for (const row of [...recent.chain, ...recent.platform]) {
      changes.push(readChange(row));
      await yieldIfDue();
    }
    const touched = touchedBy(changes);
    const strangers = unexplained(recent, changes);
    if (strangers.some((key) => key.startsWith('admin:'))) touched.add(ADMINISTRATORS);
    const rest: GraphTuple[] = [];
    const undoing: GraphTuple[] = [];
    for (const tuple of recent.tuples) {
      (touched.has(tuple.source) ? undoing : rest).push(tuple);
      if ((rest.length + undoing.length) % TUPLES_IN_SLICE === 0) await yieldIfDue();
    }
    const state = stateOf(accountId, recent.isOrganization ? 'organization' : 'owner', undoing, recent.setIds);
    for (const change of changes) {
      undo(state, change, relationOf);
      await yieldIfDue();
    }
    dropEnded(state, at);
    return { recent, changes, touched, rest: without(strangers, rest, state), state };
  }
}

function rejectTooEarly({ isOrganization, begins, kept, chain, platform }: Recent, at: Date): void {
  const latest = kept.toSorted((one, other) => other.getTime() - one.getTime())[0];
  if (latest && at < latest) throw beforeTheArchived(latest.toISOString());
  if (isOrganization && begins === undefined) {
    throw new AppError('invalid', 'the audit log of the organization is empty, so nothing is known about its past', {
      reason: 'before_audit_log',
    });
  }
  if (isOrganization && begins !== undefined && at < begins) throw beforeTheLog(begins.toISOString());
  const [first] = [chain, platform].filter(({ length }) => length > MAX_CHANGES);
  const last = first?.[MAX_CHANGES - 1];
  if (last) throw unknownBefore(last, `more than ${MAX_CHANGES.toLocaleString('en')} changes were made since`);
}

/**
 * Rows that were made after the moment without an entry did not exist then. Users get their first token like that, and a
 * new deployment its first administrator. In an organization it must not happen, so nothing is known before it.
 */
function unexplained({ isOrganization, newer }: Recent, changes: readonly LoggedChange[]): string[] {
  const explained = new Set(changes.flatMap(explains));
  const strangers = newer.filter(({ key }) => !explained.has(key));
  const wrong = isOrganization ? strangers.filter(({ key }) => !key.startsWith('admin:')) : [];
  const latest = wrong.sort((one, other) => other.at.getTime() - one.at.getTime())[0];
  if (latest) throw unknownBefore({ at: latest.at.toISOString() }, `${latest.key} was made without an entry`);
  return strangers.map(({ key }) => key);
}

/** What an entry says about the rows that it made, by the keys of the store. */
function explains({ action, objectType, objectId, after }: LoggedChange): string[] {
  if (action === 'team.add_member') return [`member:${objectId}:${after.userId}`];
  if (objectType === 'user') return [`admin:${objectId}`];
  const made = action.endsWith('.create') ? [`${kindOf(objectType)?.word ?? objectType}:${objectId}`] : [];
  if (action === 'assignment.create') return [...made, `assigned:${after.roleId}`];
  return objectType === 'role' ? [...made, `assigned:${objectId}`] : made;
}

function without(strangers: readonly string[], rest: readonly GraphTuple[], state: PastState): readonly GraphTuple[] {
  if (strangers.length === 0) return rest;
  for (const key of strangers) {
    if (key.startsWith('admin:')) state.administrators.delete(key.slice('admin:'.length));
    state.resources.delete(key);
  }
  const gone = new Set(strangers);
  return rest.filter(({ source }) => !gone.has(source));
}

function roleThen(
  id: bigint,
  { described, teams }: RoleState,
  row: PresentRole | undefined,
  times: Pick<PresentRole, 'createdAt' | 'updatedAt'>,
): PresentRole {
  const { name, description, permissions } = described ?? row ?? { name: '', description: '', permissions: [] };
  const teamIds = [...teams].map(BigInt).sort((one, other) => (one < other ? -1 : 1));
  return { id, name, description, permissions, teamIds, ...times };
}

function readChange({ at, action, object, before, after }: ChangeRow): LoggedChange {
  const common = { at, action, objectType: object.type, objectId: String(object.id) };
  return { ...common, before: readState(before), after: readState(after) };
}

export function readState(text: string | null): Fields {
  const state: unknown = text === null ? {} : JSON.parse(text);
  return typeof state === 'object' && state !== null ? (state as Fields) : {};
}

function* concat<T>(...parts: Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
}
