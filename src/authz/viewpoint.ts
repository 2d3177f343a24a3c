import type { Surroundings } from '../rebac/contextual.ts';
import { check } from '../rebac/engine.ts';
import type { Graph } from '../rebac/graph.ts';
import { mayBeOwn } from './judge.ts';
import { nameOf, type ObjectRef } from './object-ref.ts';

/** Who asks, in which organization, about what. */
export interface Asked {
  readonly organizationId: bigint;
  readonly askerId: bigint;
  readonly object: ObjectRef;
}

/** The graph that an object stands in for the one who asks, and what they may see of it. */
export interface Viewpoint {
  readonly graph: Graph;
  /** What is so without standing in any graph. */
  readonly facts: Surroundings;
  /** Whether the one who asks may know of an object such as `team:4`. */
  sees(object: string): boolean;
}

/**
 * The same graph that the judge asks: the organization's, or for what people own themselves their own. What somebody else
 * owns stands in neither, like what does not exist.
 */
export function viewpointOf({ organizationId, askerId, object }: Asked, organization: Graph, own: Graph): Viewpoint {
  const user = `user:${askerId}`;
  const isOwn = mayBeOwn(object) && check(own, { user, relation: 'owner', object: nameOf(object) });
  const graph = isOwn ? own : organization;
  // Said only where it matters: answers remembered with the graph are forgotten for it.
  const facts = object.type === 'user' ? { contextualTuples: [{ user, relation: 'identity', object: user }] } : {};
  return { graph, facts, sees };

  function sees(thing: string): boolean {
    if (thing === user) return true;
    // Nobody else's account has a relation of its own: it is seen as a member is.
    return thing.startsWith('user:')
      ? holds('can_view_members', `organization:${organizationId}`)
      : holds('can_view', thing);
  }

  function holds(relation: string, thing: string): boolean {
    return check(graph, { user, relation, object: thing });
  }
}
