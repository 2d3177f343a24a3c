/**
 * Who could do what at a past moment.
 *
 * 1. The past is the present, with the entries of the audit log undone, newest first. Both are read in one snapshot of
 *    the database, so an entry is undone if and only if its change is in what was read.
 * 2. Nothing is answered that might be wrong. An entry that does not fit the state that it left, a row that was made
 *    without an entry, and a restore are walls: moments before them are rejected.
 * 3. The rules are those of today: the model and the catalog of this release, applied to the rows of then.
 * 4. Callers are judged by what they may see now. What does not exist any more is for readers of the audit log.
 */

import { createGraph, type Graph, type Model } from '../../packages/rebac/src/rebac.ts';
import { AppError } from '../base/errors.ts';
import { apart, createYielder, yieldToEventLoop } from '../base/scheduling/slices.ts';
import type { GraphTuple } from '../changes/graph-tuple.ts';
import { nameKey } from '../identity/account-names/account-names.ts';
import type { RelationOf } from './logged-change.ts';
import { createPastCache } from './past-cache.ts';
import { formerNames, type Known, namesIn } from './past-names.ts';
import { ADMINISTRATORS, dropEnded, type PastState, type RoleState, stateOf, tuplesOf } from './past-state.ts';
import { type ChangeRow, type LogSearch, MAX_CHANGES, type RecentLog, readRecentLog } from './recent-log.ts';
import { CHANGING_ACTIONS, PLATFORM_ACTIONS, touchedBy, undo } from './undo.ts';

export interface PresentRole {
  readonly id: bigint;
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly { readonly namespace: string; readonly action: string }[];
  readonly teamIds: readonly bigint[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The present of an account, and what happened since a moment, newest first, both as of one moment. */
export interface Recent extends RecentLog {
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
    const { changes, strangers } = await readRecentLog(recent, at);
    const yieldIfDue = createYielder();
    const touched = touchedBy(changes);
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

function* concat<T>(...parts: Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
}
