import type { Question, World as Server } from '../../../test/support/services/openfga.ts';
import { check } from '../src/engine.ts';
import { createGraph, type Graph } from '../src/graph.ts';
import type { Model } from '../src/model.ts';
import { RebacError } from '../src/rebac-error.ts';
import { admit, type Tuple } from '../src/tuple.ts';
import { hasCircle } from './circles.ts';
import { loadModel } from './load-model.ts';
import type { World } from './world.ts';

export type Outcome = boolean | 'error';

/**
 * The differences that docs/decisions/openfga.md describes, in the order in which they are tried. A difference that
 * none of them explains fails the lane.
 */
export const KNOWN = ['circle', 'unstable'] as const;
export type Known = (typeof KNOWN)[number];

/** Those by which the engine may grant what OpenFGA does not. Anything else that it grants alone fails the lane. */
export const GRANTING: readonly Known[] = ['unstable'];

/** One random world on both sides: the tuples that both accept, each key once. */
export class Arena {
  readonly world: World;
  readonly model: Model;
  readonly tuples: readonly Tuple[];
  readonly #graph: Graph;

  constructor(world: World, model: Model, tuples: readonly Tuple[]) {
    this.world = world;
    this.model = model;
    this.tuples = tuples;
    this.#graph = createGraph(model, tuples);
  }

  ask(question: Question): Outcome {
    return attempt(() => check(this.#graph, { ...question, context: this.world.context }));
  }

  /** The same world with other tuples. */
  with(tuples: readonly Tuple[]): Arena {
    return new Arena(this.world, this.model, tuples);
  }

  get graph(): Graph {
    return this.#graph;
  }
}

export async function enter(world: World): Promise<Arena> {
  const model = await loadModel(world.model);
  const byKey = new Map<string, Tuple>();
  for (const { user, relation, object, condition } of world.tuples) {
    const tuple = { user, relation, object, ...(condition && { condition }) };
    // The server does not store that a userset is in itself.
    if (typeof admit(model, tuple) !== 'string' && user !== `${object}#${relation}`) byKey.set(keyOf(tuple), tuple);
  }
  return new Arena(world, model, [...byKey.values()]);
}

export function keyOf({ user, relation, object }: Tuple): string {
  return `${object}#${relation}@${user}`;
}

export function attempt<T>(use: () => T): T | 'error' {
  try {
    return use();
  } catch (error) {
    if (error instanceof RebacError) return 'error';
    throw error;
  }
}

export function relationsOf({ model }: World, object: string): string[] {
  const type = model.type_definitions.find((one) => object.startsWith(`${one.type}:`));
  return Object.keys(type?.relations ?? {});
}

/** Every user, relation and object of the world. */
export function questionsOf(world: World): Question[] {
  return world.users.flatMap((user) =>
    world.objects.flatMap((object) => relationsOf(world, object).map((relation) => ({ user, relation, object }))),
  );
}

/** What the server says, or `undefined` if it takes too long. */
export async function answersOf(server: Server, world: World, questions: readonly Question[]) {
  const answers = await server.checks(questions.map((question) => ({ ...question, context: world.context })));
  return answers.map((answer): Outcome | undefined => (typeof answer === 'object' ? 'error' : answer));
}

/** Why the engine and the server differ on a question, or `undefined` if nothing that is known explains it. */
export async function attribute(arena: Arena, question: Question, theirs: Outcome, server: Server) {
  for (const known of KNOWN) {
    if (await EXPLAINS[known](arena, question, theirs, server)) return known;
  }
  return;
}

type Explains = (arena: Arena, question: Question, theirs: Outcome, server: Server) => boolean | Promise<boolean>;

const EXPLAINS: Readonly<Record<Known, Explains>> = {
  /** The engine agrees once a contextual tuple hides the stored one of its key. */
  circle: (arena, question) =>
    hasCircle(arena.world.model, [...shownTo(arena, question), ...(question.contextualTuples ?? [])], question),
  /** The server answers the same question in both ways. */
  unstable: async (arena, question, _, server) => {
    const ours = arena.ask(question);
    for (let turn = 0; turn < 8; turn++) {
      if ((await answersOf(server, arena.world, [question]))[0] === ours) return true;
    }
    return false;
  },
};

function shownTo(arena: Arena, { contextualTuples = [] }: Question): Tuple[] {
  const hidden = new Set(contextualTuples.map(keyOf));
  return arena.tuples.filter((tuple) => !hidden.has(keyOf(tuple)));
}
