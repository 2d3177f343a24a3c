/**
 * A graph of an organization that also knows its people, in classes.
 *
 * 1. The model does not know users by name, so users to whom tuples assign the same hold the same. There may be fifty
 *    thousand people, but they are in a few teams, so there are few classes. Questions are asked for one user of each.
 * 2. Site administrators hold everything, everywhere. So that it can be told what people hold through the organization,
 *    their tuples are about another platform than the one that the organization belongs to.
 * 3. What a class holds is remembered. A tuple that names a single user changes nothing for anybody else, and that user
 *    is in another class then. Any other change makes the graph forget everything that it has found.
 * 4. Objects about which the same is stated, apart from single users, are asked about once.
 */
import type { Pace } from '../base/slices.ts';
import { allowed } from '../rebac/engine.ts';
import { createGraph, type Graph } from '../rebac/graph.ts';
import type { Model } from '../rebac/model.ts';
import { nodeOf, textOfObject } from '../rebac/stated.ts';
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
const TUPLES_IN_PART = 1_000;
/** Each is a reference to a list that many share. */
const MAX_ANSWERS = 500_000;
const ANSWER_BYTES = 50;

/** What a class holds on any object of a type, as far as objects were asked about. */
interface OnAny {
  readonly held: Set<string>;
  readonly left: string[];
}

export class PeopleGraph {
  readonly graph: Graph;
  readonly #assigned = new Map<string, Set<string>>();
  readonly #classes = new Map<string, PeopleClass>();
  readonly #classOf = new Map<string, PeopleClass>();
  /** By type: how many tuples say something about each object, other than to single users. */
  readonly #objects = new Map<string, Map<string, number>>();
  /** By type: the objects about which the same is stated, apart from single users. */
  readonly #alike = new Map<string, readonly (readonly string[])[]>();
  #answers = new Map<PeopleClass, Map<string, readonly string[]>>();
  #onAny = new Map<PeopleClass, Map<string, OnAny>>();
  #answerCount = 0;

  constructor(model: Model) {
    this.graph = createGraph(model);
  }

  get bytes(): number {
    return this.graph.bytes + this.#assigned.size * 400 + this.#answerCount * ANSWER_BYTES;
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
      this.#enter(kept);
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
    const key = asAdministrators && this.isAdministrator(people) ? `${object} as administrator` : object;
    const answers = listIn(this.#answers, people);
    const known = answers.get(key);
    if (known) return known;
    const user = representative(people);
    const facts = this.#facts(people, user, asAdministrators);
    const found = allowed(this.graph, user, object, { prefix: 'can_', ...facts });
    if (++this.#answerCount > MAX_ANSWERS) this.#forget();
    else answers.set(key, found);
    return found;
  }

  /** Whether they hold a relation on any object of a type. There may be many kinds of them, so it takes its time. */
  async holdsOnAny(
    people: PeopleClass,
    relation: string,
    type: string,
    asAdministrators: boolean,
    pace: Pace,
  ): Promise<boolean> {
    const key = asAdministrators && this.isAdministrator(people) ? `${type} as administrator` : type;
    const alike = await this.#alikeOf(type, pace);
    const known = listIn(this.#onAny, people);
    const onAny = known.get(key) ?? { held: new Set(), left: samplesFor(people, type, alike) };
    known.set(key, onAny);
    const { held, left } = onAny;
    for (let object = held.has(relation) ? undefined : left.pop(); object !== undefined; ) {
      for (const one of this.relationsOn(people, object, asAdministrators)) held.add(one);
      object = held.has(relation) ? undefined : left.pop();
      await pace();
    }
    return held.has(relation);
  }

  async #alikeOf(type: string, pace: Pace): Promise<readonly (readonly string[])[]> {
    const known = this.#alike.get(type);
    if (known) return known;
    const byText = new Map<string, string[]>();
    for (const object of this.#objects.get(type)?.keys() ?? []) {
      const text = textOfObject(this.graph, nodeOf(this.graph, object));
      const alike = byText.get(text);
      if (alike) alike.push(object);
      else byText.set(text, [object]);
      await pace();
    }
    const found = [...byText.values()];
    this.#alike.set(type, found);
    return found;
  }

  #forget(): void {
    this.#answers = new Map();
    this.#onAny = new Map();
    this.#answerCount = 0;
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
      if (isPerson(user)) this.#assigned.get(user)?.delete(keyOfAssignment(object, relation, source));
      else this.#count(object, -1);
    }
    for (const tuple of come) this.#enter(tuple);
    const common = [...gone, ...come].filter(({ user }) => !isPerson(user));
    for (const { object } of common) this.#alike.delete(typeOf(object));
    if (common.length > 0) this.#forget();
    for (const { user } of [...gone, ...come]) if (isPerson(user)) this.#place(user);
  }

  #count(object: string, change: 1 | -1): void {
    const type = typeOf(object);
    const objects = this.#objects.get(type) ?? new Map<string, number>();
    this.#objects.set(type, objects);
    const count = (objects.get(object) ?? 0) + change;
    if (count === 0) objects.delete(object);
    else objects.set(object, count);
  }

  #enter({ user, object, relation, source }: SourcedTuple): void {
    if (!isPerson(user)) {
      this.#count(object, 1);
      return;
    }
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
    if (people.users.size > 0) return;
    this.#classes.delete(classKey(people.assigned));
    this.#answers.delete(people);
    this.#onAny.delete(people);
  }
}

function representative({ users }: PeopleClass): string {
  return users.values().next().value ?? '';
}

function detached<T extends SourcedTuple>(tuple: T): T {
  return tuple.object === PLATFORM_OBJECT && tuple.relation === ADMINISTRATOR ? { ...tuple, object: DETACHED } : tuple;
}

/** The objects of a type about which something is stated to them, and one of each kind of the others. */
function samplesFor({ assigned }: PeopleClass, type: string, alike: readonly (readonly string[])[]): string[] {
  const objects = [...assigned].map((key) => key.slice(0, key.indexOf('#')));
  const stated = new Set(objects.filter((object) => typeOf(object) === type));
  return [...stated, ...alike.flatMap((some) => some.find((object) => !stated.has(object)) ?? [])];
}

function typeOf(object: string): string {
  return object.slice(0, object.indexOf(':'));
}

function listIn<V>(lists: Map<PeopleClass, Map<string, V>>, people: PeopleClass): Map<string, V> {
  const known = lists.get(people) ?? new Map<string, V>();
  lists.set(people, known);
  return known;
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
