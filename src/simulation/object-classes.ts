import type { Tuple } from '../../packages/rebac/src/rebac.ts';
import type { GraphTuple } from '../changes/graph-tuple.ts';
import { STRUCTURE_TYPES } from '../changes/object-kinds.ts';

/**
 * Objects of one type about which the same is stated, except to single users and to members of teams. They are alike
 * to all users to whom and to whose teams nothing is stated about them.
 */
export interface ObjectClass {
  readonly type: string;
  /** Stands for each of the objects in a graph, such as `cluster:class-0`. */
  readonly sample: string;
  /** What is stated about it. */
  readonly tuples: readonly Tuple[];
}

/** Types whose objects are in a graph by themselves. There may be a hundred thousand objects of other types. */
export const STRUCTURE: ReadonlySet<string> = new Set(STRUCTURE_TYPES);

/** The objects of an organization, each in a class. */
export class ObjectClasses {
  /** What is stated about each object: `organization organization:1,built_in user:*`. */
  readonly #facts = new Map<string, string>();
  /** By assignment: what it is on. */
  readonly #places = new Map<string, Tuple>();
  /** The same by object, and by assignment. */
  readonly #placed = new Map<string, Map<string, Tuple>>();
  /** Assignments that count in some namespaces only. */
  readonly #namespaced = new Set<string>();
  /** By type and facts. */
  readonly #classes = new Map<string, ObjectClass>();
  readonly #samples = new Map<string, ObjectClass>();
  /** By type: the objects of each class. */
  readonly #alike = new Map<string, readonly (readonly string[])[]>();

  get count(): number {
    return this.#facts.size;
  }

  /** Whether any assignment counts in some namespaces only. */
  get hasNamespaces(): boolean {
    return this.#namespaced.size > 0;
  }

  get facts(): ReadonlyMap<string, string> {
    return this.#facts;
  }

  /** While an organization is read. */
  enter(tuple: GraphTuple): void {
    const fact = factOf(tuple);
    const known = this.#facts.get(tuple.object);
    if (isPlacing(tuple)) this.#enterPlace(tuple);
    if (known === undefined || known === '') this.#facts.set(tuple.object, fact);
    else if (fact !== '') this.#facts.set(tuple.object, `${known},${fact}`);
  }

  /**
   * Replaces what is stated about an object, except what assignments state. Without tuples, there is no such object; the
   * assignments on it count again if there is one later.
   */
  state(object: string, tuples: readonly Tuple[]): void {
    this.#alike.delete(typeOf(object));
    if (tuples.length === 0) this.#facts.delete(object);
    else this.#facts.set(object, factsIn([...tuples, ...(this.#placed.get(object)?.values() ?? [])]));
  }

  /** What an assignment is on: `cluster:1#assignment@assignment:31`. */
  placeOf(assignment: string): Tuple | undefined {
    return this.#places.get(assignment);
  }

  /** Replaces what an assignment is on. */
  place(assignment: string, place: Tuple | undefined): void {
    const known = this.#places.get(assignment);
    const objects = [known?.object, place?.object];
    if (known) this.#placed.get(known.object)?.delete(assignment);
    this.#places.delete(assignment);
    this.#namespaced.delete(assignment);
    if (place) this.#enterPlace(place);
    for (const object of new Set(objects)) {
      const facts = object === undefined ? undefined : this.#facts.get(object);
      if (object !== undefined && facts !== undefined) this.state(object, ownTuples(object, facts));
    }
  }

  #enterPlace(place: Tuple): void {
    this.#places.set(place.user, place);
    if (place.relation === 'namespaced_assignment') this.#namespaced.add(place.user);
    const placed = this.#placed.get(place.object) ?? new Map<string, Tuple>();
    this.#placed.set(place.object, placed.set(place.user, place));
  }

  has(object: string): boolean {
    return this.#facts.has(object);
  }

  /** Also of a sample. */
  classOf(object: string): ObjectClass | undefined {
    const facts = this.#facts.get(object);
    return facts === undefined ? this.#samples.get(object) : this.classFor(typeOf(object), facts);
  }

  classFor(type: string, facts: string): ObjectClass {
    const key = `${type}|${facts}`;
    const known = this.#classes.get(key);
    if (known) return known;
    const sorted = facts.split(',').sort().join();
    const found = sorted === facts ? this.#create(type, facts) : this.classFor(type, sorted);
    this.#classes.set(key, found);
    return found;
  }

  /** The class of objects about which exactly this is stated. */
  classStating(type: string, tuples: readonly Tuple[]): ObjectClass {
    return this.classFor(type, factsIn(tuples));
  }

  /** The objects of a type, by class. There may be many, so the caller can let other requests run. */
  async alike(type: string, yieldIfDue: () => Promise<void> | undefined): Promise<readonly (readonly string[])[]> {
    const known = this.#alike.get(type);
    if (known) return known;
    const found = new Map<ObjectClass, string[]>();
    for (const [object, facts] of this.#facts) {
      if (!object.startsWith(`${type}:`)) continue;
      const one = this.classFor(type, facts);
      const objects = found.get(one);
      if (objects) objects.push(object);
      else found.set(one, [object]);
      await yieldIfDue();
    }
    this.#alike.set(type, [...found.values()]);
    return [...found.values()];
  }

  #create(type: string, facts: string): ObjectClass {
    const sample = `${type}:class-${this.#samples.size}`;
    const fresh = { type, sample, tuples: tuplesFor(sample, facts) };
    this.#samples.set(sample, fresh);
    return fresh;
  }
}

export function typeOf(object: string): string {
  return object.slice(0, object.indexOf(':'));
}

export function tuplesFor(object: string, facts: string): Tuple[] {
  if (facts === '') return [];
  return facts.split(',').map((fact) => {
    const [relation = '', user = ''] = fact.split(' ');
    return { object, relation, user };
  });
}

/** What an object states itself. */
export function ownTuples(object: string, facts: string): Tuple[] {
  return tuplesFor(object, facts).filter((tuple) => !isPlacing(tuple));
}

function factsIn(tuples: readonly Tuple[]): string {
  return tuples
    .map(factOf)
    .filter((fact) => fact !== '')
    .sort()
    .join();
}

/**
 * What a team or a role is to members of teams, or to robots, matters to those only. What a role allows on single objects
 * changes nothing about the role itself.
 */
function factOf({ relation, user }: Tuple): string {
  const isForSome = relation === 'assignee' || user.endsWith('#member') || user.endsWith('#assignee');
  return isForSome || relation.startsWith('allows_') ? '' : `${relation} ${user}`;
}

/** Whether a tuple states that a role is assigned on its object. It comes from the assignment, not from the object. */
export function isPlacing({ user }: Pick<Tuple, 'user'>): boolean {
  return user.startsWith('assignment:');
}
