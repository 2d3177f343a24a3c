import { allowed, check } from '../rebac/engine.ts';
import type { Graph } from '../rebac/graph.ts';
import type { Graphs } from './graphs.ts';

/** The kinds of objects that a caller may ask about. */
export const OBJECT_TYPES = ['user', 'organization', 'team', 'cluster', 'contract', 'robot_ac', 'token'] as const;
export type ObjectType = (typeof OBJECT_TYPES)[number];

export interface ObjectRef {
  readonly type: ObjectType | 'role';
  readonly id: bigint;
}

export type Judge = ReturnType<typeof createJudge>;

const SHOWN = { prefix: 'can_' };

/** Answers who may do what, for one organization at one moment. */
export function createJudge(graphs: Pick<Graphs, 'of' | 'together'>) {
  return { allowed: allowedOn, holds };

  /** The relations that a person holds on each object, in the order of the model; for the whole batch at one moment. */
  async function allowedOn(
    personId: bigint,
    organizationId: bigint,
    objects: readonly ObjectRef[],
  ): Promise<string[][]> {
    const user = `user:${personId}`;
    if (!objects.some(mayBeOwn)) return answers(await graphs.of(organizationId), undefined);
    return await graphs.together(organizationId, personId, answers);

    function answers(graph: Graph, own: Graph | undefined): string[][] {
      return objects.map((object) => {
        if (object.type === 'user') return onThemselves(graph, user);
        const name = nameOf(object);
        const found = allowed(graph, user, name, SHOWN);
        return found.length === 0 && own && mayBeOwn(object) ? allowed(own, user, name, SHOWN) : found;
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
}

export function nameOf({ type, id }: ObjectRef): string {
  return `${type}:${id}`;
}

/** What people own themselves stands in no organization's graph, but in their own. */
function mayBeOwn({ type }: ObjectRef): boolean {
  return type === 'cluster' || type === 'contract' || type === 'robot_ac' || type === 'token';
}

function onThemselves(graph: Graph, user: string): string[] {
  return allowed(graph, user, user, { ...SHOWN, contextualTuples: [{ user, relation: 'identity', object: user }] });
}
