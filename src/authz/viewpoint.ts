import type { Surroundings } from '../rebac/contextual.ts';
import { check } from '../rebac/engine.ts';
import type { Graph } from '../rebac/graph.ts';
import { mayBeOwn } from './judge.ts';
import { nameOf, type ObjectRef } from './object-ref.ts';

/** Who asks, in which organization, and about which object. */
export interface ViewpointQuery {
  readonly organizationId: bigint;
  readonly callerId: bigint;
  readonly object: ObjectRef;
}

/** The graph that contains an object for the caller, and what the caller may see of it. */
export interface Viewpoint {
  readonly graph: Graph;
  /** Whether the object is the caller's own, and belongs to no organization. */
  readonly isOwn: boolean;
  /** Facts that are in no graph. */
  readonly facts: Surroundings;
  /** Whether the caller may know of an object such as `team:4`. */
  sees(object: string): boolean;
}

/**
 * The same graph that the judge queries: the organization's or, for resources that users own themselves, the user's
 * own. What another user owns is in neither, like what does not exist.
 */
export function viewpointOf(
  { organizationId, callerId, object }: ViewpointQuery,
  organization: Graph,
  own: Graph,
): Viewpoint {
  const user = `user:${callerId}`;
  const isOwn = mayBeOwn(object) && check(own, { user, relation: 'owner', object: nameOf(object) });
  const graph = isOwn ? own : organization;
  // Added only if it matters: contextual tuples make the cache forget the answers for the graph.
  const facts = object.type === 'user' ? { contextualTuples: [{ user, relation: 'identity', object: user }] } : {};
  return { graph, isOwn, facts, sees };

  function sees(thing: string): boolean {
    if (thing === user) return true;
    // Another user's account has no relation of its own: it is visible like a member.
    return thing.startsWith('user:')
      ? holds('can_view_members', `organization:${organizationId}`)
      : holds('can_view', thing);
  }

  function holds(relation: string, thing: string): boolean {
    return check(graph, { user, relation, object: thing });
  }
}
