import { AppError, missingRelation } from '../base/errors.ts';
import { type Explanation, explain } from '../rebac/explanation.ts';
import type { Graph } from '../rebac/graph.ts';
import { listUsers } from '../rebac/list-users.ts';
import type { Graphs } from './graphs.ts';
import type { Judge } from './judge.ts';
import { nameOf, type ObjectRef } from './object-ref.ts';
import { refuseOtherPeople } from './objects.ts';
import { type Asked, type Viewpoint, viewpointOf } from './viewpoint.ts';

/** The names of objects such as `team:4`. */
export type Names = ReadonlyMap<string, string>;

export interface ExplainStore {
  names(objects: readonly string[]): Promise<Names>;
  personNamed(login: string): Promise<{ id: bigint; name: string } | undefined>;
}

export interface Question extends Asked {
  readonly relation: string;
}

export interface Why {
  readonly personId: bigint;
  readonly allowed: boolean;
  /** From the object to the user. Each step rests on the deeper ones that follow it. */
  readonly steps: readonly { depth: number; object: string; relation: string; text: string }[];
  /** What would have to change for the answer to be yes, if it is no and the caller may see the object. */
  readonly missing: readonly string[];
}

export interface PersonRef {
  readonly id: bigint;
  readonly name: string;
}

export type Explain = ReturnType<typeof createExplain>;

/** Explains who may do what, and why. Goes beyond the specification, but uses the same engine. */
export function createExplain(graphs: Pick<Graphs, 'together'>, store: ExplainStore, judge: Pick<Judge, 'holds'>) {
  return { why, whoCan };

  /** Why a user may or may not do something. Only callers who may see the members can ask about other users. */
  async function why(question: Question, login: string | undefined): Promise<Why> {
    const { organizationId, askerId } = question;
    const person = login === undefined ? { id: askerId } : await store.personNamed(login);
    if (person?.id !== askerId) await requireOn(organizationId, askerId, 'can_view_members');
    if (!person) throw new AppError('notFound', `user does not exist: ${login}`, { reason: 'user_not_found' });
    const { names, ...found } = await seen(question, (viewpoint) => reasons(viewpoint, question, person.id));
    const inWords = await naming(names);
    return {
      personId: person.id,
      allowed: found.allowed,
      steps: found.steps.map(({ depth, object, relation, text }) => ({ depth, object, relation, text: inWords(text) })),
      missing: found.missing.map(inWords),
    };
  }

  /** All users who hold a relation on an object, by ID. */
  async function whoCan(question: Question): Promise<PersonRef[]> {
    const { object, relation } = question;
    const users = await seen(question, ({ graph, facts }) =>
      listUsers(graph, { object: nameOf(object), relation, filter: 'user', ...facts }),
    );
    return await people(users);
  }

  async function seen<T>(question: Question, ask: (viewpoint: Viewpoint) => T): Promise<T> {
    const { organizationId, askerId, object, relation } = question;
    refuseOtherPeople(askerId, [object]);
    return await graphs.together(organizationId, askerId, (organization, own) => {
      requireRelationOf(organization, object, relation);
      return ask(viewpointOf(question, organization, own));
    });
  }

  async function requireOn(organizationId: bigint, personId: bigint, relation: string): Promise<void> {
    const organization: ObjectRef = { type: 'organization', id: organizationId };
    if (await judge.holds(personId, organizationId, relation, organization)) return;
    throw missingRelation(relation);
  }

  async function people(users: readonly string[]): Promise<PersonRef[]> {
    const names = await store.names(users);
    const persons = users.map((user) => ({ id: BigInt(user.slice('user:'.length)), name: names.get(user) ?? '' }));
    return persons.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async function naming(objects: readonly string[]): Promise<(text: string) => string> {
    const names = await store.names(objects);
    return (text) =>
      text.replace(OBJECT, (object) => (names.has(object) ? `${object.split(':')[0]} ${names.get(object)}` : object));
  }
}

/** For an object that the caller may not see, `missing` is empty, as for one that does not exist. */
function reasons(viewpoint: Viewpoint, { object, relation }: Question, personId: bigint) {
  const found = explain(viewpoint.graph, {
    user: `user:${personId}`,
    relation,
    object: nameOf(object),
    ...viewpoint.facts,
  });
  const missing = viewpoint.sees(nameOf(object)) ? wordingOf(found.missing) : [];
  const texts = [...found.steps.map((step) => step.text), ...missing];
  const objects = new Set(texts.flatMap((text) => text.match(OBJECT) ?? []));
  const isKnown = (one: string) => one === `user:${personId}` || viewpoint.sees(one);
  return { allowed: found.allowed, steps: found.steps, missing, names: [...objects].filter(isKnown) };
}

function wordingOf(missing: Explanation['missing']): string[] {
  return [
    ...(missing?.add ?? []).map(({ user, relation, object }) => `${user} would have to be ${relation} of ${object}`),
    ...(missing?.excludedBy ?? []).map(({ object, relation }) => `${object} ${relation} would have to end`),
  ];
}

const OBJECT = /\b[a-z_]+:\d+\b/g;

/** Structural relations are internal: callers can ask only about relations that are shown. */
function requireRelationOf(graph: Graph, object: ObjectRef, relation: string): void {
  const isKnown = graph.model.typeIndex.get(object.type)?.relationIndex.has(relation);
  if (isKnown && relation.startsWith('can_')) return;
  throw new AppError('invalid', `${object.type} has no relation ${JSON.stringify(relation.slice(0, 60))}`, {
    reason: 'unknown_relation',
  });
}
