import { isPersonal } from '../changes/object-kinds.ts';
import { check } from '../rebac/engine.ts';
import type { Graph } from '../rebac/graph.ts';
import { listObjects } from '../rebac/list-objects.ts';
import { createAnswerCache } from './answer-cache.ts';
import type { Graphs } from './graphs.ts';
import { nameOf, type ObjectRef } from './object-ref.ts';

export type Judge = ReturnType<typeof createJudge>;

/** A value that is known already, or a promise of it. */
export type Soon<T> = T | Promise<T>;

/** Decides who may do what, for one organization at one moment. */
export function createJudge(graphs: Pick<Graphs, 'of' | 'now' | 'together' | 'togetherNow'>) {
  const memory = createAnswerCache();
  return { allowed: allowedOn, holds, objects };

  /**
   * The relations that a user holds on each object, in the order of the model; for the whole batch at one moment.
   * Returns without a promise if the graphs are known.
   */
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

  async function holds(
    personId: bigint,
    organizationId: bigint,
    relation: string,
    object: ObjectRef,
  ): Promise<boolean> {
    const graph = await graphs.of(organizationId);
    return check(graph, { user: `user:${personId}`, relation, object: nameOf(object) });
  }

  /** The IDs of all objects of an organization that have this type and on which a user holds the relation. */
  async function objects(
    personId: bigint,
    organizationId: bigint,
    relation: string,
    type: ObjectRef['type'],
  ): Promise<bigint[]> {
    const found = listObjects(await graphs.of(organizationId), { user: `user:${personId}`, relation, type });
    return found.map((object) => BigInt(object.slice(type.length + 1)));
  }
}

/** Whether the object can be the user's own. It is then in the user's own graph. */
export function mayBeOwn({ type }: ObjectRef): boolean {
  return isPersonal(type);
}
