/**
 * A graph of an organization that also knows its people, in classes.
 *
 * 1. The model does not know users by name, so users to whom tuples assign the same hold the same. There may be fifty
 *    thousand people, but they are in a few teams, so there are few classes. Questions are asked for one user of each.
 * 2. Site administrators hold everything, everywhere. So that it can be told what people hold through the organization,
 *    their tuples are about another platform than the one that the organization belongs to.
 */
import { allowed, check } from '../rebac/engine.ts';
import { createGraph, type Graph } from '../rebac/graph.ts';
import { possibleObjects } from '../rebac/list-objects.ts';
import type { Model } from '../rebac/model.ts';
import type { Tuple } from '../rebac/tuple.ts';

export interface SourcedTuple extends Tuple {
  readonly source: string;
}

/** Users to whom tuples assign the same. */
export interface PeopleClass {
  readonly assigned: ReadonlySet<string>;
  readonly users: Set<string>;
}

/** Takes back a change of the graph. */
export type Undo = () => void;

const PLATFORM_OBJECT = 'platform:atrium';
const DETACHED = 'platform:administrators';
const ADMINISTRATOR = 'admin';
const TUPLES_IN_PART = 4_000;

export class PeopleGraph {
  readonly graph: Graph;
  readonly #assigned = new Map<string, Set<string>>();
  readonly #classes = new Map<string, PeopleClass>();
  readonly #classOf = new Map<string, PeopleClass>();

  constructor(model: Model) {
    this.graph = createGraph(model);
  }

  get bytes(): number {
    return this.graph.bytes + this.#assigned.size * 400;
  }

  get classes(): Iterable<PeopleClass> {
    return this.#classes.values();
  }

  classOf(user: string): PeopleClass | undefined {
    return this.#classOf.get(user);
  }

  /** Between two parts, others may work, but the graph is not complete before the last one. */
  *loadInParts(tuples: Iterable<SourcedTuple>, count: number): Generator<void, void, void> {
    const seen = (tuple: SourcedTuple) => {
      const kept = detached(tuple);
      this.#assign(kept);
      return kept;
    };
    yield* this.graph.loadInParts(Iterator.from(tuples).map(seen), count, TUPLES_IN_PART);
    let placed = 0;
    for (const user of this.#assigned.keys()) {
      if (++placed % TUPLES_IN_PART === 0) yield;
      this.#place(user);
    }
  }

  /** Replaces what a source states. Undefined if it stated exactly that before. */
  replaceSource(source: string, tuples: readonly SourcedTuple[]): Undo | undefined {
    const before = [...this.graph.tuplesOf(source)].map((tuple) => ({ ...tuple, source }));
    const after = tuples.map(detached);
    const [had, has] = [new Set(before.map(keyOf)), new Set(after.map(keyOf))];
    if (had.size === has.size && [...had].every((key) => has.has(key))) return undefined;
    this.#replace(source, before, after);
    return () => this.#replace(source, after, before);
  }

  /** Whether anything in the graph comes from this row. */
  hasSource(source: string): boolean {
    return this.graph.tuplesOf(source).next().done !== true;
  }

  isMember({ assigned }: PeopleClass, teamId: bigint): boolean {
    return assigned.has(keyOfAssignment(`team:${teamId}`, 'member', `team:${teamId}`));
  }

  isAdministrator({ assigned }: PeopleClass): boolean {
    return assigned.has(keyOfAssignment(DETACHED, ADMINISTRATOR, 'platform:0'));
  }

  /** The shown relations that people of a class hold on an object, also as site administrators if `asAdministrators`. */
  relationsOn(people: PeopleClass, object: string, asAdministrators: boolean): readonly string[] {
    const user = representative(people);
    return allowed(this.graph, user, object, { prefix: 'can_', ...this.#facts(people, user, asAdministrators) });
  }

  /** Whether they hold a relation on any object of a type. */
  holdsOnAny(people: PeopleClass, relation: string, type: string, asAdministrators: boolean): boolean {
    const user = representative(people);
    const facts = this.#facts(people, user, asAdministrators);
    return possibleObjects(this.graph, { user, relation, type, ...facts }).some((object) =>
      check(this.graph, { user, relation, object, ...facts }),
    );
  }

  #facts(people: PeopleClass, user: string, asAdministrators: boolean) {
    if (!asAdministrators || !this.isAdministrator(people)) return {};
    return { contextualTuples: [{ user, relation: ADMINISTRATOR, object: PLATFORM_OBJECT }] };
  }

  #replace(source: string, before: readonly SourcedTuple[], after: readonly SourcedTuple[]): void {
    this.graph.replaceSource(source, after);
    const [had, has] = [new Set(before.map(keyOf)), new Set(after.map(keyOf))];
    const gone = before.filter((tuple) => !has.has(keyOf(tuple)));
    const come = after.filter((tuple) => !had.has(keyOf(tuple)));
    for (const { user, object, relation } of gone) {
      this.#assigned.get(user)?.delete(keyOfAssignment(object, relation, source));
    }
    for (const tuple of come) this.#assign(tuple);
    for (const { user } of [...gone, ...come]) if (isPerson(user)) this.#place(user);
  }

  #assign({ user, object, relation, source }: SourcedTuple): void {
    if (!isPerson(user)) return;
    const key = keyOfAssignment(object, relation, source);
    const assigned = this.#assigned.get(user);
    if (assigned) assigned.add(key);
    else this.#assigned.set(user, new Set([key]));
  }

  #place(user: string): void {
    const known = this.#classOf.get(user);
    if (known) this.#leave(user, known);
    const assigned = this.#assigned.get(user);
    if (!assigned || assigned.size === 0) {
      this.#assigned.delete(user);
      return;
    }
    const key = classKey(assigned);
    const people = this.#classes.get(key) ?? { assigned: new Set(assigned), users: new Set() };
    people.users.add(user);
    this.#classes.set(key, people);
    this.#classOf.set(user, people);
  }

  #leave(user: string, people: PeopleClass): void {
    people.users.delete(user);
    this.#classOf.delete(user);
    if (people.users.size === 0) this.#classes.delete(classKey(people.assigned));
  }
}

/** A copy of any graph of an organization, such as one in which a change is tried out. */
export function peopleOf(graph: Graph): PeopleGraph {
  const people = new PeopleGraph(graph.model);
  const tuples = [...graph.sources].flatMap((source) =>
    [...graph.tuplesOf(source)].map((each) => ({ ...each, source })),
  );
  for (const _ of people.loadInParts(tuples, tuples.length)) {
    // Nobody else is waiting for it.
  }
  return people;
}

function representative({ users }: PeopleClass): string {
  return users.values().next().value ?? '';
}

function detached<T extends SourcedTuple>(tuple: T): T {
  return tuple.object === PLATFORM_OBJECT ? { ...tuple, object: DETACHED } : tuple;
}

function isPerson(user: string): boolean {
  return user.startsWith('user:') && user !== 'user:*';
}

function keyOf({ user, relation, object }: Tuple): string {
  return `${object} ${relation} ${user}`;
}

function keyOfAssignment(object: string, relation: string, source: string): string {
  return `${object}#${relation} ${source}`;
}

function classKey(assigned: ReadonlySet<string>): string {
  return [...assigned].sort().join('\n');
}
