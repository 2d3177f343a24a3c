import { allowed, check, type Graph } from '../../packages/rebac/src/rebac.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import type { GraphTuple } from '../changes/graph-tuple.ts';
import { type ObjectClasses, STRUCTURE, tuplesFor } from './object-classes.ts';
import { isOffice, type PeopleClass } from './people-classes.ts';

/** Each is a reference to a list that many share. */
const MAX_ANSWERS = 500_000;
const ANSWER_BYTES = 50;
const TUPLES_IN_PART = 500;

/**
 * What classes of users hold, found in a graph of teams and roles.
 *
 * 1. A class, or an object of another type, enters the graph when a caller first asks about it.
 * 2. Answers are remembered. What is assigned to single users changes nothing for other classes. After any other change
 *    of the graph, everything must be forgotten.
 */
export class ClassAnswers {
  readonly graph: Graph;
  readonly #objects: ObjectClasses;
  /** What is in the graph besides teams and roles. */
  readonly #entered: Set<string>;
  /** Runs before the graph is asked. */
  readonly #prepare: (() => void) | undefined;
  /** What objects are called in the graph, for users to whom they are not assigned. */
  #names = new Map<string, string>();
  #answers = new Map<PeopleClass, Map<string, readonly string[]>>();
  #count = 0;

  constructor(graph: Graph, objects: ObjectClasses, prepare?: () => void, entered = new Set<string>()) {
    this.graph = graph;
    this.#objects = objects;
    this.#prepare = prepare;
    this.#entered = entered;
  }

  /** Answers from the same graph while it states something else. They are for one request, so all are remembered. */
  beside(prepare: () => void): ClassAnswers {
    return new ClassAnswers(this.graph, this.#objects, prepare, this.#entered);
  }

  get bytes(): number {
    return this.graph.bytes + this.#count * ANSWER_BYTES;
  }

  /** The shown relations that users of a class hold on an object, also as site administrators if `asAdministrators`. */
  relationsOn(people: PeopleClass, object: string, asAdministrators = true): readonly string[] {
    const known = this.#answers.get(people) ?? new Map<string, readonly string[]>();
    const key = asAdministrators || !people.isAdministrator ? object : `${object} as member`;
    const answer = known.get(key);
    if (answer) return answer;
    this.#prepare?.();
    const subject = this.enter(people, asAdministrators);
    const found = allowed(this.graph, subject, this.#inGraph(people, object), { prefix: 'can_' });
    if (++this.#count > MAX_ANSWERS && !this.#prepare) this.forget();
    else this.#answers.set(people, known.set(key, found));
    return found;
  }

  /** Whether they hold a relation, shown or not. */
  holds(people: PeopleClass, relation: string, object: string, asAdministrators = true): boolean {
    const user = this.enter(people, asAdministrators);
    return check(this.graph, { user, relation, object: this.#inGraph(people, object) });
  }

  /** Enters many classes in one go, which is faster than one by one. */
  async enterAll(classes: Iterable<PeopleClass>): Promise<void> {
    const yieldIfDue = createYielder();
    const tuples: GraphTuple[] = [];
    for (const people of classes) {
      if (this.#entered.has(people.subject)) continue;
      tuples.push(...tuplesTo(people, people.subject));
      this.#entered.add(people.subject);
    }
    if (tuples.length === 0) return;
    for (const _ of this.graph.loadInParts(tuples, tuples.length, TUPLES_IN_PART)) await yieldIfDue();
  }

  /** The subject that stands for users of a class. */
  enter(people: PeopleClass, asAdministrators = true): string {
    const subject = asAdministrators && people.isAdministrator ? `${people.subject}-admin` : people.subject;
    return this.#entered.has(subject) ? subject : this.enterObject(subject, tuplesTo(people, subject));
  }

  /** After a change that is not about single users. */
  forget(): void {
    this.#answers = new Map();
    this.#names = new Map();
    this.#count = 0;
  }

  /** A class that has no users any more. */
  leave(people: PeopleClass): void {
    this.#answers.delete(people);
    this.leaveObject(people.subject);
    this.leaveObject(`${people.subject}-admin`);
  }

  leaveObject(name: string): void {
    if (this.#entered.delete(name)) this.graph.replaceSource(name, []);
  }

  /** Teams and roles are in the graph themselves; of other objects, one of each class, unless it is assigned to them. */
  #inGraph(people: PeopleClass, object: string): string {
    const known = this.#names.get(object);
    if (known === object || (known !== undefined && !people.objects.has(object))) return known;
    const found = this.#objects.classOf(object);
    const isItself = !found || (STRUCTURE.has(found.type) && object !== found.sample);
    if (!isItself && people.objects.has(object)) {
      return this.enterObject(object, tuplesFor(object, this.#objects.facts.get(object) ?? ''));
    }
    const name = isItself ? object : this.enterObject(found.sample, found.tuples);
    this.#names.set(object, name);
    return name;
  }

  enterObject(name: string, tuples: Parameters<Graph['replaceSource']>[1]): string {
    if (!this.#entered.has(name)) this.graph.replaceSource(name, tuples);
    this.#entered.add(name);
    return name;
  }
}

function tuplesTo({ assigned, subject: plain }: PeopleClass, subject: string): GraphTuple[] {
  const held = subject === plain ? assigned.filter((one) => !isOffice(one)) : assigned;
  return held.map(({ object, relation }) => ({ object, relation, user: subject, source: subject }));
}
