import type { OpenFga, Question, World as Server } from '../../../test/support/services/openfga.ts';
import { listObjects } from '../src/list-objects.ts';
import { listUsers } from '../src/list-users.ts';
import type { Tuple } from '../src/tuple.ts';
import {
  type Arena,
  answersOf,
  attempt,
  attribute,
  enter,
  GRANTING,
  type Known,
  type Outcome,
  questionsOf,
  relationsOf,
} from './differential.ts';
import type { World } from './world.ts';

/** What a comparison of random worlds has found so far. */
export class Tally {
  worlds = 0;
  refused = 0;
  checks = 0;
  late = 0;
  lists = 0;
  /** By the name of the difference. */
  readonly differences = new Map<string, number>();
  readonly failures: string[] = [];

  count(name: string): void {
    this.differences.set(name, (this.differences.get(name) ?? 0) + 1);
  }

  toString(): string {
    const named = [...this.differences].map(([name, count]) => `${name} ${count}`).join(', ');
    return `${this.worlds} worlds (${this.refused} refused), ${this.checks} checks, ${this.late} too slow, ${this.lists} lists; differences: ${named || 'none'}`;
  }
}

/** Asks both sides everything about a world, and some of it again with a part of the tuples as contextual ones. */
export async function compareWorld(openFga: OpenFga, world: World, name: string, tally: Tally): Promise<void> {
  const arena = await enter(world);
  const server = await openFga.write(world.model, arena.tuples);
  tally.worlds++;
  if ('refused' in server) {
    tally.refused++;
    return;
  }
  const questions = questionsOf(world);
  if (!(await compareChecks(arena, server, questions, name, tally))) return;
  await compareLists(arena, server, name, tally);
  const [stored, contextualTuples] = split(arena);
  const half = arena.with(stored);
  const other = await openFga.write(world.model, stored);
  if ('refused' in other) throw new Error(other.refused);
  const third = questions.filter((_, index) => index % 3 === tally.worlds % 3);
  await compareChecks(
    half,
    other,
    third.map((question) => ({ ...question, contextualTuples })),
    name,
    tally,
  );
}

/** Every other tuple becomes contextual, and some of those are stored as well, with another context. */
function split({ tuples }: Arena): [stored: Tuple[], contextual: Tuple[]] {
  const contextual = tuples.filter((_, index) => index % 2 === 1);
  const stored = tuples.filter((_, index) => index % 2 === 0);
  const doubled = contextual.flatMap((tuple, index) => {
    if (tuple.condition === undefined || index % 4 !== 1) return [];
    return [{ ...tuple, condition: { name: tuple.condition.name, context: { x: index % 20 } } }];
  });
  return [[...stored, ...doubled], contextual];
}

/** In small batches: once the server is too slow, the rest of the world is left out. */
async function compareChecks(
  arena: Arena,
  server: Server,
  questions: readonly Question[],
  name: string,
  tally: Tally,
): Promise<boolean> {
  for (let from = 0; from < questions.length; from += 63) {
    const part = questions.slice(from, from + 63);
    const answers = await answersOf(server, arena.world, part);
    for (const [index, question] of part.entries()) {
      const theirs = answers[index];
      if (theirs === undefined) continue;
      tally.checks++;
      if (arena.ask(question) !== theirs) await judge(arena, server, question, theirs, name, tally);
    }
    const late = answers.filter((answer) => answer === undefined).length;
    tally.late += late;
    if (late > 0) return false;
  }
  return true;
}

async function judge(
  arena: Arena,
  server: Server,
  question: Question,
  theirs: Outcome,
  name: string,
  tally: Tally,
): Promise<void> {
  const ours = arena.ask(question);
  const known: Known | undefined = await attribute(arena, question, theirs, server);
  if (known !== undefined && (ours !== true || GRANTING.includes(known))) {
    tally.count(`${known} (engine ${ours}, OpenFGA ${theirs})`);
    return;
  }
  const { user, relation, object, contextualTuples } = question;
  tally.failures.push(
    `${name}: ${user} ${relation} ${object} with context ${JSON.stringify(arena.world.context)}: OpenFGA ${theirs}, the engine ${ours}${known ? ` (${known})` : ''}; model ${JSON.stringify(arena.world.model)}; tuples ${JSON.stringify(arena.tuples)}; contextual ${JSON.stringify(contextualTuples ?? [])}`,
  );
}

/** Lists of a few relations. A list of the server that contradicts its own checks, where the engine's agrees, is its fault. */
async function compareLists(arena: Arena, server: Server, name: string, tally: Tally): Promise<void> {
  const { world, graph } = arena;
  const { context } = world;
  const [user, object] = [world.users[tally.worlds % 3] as string, world.objects[tally.worlds % 9] as string];
  const type = object.slice(0, object.indexOf(':'));
  const objects = world.objects.filter((one) => one.startsWith(`${type}:`));
  const people = ['user:1', 'user:2', 'user:3', 'user:*'];
  for (const relation of relationsOf(world, object).slice(1, 4)) {
    const list = attempt(() => listObjects(graph, { user, relation, type, context }));
    const their = await server.listObjects({ user, relation, type, context });
    const asked = objects.map((one) => ({ user, relation, object: one }));
    await settle(list, their, asked, ({ object: one }) => one, 'listObjects');
    const users = attempt(() => listUsers(graph, { object, relation, filter: 'user', context }));
    const theirUsers = await server.listUsers({ object, relation, type: 'user', context });
    const askedUsers = people.map((one) => ({ user: one, relation, object }));
    await settle(users, theirUsers, askedUsers, ({ user: one }) => one, 'listUsers');
  }

  async function settle(
    ours: string[] | 'error',
    theirs: string[] | 'error' | undefined,
    asked: readonly Question[],
    nameOf: (question: Question) => string,
    operation: string,
  ): Promise<void> {
    if (theirs === undefined) return;
    tally.lists++;
    if (String(ours) === String(theirs)) return;
    if (ours === 'error') return tally.count(`${operation} fails`);
    const checks = await answersOf(server, world, asked);
    const isOurs = asked.every((question, index) => (checks[index] === true) === ours.includes(nameOf(question)));
    if (isOurs) return tally.count(`${operation} contradicts Check`);
    const attributed = await Promise.all(
      asked.map(async (question, index) => {
        const answer = checks[index];
        if (answer === undefined || (answer === true) === ours.includes(nameOf(question))) return true;
        return (await attribute(arena, question, answer, server)) !== undefined;
      }),
    );
    if (attributed.every(Boolean)) return tally.count(`${operation} differs as Check does`);
    tally.failures.push(
      `${name}: ${operation} about ${JSON.stringify(asked[0])}: OpenFGA ${theirs}, the engine ${ours}`,
    );
  }
}

/** The fewest tuples of the world with which something still fails. */
export async function shrink(openFga: OpenFga, world: World): Promise<string> {
  let smallest = world;
  let failure = '';
  for (let index = smallest.tuples.length - 1; index >= 0; index--) {
    const tuples = smallest.tuples.filter((_, one) => one !== index);
    const tally = new Tally();
    await compareWorld(openFga, { ...smallest, tuples }, 'smallest', tally);
    if (tally.failures.length === 0) continue;
    smallest = { ...smallest, tuples };
    failure = tally.failures[0] as string;
  }
  return failure;
}
