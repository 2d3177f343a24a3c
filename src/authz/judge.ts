import { allowed, check, type Graph, possibleObjects } from '../../packages/rebac/src/rebac.ts';
import { createSlices, createYielder } from '../base/scheduling/slices.ts';
import { isPersonal } from '../changes/object-kinds.ts';
import { subjectOfPrincipal } from '../changes/principal.ts';
import { type Ask, createObjectAnswers } from './alike-answers.ts';
import { createAnswerCache } from './answer-cache.ts';
import type { Graphs } from './graphs.ts';
import { type AskedObject, nameOf, type ObjectRef } from './object-ref.ts';
import { inOneMoment } from './one-moment.ts';
import { allowedIn } from './places/namespaces.ts';

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
  allowed(personId: bigint, organizationId: bigint, objects: readonly AskedObject[]): Soon<(readonly string[])[]>;
  holds(personId: bigint, accountId: bigint, relation: string, object: AskedObject): Promise<boolean>;
  /**
   * The IDs of all objects of an account that have this type and on which a user holds the relation. There can be tens
   * of thousands, so other requests are served in between. Each answer is exact as of a moment after the call. If only
   * `most` of them are wanted, the judge can stop there.
   */
  objects(
    personId: bigint,
    accountId: bigint,
    relation: string,
    type: ObjectRef['type'],
    most?: number,
  ): Promise<bigint[]>;
  /** Absent if no answer is ever in memory. */
  readonly atHand?: JudgeAtHand;
}

/**
 * The same answers about one object, without waiting and without promises: undefined if the graph is not in memory, or
 * not exact. Most requests ask a single question, and promises take longer than its answer.
 */
export interface JudgeAtHand {
  allowed(personId: bigint, organizationId: bigint, object: AskedObject): readonly string[] | undefined;
  holds(personId: bigint, accountId: bigint, relation: string, object: AskedObject): boolean | undefined;
}

const SHOWN = { prefix: 'can_' };
/** So few are asked about without a look at the clock. */
const FEW_OBJECTS = 4;

/** The engine in this process. */
export function createJudge(graphs: Pick<Graphs, 'of' | 'now' | 'together' | 'togetherNow'>): Judge {
  const memory = createAnswerCache();
  return { allowed: allowedOn, holds, objects, atHand: { allowed: allowedNow, holds: holdsNow } };

  function allowedNow(personId: bigint, organizationId: bigint, object: AskedObject): readonly string[] | undefined {
    if (mayBeOwn(object)) {
      const pair = graphs.togetherNow(organizationId, personId);
      return pair && askBoth(personId, pair[0], pair[1], object);
    }
    const graph = graphs.now(organizationId);
    return graph && askBoth(personId, graph, graph, object);
  }

  function holdsNow(personId: bigint, accountId: bigint, relation: string, asked: AskedObject): boolean | undefined {
    const graph = graphs.now(accountId);
    return graph && memory.holds(graph, personId, relation, asked);
  }

  function allowedOn(
    personId: bigint,
    organizationId: bigint,
    objects: readonly AskedObject[],
  ): Soon<(readonly string[])[]> {
    if (!objects.some(mayBeOwn)) {
      const graph = graphs.now(organizationId);
      return (graph && quickly(graph, graph)) ?? inOneMoment(graphs, organizationId, organizationId, inPieces);
    }
    const pair = graphs.togetherNow(organizationId, personId);
    return (pair && quickly(...pair)) ?? inOneMoment(graphs, organizationId, personId, inPieces);

    /** Usually everything is known, or soon found. Undefined if it takes so long that other requests must be served. */
    function quickly(graph: Graph, own: Graph): (readonly string[])[] | undefined {
      const slices = objects.length > FEW_OBJECTS ? createSlices() : undefined;
      const found: (readonly string[])[] = [];
      for (const object of objects) {
        if (slices?.isOver()) return undefined;
        found.push(askBoth(personId, graph, own, object));
      }
      return found;
    }

    function* inPieces(graph: Graph, own: Graph): Generator<void, (readonly string[])[], void> {
      const user = subjectOfPrincipal(personId);
      const answer = createObjectAnswers(user, (on, object) => allowed(on, user, object, SHOWN));
      const found: (readonly string[])[] = [];
      for (const object of objects) {
        const isPlain = object.type !== 'user' && object.namespace === undefined;
        found.push(isPlain ? answered(answer, graph, own, object) : askBoth(personId, graph, own, object));
        yield;
      }
      return found;
    }
  }

  /** An object that is not in the organization may be the user's own. */
  function askBoth(personId: bigint, graph: Graph, own: Graph, object: AskedObject): readonly string[] {
    const found = ask(personId, graph, object);
    return found.length === 0 && own !== graph && mayBeOwn(object) ? ask(personId, own, object) : found;
  }

  function ask(personId: bigint, graph: Graph, object: AskedObject): readonly string[] {
    const found = memory.ask(graph, personId, object);
    return object.namespace === undefined ? found : allowedIn(graph, subjectOfPrincipal(personId), object, found);
  }

  /** The same for many objects, about which one answer serves many. */
  function answered(answer: Ask<readonly string[]>, graph: Graph, own: Graph, object: ObjectRef): readonly string[] {
    const found = answer(graph, nameOf(object));
    return found.length === 0 && own !== graph && mayBeOwn(object) ? answer(own, nameOf(object)) : found;
  }

  async function holds(personId: bigint, accountId: bigint, relation: string, asked: AskedObject): Promise<boolean> {
    const graph = graphs.now(accountId) ?? (await graphs.of(accountId));
    return memory.holds(graph, personId, relation, asked);
  }

  async function objects(
    personId: bigint,
    accountId: bigint,
    relation: string,
    type: ObjectRef['type'],
    most = Number.POSITIVE_INFINITY,
  ): Promise<bigint[]> {
    const yieldIfDue = createYielder();
    const user = subjectOfPrincipal(personId);
    const graph = await graphs.of(accountId);
    const holds = createObjectAnswers(user, (on, object) => check(on, { user, relation, object }));
    const found: bigint[] = [];
    for (const object of possibleObjects(graph, { user, relation, type })) {
      if (holds(graph, object)) found.push(BigInt(object.slice(type.length + 1)));
      if (found.length >= most) break;
      await yieldIfDue();
    }
    return found;
  }
}

/** Whether the object can be the user's own. It is then in the user's own graph. */
export function mayBeOwn({ type }: ObjectRef): boolean {
  return isPersonal(type);
}
