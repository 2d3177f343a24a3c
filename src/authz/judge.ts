import { createPace } from '../base/slices.ts';
import { isPersonal } from '../changes/object-kinds.ts';
import { check } from '../rebac/engine.ts';
import type { Graph } from '../rebac/graph.ts';
import { possibleObjects } from '../rebac/list-objects.ts';
import { createAnswerCache } from './answer-cache.ts';
import type { Graphs } from './graphs.ts';
import { nameOf, type ObjectRef } from './object-ref.ts';

/** A value that is known already, or a promise of it. */
export type Soon<T> = T | Promise<T>;

/**
 * Decides who may do what, in the graph of one account: an organization, or a user with the resources they own. Every
 * decision of the server comes from here. There are two judges: the engine in this process, and an OpenFGA server
 * (openfga/openfga-judge.ts).
 */
export interface Judge {
  /**
   * The relations that a user holds on each object, in the order of the model; for the whole batch at one moment. What
   * is not in the organization may be the user's own. Returns without a promise if the answer is at hand.
   */
  allowed(personId: bigint, organizationId: bigint, objects: readonly ObjectRef[]): Soon<(readonly string[])[]>;
  holds(personId: bigint, accountId: bigint, relation: string, object: ObjectRef): Promise<boolean>;
  /**
   * The IDs of all objects of an account that have this type and on which a user holds the relation. There can be tens
   * of thousands, so others are served in between. Each answer is exact as of a moment after the call.
   */
  objects(personId: bigint, accountId: bigint, relation: string, type: ObjectRef['type']): Promise<bigint[]>;
}

/** The engine in this process. */
export function createJudge(graphs: Pick<Graphs, 'of' | 'now' | 'together' | 'togetherNow'>): Judge {
  const memory = createAnswerCache();
  return { allowed: allowedOn, holds, objects };

  function allowedOn(
    personId: bigint,
    organizationId: bigint,
    objects: readonly ObjectRef[],
  ): Soon<(readonly string[])[]> {
    if (!objects.some(mayBeOwn)) {
      const graph = graphs.now(organizationId);
      return graph ? answers(graph, undefined) : graphs.of(organizationId).then((loaded) => answers(loaded, undefined));
    }
    const pair = graphs.togetherNow(organizationId, personId);
    return pair ? answers(...pair) : graphs.together(organizationId, personId, answers);

    function answers(graph: Graph, own: Graph | undefined): (readonly string[])[] {
      return objects.map((object) => {
        const found = memory.ask(graph, personId, object);
        return found.length === 0 && own && mayBeOwn(object) ? memory.ask(own, personId, object) : found;
      });
    }
  }

  async function holds(personId: bigint, accountId: bigint, relation: string, object: ObjectRef): Promise<boolean> {
    const graph = await graphs.of(accountId);
    return check(graph, { user: `user:${personId}`, relation, object: nameOf(object) });
  }

  async function objects(personId: bigint, accountId: bigint, relation: string, type: ObjectRef['type']) {
    const pace = createPace();
    const user = `user:${personId}`;
    const graph = await graphs.of(accountId);
    const found: bigint[] = [];
    for (const object of possibleObjects(graph, { user, relation, type })) {
      if (check(graph, { user, relation, object })) found.push(BigInt(object.slice(type.length + 1)));
      await pace();
    }
    return found;
  }
}

/** Whether the object can be the user's own. It is then in the user's own graph. */
export function mayBeOwn({ type }: ObjectRef): boolean {
  return isPersonal(type);
}
