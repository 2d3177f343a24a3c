import { check, type Graph, type Model } from '../../packages/rebac/src/rebac.ts';
import { createObjectAnswers } from '../authz/alike-answers.ts';
import type { Graphs } from '../authz/graphs.ts';
import type { Judge } from '../authz/judge.ts';
import { inOneMoment } from '../authz/one-moment.ts';
import { holdsIn, isNamespace, NOT_A_NAMESPACE, ONLY_CLUSTERS } from '../authz/places/namespaces.ts';
import { missingRelation } from '../base/errors.ts';
import { principalOfRobot, robotNamedIn, subjectOfPrincipal } from '../changes/principal.ts';
import { GUARDED_TYPES, type GuardedType } from './guardrail.ts';
import type { Reference } from './guardrail-input.ts';

export interface CheckInput {
  /** A login name, or a robot such as `robot:deploy`; without one, the caller. */
  readonly user?: string | undefined;
  readonly relation: string;
  readonly object: { readonly type: string; readonly id?: bigint | undefined; readonly name?: string | undefined };
  /** Of a cluster: the question is about what can be done there. */
  readonly namespace?: string | undefined;
}

/** The answer, or why there is none: a typo must not pass for a no. */
export interface CheckResult {
  readonly allowed: boolean;
  readonly fault?: string;
}

export interface CheckStore {
  people(logins: readonly string[]): Promise<Reference[]>;
  /** The objects of an organization that have one of these names, ignoring case. */
  named(organizationId: bigint, type: GuardedType, names: readonly string[]): Promise<Reference[]>;
}

/** A question that can be asked. */
interface Question {
  readonly input: CheckInput;
  readonly user: string;
  readonly relation: string;
  readonly object: string;
}

type Lookup = (name: string) => readonly Reference[];

export type Checks = ReturnType<typeof createChecks>;

/** Many questions about who may do what, all as of one moment. */
export function createChecks(
  graphs: Pick<Graphs, 'together'>,
  store: CheckStore,
  judge: Pick<Judge, 'holds'>,
  model: Model,
) {
  return async function ask(
    organizationId: bigint,
    caller: Reference,
    inputs: readonly CheckInput[],
  ): Promise<CheckResult[]> {
    const robots = await robotsIn(organizationId, caller, inputs);
    const isRobot = (text: string) => robotNamedIn(text) !== undefined;
    const logins = new Set(
      inputs.flatMap(({ user }) => (user === undefined || isRobot(user) ? [] : [user.toLowerCase()])),
    );
    logins.delete(caller.name.toLowerCase());
    const organization = { type: 'organization', id: organizationId } as const;
    if (logins.size > 0 && !(await judge.holds(caller.id, organizationId, 'can_view_members', organization))) {
      throw missingRelation('can_view_members');
    }
    const found = await store.people([...logins]);
    const people = new Map([caller, ...found].map(({ id, name }) => [name.toLowerCase(), id]));
    const lookups = await lookupsFor(organizationId, inputs);
    const asked = (input: CheckInput) => robots.get(input.user ?? '') ?? people.get(nameIn(input, caller));
    const questions = inputs.map((input) => read(input, organizationId, asked(input), lookups));
    return await inOneMoment(graphs, organizationId, organizationId, (graph) => answers(graph, caller.id, questions));
  };

  function read(
    input: CheckInput,
    organizationId: bigint,
    user: bigint | undefined,
    lookups: ReadonlyMap<string, Lookup>,
  ): Question | CheckResult {
    if (user === undefined) {
      const word = robotNamedIn(input.user ?? '') ? 'robot' : 'user';
      return no(`${word} does not exist: ${quote(input.user ?? '')}`);
    }
    const object = objectOf(input, organizationId, lookups);
    if (typeof object !== 'string') return no(object.fault);
    const { namespace } = input;
    if (namespace !== undefined && input.object.type !== 'cluster') return no(ONLY_CLUSTERS);
    if (namespace !== undefined && !isNamespace(namespace)) return no(NOT_A_NAMESPACE);
    const relation = relationOf(input);
    if (relation === undefined) return no(`${input.object.type} has no relation ${quote(input.relation)}`);
    return { input, user: subjectOfPrincipal(user), relation, object };
  }

  /** The robots that questions name, by these texts: the caller themselves, and those that the caller may view. */
  async function robotsIn(
    organizationId: bigint,
    caller: Reference,
    inputs: readonly CheckInput[],
  ): Promise<ReadonlyMap<string, bigint>> {
    const found = new Map<string, bigint>();
    for (const text of new Set(inputs.map(({ user }) => user ?? ''))) {
      const named = robotNamedIn(text);
      if (named === undefined) continue;
      const robot = 'id' in named ? named : await robotCalled(organizationId, named.name);
      if (robot === undefined) continue;
      const id = principalOfRobot(robot.id);
      const object = { type: 'robot_ac', id: robot.id } as const;
      const isSeen = id === caller.id || (await judge.holds(caller.id, organizationId, 'can_view', object));
      if (isSeen) found.set(text, id);
    }
    return found;
  }

  /** Names of robots are case-sensitive. */
  async function robotCalled(organizationId: bigint, name: string): Promise<Reference | undefined> {
    return (await store.named(organizationId, 'robot_ac', [name.toLowerCase()])).find((row) => row.name === name);
  }

  async function lookupsFor(organizationId: bigint, inputs: readonly CheckInput[]): Promise<Map<string, Lookup>> {
    const lookups = new Map<string, Lookup>();
    for (const type of GUARDED_TYPES) {
      const names = inputs.flatMap(({ object }) =>
        object.type === type && object.id === undefined && object.name !== undefined ? [object.name.toLowerCase()] : [],
      );
      const rows = names.length === 0 ? [] : await store.named(organizationId, type, [...new Set(names)]);
      const byName = Map.groupBy(rows, ({ name }) => name.toLowerCase());
      lookups.set(type, (name) => byName.get(name.toLowerCase()) ?? []);
    }
    return lookups;
  }

  /** As the API shows it, or without its prefix. Structural relations are internal. */
  function relationOf({ relation, object }: CheckInput): string | undefined {
    const known = model.typeIndex.get(object.type)?.relationIndex;
    return [relation, `can_${relation}`].find((one) => one.startsWith('can_') && known?.has(one));
  }
}

function objectOf({ object }: CheckInput, organizationId: bigint, lookups: ReadonlyMap<string, Lookup>) {
  const { type, id, name } = object;
  const lookup = lookups.get(type);
  if (!lookup) return { fault: `type must be one of ${GUARDED_TYPES.join(', ')}` };
  if (id !== undefined) return `${type}:${id}`;
  if (name === undefined) {
    return type === 'organization' ? `${type}:${organizationId}` : { fault: `${type} needs an id or a name` };
  }
  const [found, second] = lookup(name);
  if (second) return { fault: `several objects of type ${type} are called ${quote(name)}: give the ID` };
  return found ? `${type}:${found.id}` : { fault: `${type} does not exist: ${quote(name)}` };
}

function nameIn({ user }: CheckInput, caller: Reference): string {
  return (user ?? caller.name).toLowerCase();
}

/** One user after the other: to find out what a user is in takes longer than most answers. */
function* answers(
  graph: Graph,
  callerId: bigint,
  questions: readonly (Question | CheckResult)[],
): Generator<void, CheckResult[], void> {
  const sees = holdsOn(subjectOfPrincipal(callerId), 'can_view');
  const results: CheckResult[] = [];
  const seen: { readonly place: number; readonly question: Question }[] = [];
  for (const [place, question] of questions.entries()) {
    if (!('input' in question)) results[place] = question;
    else if (sees(graph, question.object)) seen.push({ place, question });
    else results[place] = no(`${question.input.object.type} does not exist: ${told(question.input)}`);
    yield;
  }
  for (const [user, list] of Map.groupBy(seen, ({ question }) => question.user)) {
    const byRelation = new Map<string, ReturnType<typeof holdsOn>>();
    for (const { place, question } of list) {
      const holds = byRelation.get(question.relation) ?? holdsOn(user, question.relation);
      byRelation.set(question.relation, holds);
      const { namespace } = question.input;
      const isHeld = namespace === undefined ? holds(graph, question.object) : holdsIn(graph, question, namespace);
      results[place] = { allowed: isHeld };
      yield;
    }
  }
  return results;
}

function holdsOn(user: string, relation: string) {
  return createObjectAnswers(user, (graph, object) => check(graph, { user, relation, object }));
}

function no(fault: string): CheckResult {
  return { allowed: false, fault };
}

function told({ object }: CheckInput): string {
  return object.id === undefined ? quote(object.name ?? '') : String(object.id);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
