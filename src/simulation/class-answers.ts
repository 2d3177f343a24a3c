import { allowed, check, type Graph, statedTo } from '../../packages/rebac/src/rebac.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import type { GraphTuple } from '../changes/graph-tuple.ts';
import { isPlacing, type ObjectClass, type ObjectClasses, STRUCTURE, tuplesFor } from './object-classes.ts';
import { isOffice, isPerson, type PeopleClass } from './people-classes.ts';

/** Each is a reference to a list that many share. */
const MAX_ANSWERS = 500_000;
const ANSWER_BYTES = 50;
const TUPLES_IN_PART = 500;

/** The assignments on the objects of a class, and the class of those without any. */
interface Split {
  readonly assignments: readonly string[];
  readonly bare: ObjectClass;
}

/**
 * What classes of users hold, found in a graph of teams and roles.
 *
 * 1. A class, or an object of another type, enters the graph when a caller first asks about it.
 * 2. Answers are remembered. What is assigned to single users changes nothing for other classes. After any other change
 *    of the graph, everything must be forgotten.
 * 3. An assignment gives something to those only to whom it is assigned. So objects that differ in nothing but assignments
 *    to others are one question. That is known of answers for one request, which are asked after all changes.
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
  /** The assignments to users of a class; and by team or robot, such as `team:4#member`. */
  #assigned = new Map<PeopleClass, ReadonlySet<string>>();
  #assignments = new Map<string, readonly string[]>();
  #splits = new Map<ObjectClass, Split>();
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
    const name = this.#inGraph(people, object);
    const alike = key === object ? name : `${name} as member`;
    const found = known.get(alike) ?? allowed(this.graph, subject, name, { prefix: 'can_' });
    if (this.#prepare) known.set(alike, found);
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
    this.#assigned = new Map();
    this.#assignments = new Map();
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
    const one = isItself ? undefined : this.#forThem(people, found);
    const name = one ? this.enterObject(one.sample, one.tuples) : object;
    // What others are called the same only if no assignment makes a difference.
    if (isItself || this.#splitOf(found).assignments.length === 0) this.#names.set(object, name);
    return name;
  }

  /** The class without assignments to others. */
  #forThem(people: PeopleClass, found: ObjectClass): ObjectClass {
    const { assignments, bare } = this.#splitOf(found);
    if (!this.#prepare || assignments.length === 0) return found;
    const own = this.#assignedTo(people);
    const theirs = assignments.filter((one) => own.has(one));
    if (theirs.length === 0) return bare;
    if (theirs.length === assignments.length) return found;
    const kept = found.tuples.filter((tuple) => !isPlacing(tuple) || theirs.includes(tuple.user));
    return this.#objects.classStating(found.type, kept);
  }

  #splitOf(found: ObjectClass): Split {
    const known = this.#splits.get(found);
    if (known) return known;
    // Teams are few, and while ends are looked for, what is stated about one of a class changes.
    const placing = STRUCTURE.has(found.type) ? [] : found.tuples.filter(isPlacing);
    const rest = found.tuples.filter((tuple) => !isPlacing(tuple));
    const bare = placing.length > 0 ? this.#objects.classStating(found.type, rest) : found;
    const split = { assignments: placing.map(({ user }) => user), bare };
    this.#splits.set(found, split);
    return split;
  }

  /** The assignments to users of a class, to themselves and to their teams. */
  #assignedTo(people: PeopleClass): ReadonlySet<string> {
    const known = this.#assigned.get(people);
    if (known) return known;
    const { objects, subject, teamIds } = people;
    // The assignments of users themselves are known of their class. Robots are in the graph by themselves.
    const alone = isPerson(subject) ? [] : this.#assignedToOne(subject);
    const found = [alone, ...teamIds.map((id) => this.#assignedToOne(`team:${id}#member`))].flat();
    const own = new Set([...objects, ...found]);
    this.#assigned.set(people, own);
    return own;
  }

  #assignedToOne(subject: string): readonly string[] {
    const known = this.#assignments.get(subject);
    if (known) return known;
    const stated = statedTo(this.graph, subject).filter(({ relation }) => relation === 'assignee');
    const found = stated.map(({ object }) => object);
    this.#assignments.set(subject, found);
    return found;
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
