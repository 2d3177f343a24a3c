import { allowed, check } from '../rebac/engine.ts';
import type { Graph } from '../rebac/graph.ts';
import { type ObjectClasses, STRUCTURE, tuplesFor } from './object-classes.ts';
import { isOffice, type PeopleClass } from './people-classes.ts';

/** Each is a reference to a list that many share. */
const MAX_ANSWERS = 500_000;
const ANSWER_BYTES = 50;

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
  readonly #entered = new Set<string>();
  #answers = new Map<PeopleClass, Map<string, readonly string[]>>();
  #count = 0;

  constructor(graph: Graph, objects: ObjectClasses) {
    this.graph = graph;
    this.#objects = objects;
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
    const subject = this.enter(people, asAdministrators);
    const found = allowed(this.graph, subject, this.#inGraph(people, object), { prefix: 'can_' });
    if (++this.#count > MAX_ANSWERS) this.forget();
    else this.#answers.set(people, known.set(key, found));
    return found;
  }

  /** Whether they hold a relation, shown or not. */
  holds(people: PeopleClass, relation: string, object: string): boolean {
    return check(this.graph, { user: this.enter(people), relation, object: this.#inGraph(people, object) });
  }

  /** Enters a class before many questions, because answers to others are found faster while the graph does not change. */
  enter(people: PeopleClass, asAdministrators = true): string {
    const isAdministrator = asAdministrators && people.isAdministrator;
    const subject = isAdministrator ? `${people.subject}-admin` : people.subject;
    if (this.#entered.has(subject)) return subject;
    const held = isAdministrator ? people.assigned : people.assigned.filter((one) => !isOffice(one));
    this.graph.replaceSource(
      subject,
      held.map(({ object, relation }) => ({ object, relation, user: subject })),
    );
    this.#entered.add(subject);
    return subject;
  }

  /** After a change that is not about single users. */
  forget(): void {
    this.#answers = new Map();
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
    const found = this.#objects.classOf(object);
    if (!found) return object;
    if (STRUCTURE.has(found.type) && object !== found.sample) return object;
    if (people.objects.has(object))
      return this.enterObject(object, tuplesFor(object, this.#objects.facts.get(object) ?? ''));
    return this.enterObject(found.sample, found.tuples);
  }

  enterObject(name: string, tuples: Parameters<Graph['replaceSource']>[1]): string {
    if (!this.#entered.has(name)) this.graph.replaceSource(name, tuples);
    this.#entered.add(name);
    return name;
  }
}
