import { check, createGraph, type Graph, type Model } from '../../../packages/rebac/src/rebac.ts';
import { AppError } from '../../base/errors.ts';
import { endsBefore } from '../../base/expiry.ts';
import { createYielder } from '../../base/scheduling/slices.ts';
import { principalOfRobot, subjectOfPrincipal } from '../../changes/principal.ts';
import { describePermission, heldBy, type Joining, type RoleGrant } from '../escalation.ts';
import type { Graphs, GraphTuple } from '../graphs.ts';
import type { Judge } from '../judge.ts';
import { idOf, type ObjectRef } from '../object-ref.ts';
import { assignmentsIn } from './namespaces.ts';
import { type Place, relationOn } from './places.ts';

/** What an assignment gives on a place. */
export interface Gift {
  /** Of the assignment. Undefined for one that does not exist yet. */
  readonly id?: bigint;
  readonly place: Place;
  /** All permissions of the role. Those that do not concern the place give nothing. */
  readonly grants: readonly RoleGrant[];
  /** When it ends; null for never. */
  readonly until: Date | null;
}

export interface HeldPlaceStore {
  /** What a user or robot holds through in an organization and what ends before this moment, as tuples. Null: at any time. */
  endingBefore(
    organizationId: bigint,
    personId: bigint,
    moment: Date | null,
  ): Promise<readonly Pick<GraphTuple, 'object' | 'relation' | 'user'>[]>;
  /** What a team has on single objects. */
  ofTeam(teamId: bigint): Promise<Gift[]>;
  /** What a robot has, on the organization and on single objects. */
  ofRobot(robotId: bigint): Promise<Gift[]>;
  /** The assignments on a set of clusters. */
  ofSet(organizationId: bigint, name: string): Promise<{ readonly id: bigint | undefined; readonly gifts: Gift[] }>;
}

export interface NotHeld {
  readonly gift: Gift;
  readonly permission: RoleGrant;
}

const TUPLES_IN_PART = 1_000;

export type HeldPlaces = ReturnType<typeof createHeldPlaces>;

/**
 * No caller gives more than they hold, at that place and until that time. What ends before the gift does is held by a
 * caller who would still hold it without everything that ends earlier.
 */
export function createHeldPlaces(
  judge: Pick<Judge, 'allowed' | 'holds'>,
  graphs: Pick<Graphs, 'eachTuple' | 'of'>,
  store: HeldPlaceStore,
  model: Model,
) {
  return { notHeld, rejectGiving, rejectGivingOfRobot, givingOfTeam, ofSet: store.ofSet, ofTeam: store.ofTeam };

  async function rejectGiving(personId: bigint, organizationId: bigint, gifts: readonly Gift[]): Promise<void> {
    const missing = await notHeld(personId, organizationId, gifts);
    if (missing.length > 0) throw givesMore(missing);
  }

  /** A token of a robot can do what the robot can. A robot may replace its own: it gives nothing to another caller. */
  async function rejectGivingOfRobot(personId: bigint, organizationId: bigint, robotId: bigint): Promise<void> {
    if (personId === principalOfRobot(robotId)) return;
    await rejectGiving(personId, organizationId, await store.ofRobot(robotId));
  }

  /** A membership gives what the team has, but no longer than it lasts. */
  async function givingOfTeam(personId: bigint, organizationId: bigint, joining: Joining) {
    const gifts = givenWith(await store.ofTeam(joining.teamId), joining);
    const missing = await notHeld(personId, organizationId, gifts);
    const words = (id: bigint | undefined) =>
      missing.filter(({ gift }) => gift.id === id).map(({ permission }) => describePermission(permission));
    return new Map(gifts.flatMap(({ id }) => (id === undefined ? [] : [[id, words(id)] as const])));
  }

  /** The permissions that the user does not hold there, or not for as long. */
  async function notHeld(personId: bigint, organizationId: bigint, gifts: readonly Gift[]): Promise<NotHeld[]> {
    const held = await heldBy(judge, personId, organizationId);
    const missing: NotHeld[] = [];
    const kept = new Map<number, NotHeld[]>();
    for (const gift of gifts) {
      for (const permission of gift.grants) {
        if (relationOn(gift.place, permission.relation) === undefined) continue;
        if (!(await holdsNow(personId, organizationId, gift.place, permission, held))) {
          missing.push({ gift, permission });
          continue;
        }
        const until = gift.until?.getTime() ?? Number.POSITIVE_INFINITY;
        kept.set(until, [...(kept.get(until) ?? []), { gift, permission }]);
      }
    }
    for (const some of kept.values()) missing.push(...(await endingEarlier(personId, organizationId, some)));
    return missing;
  }

  async function holdsNow(
    personId: bigint,
    organizationId: bigint,
    place: Place,
    { relation }: RoleGrant,
    held: ReadonlySet<string>,
  ): Promise<boolean> {
    const there = relationOn(place, relation);
    if (place.type === 'organization' || place.type === 'cluster_set') {
      if (held.has(relation)) return true;
    }
    if (place.type === 'organization' || place.id === undefined || there === undefined) return false;
    const object = { type: place.type, id: place.id };
    if (await judge.holds(personId, organizationId, there, object)) return true;
    return await holdsInNamespaces(personId, organizationId, object, relation, place.namespaces ?? []);
  }

  /** In each of them, which may be a prefix, through an assignment that has at least these namespaces. */
  async function holdsInNamespaces(
    personId: bigint,
    organizationId: bigint,
    object: ObjectRef,
    relation: string,
    namespaces: readonly string[],
  ): Promise<boolean> {
    for (const namespace of namespaces) {
      const assignments = assignmentsIn(await graphs.of(organizationId), `${object.type}:${object.id}`, namespace);
      let isHeld = false;
      for (const assignment of assignments) {
        const there = { type: 'assignment', id: idOf(assignment) } as const;
        isHeld ||= await judge.holds(personId, organizationId, inAssignment(relation), there);
      }
      if (!isHeld) return false;
    }
    return namespaces.length > 0;
  }

  /** All of them have the same end. */
  async function endingEarlier(personId: bigint, organizationId: bigint, some: readonly NotHeld[]): Promise<NotHeld[]> {
    const ending = await store.endingBefore(organizationId, personId, some[0]?.gift.until ?? null);
    if (ending.length === 0) return [];
    const tuples: GraphTuple[] = [];
    await graphs.eachTuple(organizationId, (tuple) => tuples.push(tuple));
    const graph = await withoutTuples(createGraph(model), tuples, ending);
    const user = subjectOfPrincipal(personId);
    const holds = (relation: string, object: string) => check(graph, { user, relation, object });
    return some.filter(({ gift: { place }, permission: { relation } }) => {
      const there = relationOn(place, relation);
      const isOnAll = place.type === 'organization' || place.type === 'cluster_set';
      if (isOnAll && holds(relation, `organization:${organizationId}`)) return false;
      if (place.type === 'organization' || place.id === undefined || there === undefined) return true;
      const object = `${place.type}:${place.id}`;
      if (holds(there, object)) return false;
      const { namespaces } = place;
      if (!namespaces) return true;
      const isHeldIn = (namespace: string) =>
        assignmentsIn(graph, object, namespace).some((assignment) => holds(inAssignment(relation), assignment));
      return !namespaces.every(isHeldIn);
    });
  }
}

/** What a team has on single objects is given no longer than the membership lasts. */
export function givenWith(gifts: readonly Gift[], { until }: Pick<Joining, 'until'>): Gift[] {
  return gifts.map((gift) => ({ ...gift, until: endsBefore(until, gift.until) ? until : gift.until }));
}

type Stated = Pick<GraphTuple, 'object' | 'relation' | 'user'>;

/** An organization without what ends. */
export async function withoutTuples(
  graph: Graph,
  tuples: readonly GraphTuple[],
  gone: readonly Stated[],
): Promise<Graph> {
  const keys = new Set(gone.map(keyOf));
  const kept = tuples.filter((tuple) => !keys.has(keyOf(tuple)));
  const yieldIfDue = createYielder();
  for (const _ of graph.loadInParts(kept, kept.length, TUPLES_IN_PART)) await yieldIfDue();
  return graph;
}

/** What an assignment calls a relation of the organization. In namespaces, `view clusters` is what is about them. */
export function inAssignment(relation: string): string {
  return relation === 'can_view_clusters' ? 'view_in_namespaces' : relation.slice('can_'.length);
}

function keyOf({ object, relation, user }: Stated): string {
  return `${object} ${relation} ${user}`;
}

export function givesMore(missing: readonly NotHeld[]): AppError {
  const names = [...new Set(missing.map(({ permission }) => describePermission(permission)))];
  const message = `you cannot grant what you do not hold yourself, there and for as long: ${names.join(', ')}`;
  return new AppError('forbidden', message, { reason: 'escalation' });
}
