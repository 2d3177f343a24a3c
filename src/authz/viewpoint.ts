import { type CheckQuery, check, type Graph, possibleUsers } from '../../packages/rebac/src/rebac.ts';
import { subjectOfPrincipal } from '../changes/principal.ts';
import type { NowGraphs } from '../history/past.ts';
import { mayBeOwn } from './judge.ts';
import { type AskedObject, nameOf } from './object-ref.ts';
import { assignmentsIn, everywhere, holdingIn, holdsIn, IN_NAMESPACES } from './places/namespaces.ts';

/** Who asks, in which organization, and about which object. */
export interface ViewpointQuery {
  readonly organizationId: bigint;
  readonly callerId: bigint;
  readonly object: AskedObject;
}

/** The graph that contains an object for the caller, and what the caller may see of it. */
export interface Viewpoint {
  readonly graph: Graph;
  /** Whether the object is the caller's own, and belongs to no organization. */
  readonly isOwn: boolean;
  /** The question whether a user holds a relation on the object, in one way or in all, with facts that are in no graph. */
  query(asked: string, relation: string, inAllWays?: boolean): CheckQuery;
  /** Whether a user holds a relation on the object. */
  holds(asked: string, relation: string): boolean;
  /** The subjects that may hold a relation on the object: all users, or all robots. */
  possible(relation: string, filter: string): readonly string[];
  /** Whether the caller may know of an object such as `team:4`. */
  sees(object: string): boolean;
  /** If this is the viewpoint of a past moment: that of the present. */
  readonly now: Viewpoint | undefined;
  /** Whether the object existed at the past moment. About the present, it is not asked. */
  readonly existed: boolean;
}

/**
 * The same graph that the judge queries: the organization's or, for resources that users own themselves, the user's
 * own. What another user owns is in neither, like what does not exist.
 *
 * The past is seen with the eyes of the present: what the caller may not see now is hidden, whatever they saw then. What
 * does not exist any more is visible to readers of the audit log, where it can be read anyway.
 */
export function viewpointOf(
  { organizationId, callerId, object }: ViewpointQuery,
  organization: Graph,
  own: Graph,
  present?: NowGraphs,
): Viewpoint {
  const user = subjectOfPrincipal(callerId);
  const isOwn = mayBeOwn(object) && check(own, { user, relation: 'owner', object: nameOf(object) });
  const graph = isOwn ? own : organization;
  const { namespace } = object;
  const name = nameOf(object);
  const now = present && viewpointOf({ organizationId, callerId, object }, present.first, present.second);
  const existed = !present || isOwn || object.type === 'user' || existsIn(organization, ours(), nameOf(object));
  return { graph, isOwn, query, holds: holdsOn, possible, sees, now, existed };

  /** Only with facts that matter: contextual tuples make the cache forget the answers for the graph. */
  function query(asked: string, relation: string, inAllWays = false): CheckQuery {
    const question = { user: asked, relation, object: name };
    if (object.type === 'user') {
      return { ...question, contextualTuples: [{ user, relation: 'identity', object: user }] };
    }
    if (namespace === undefined) return question;
    const pointer = { relation: 'namespace_assignment', object: name };
    const assignments = holdingIn(graph, question, namespace);
    return {
      ...question,
      relation: everywhere(relation),
      // One is enough for a yes: what is assigned on the cluster comes before what is assigned on its set.
      contextualTuples: (inAllWays ? assignments : assignments.slice(0, 1)).map((one) => ({ user: one, ...pointer })),
    };
  }

  function holdsOn(asked: string, relation: string): boolean {
    if (namespace !== undefined) return holdsIn(graph, { user: asked, relation, object: name }, namespace);
    return check(graph, query(asked, relation));
  }

  function possible(relation: string, filter: string): readonly string[] {
    const { user: _, ...question } = query(user, relation);
    const given = IN_NAMESPACES.get(relation)?.given;
    if (namespace === undefined || given === undefined) return possibleUsers(graph, { ...question, filter });
    const whole = possibleUsers(graph, { object: name, relation: everywhere(relation), filter });
    const some = assignmentsIn(graph, name, namespace).flatMap((assignment) =>
      possibleUsers(graph, { object: assignment, relation: given, filter }),
    );
    return [...new Set([...whole, ...some])];
  }

  function sees(thing: string): boolean {
    if (thing === user) return true;
    if (isPartOfPlace(thing)) return seesPart(present && !isOwn ? present.first : graph, thing);
    if (present && !isOwn) return seesNow(thing, present.first);
    // Another user's account has no relation of its own: it is visible like a member.
    return thing.startsWith('user:') ? holds(graph, 'can_view_members', ours()) : holds(graph, 'can_view', thing);
  }

  function seesNow(thing: string, inOrganization: Graph): boolean {
    if (thing.startsWith('user:')) return holds(inOrganization, 'can_view_members', ours());
    if (holds(inOrganization, 'can_view', thing)) return true;
    const isGone = !existsIn(inOrganization, ours(), thing) && existsIn(organization, ours(), thing);
    return isGone && holds(inOrganization, 'can_view_audit_log', ours());
  }

  /** Assignments are seen with roles, and sets of clusters with their clusters. */
  function seesPart(where: Graph, thing: string): boolean {
    const isSet = thing.startsWith('cluster_set:');
    if (holds(where, isSet ? 'can_view_clusters' : 'can_view_roles', ours())) return true;
    const shown = isSet ? ['view_clusters', 'view_in_namespaces'] : ['can_view'];
    return shown.some((relation) => holds(where, relation, thing));
  }

  function ours(): string {
    return `organization:${organizationId}`;
  }

  function holds(where: Graph, relation: string, thing: string): boolean {
    return check(where, { user, relation, object: thing });
  }
}

/** What only leads from a role to a single object. */
function isPartOfPlace(thing: string): boolean {
  return thing.startsWith('assignment:') || thing.startsWith('cluster_set:');
}

/** Whether an organization such as `organization:9` has something: everything in it has one of these relations to it. */
export function existsIn(graph: Graph, organization: string, thing: string): boolean {
  if (thing === organization) return true;
  // No organization is a part of another one.
  if (thing.startsWith('organization:')) return false;
  const ties = thing.startsWith('team:') ? ['organization', 'owned_by'] : ['organization'];
  return ties.some((relation) => check(graph, { user: organization, relation, object: thing }));
}
