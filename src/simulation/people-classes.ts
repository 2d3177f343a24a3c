import { idOf } from '../authz/object-ref.ts';
import type { GraphTuple } from '../changes/graph-tuple.ts';

/** What is assigned to a user, without the user. */
export type Assignment = Pick<GraphTuple, 'object' | 'relation'>;

/**
 * Users to whom tuples assign the same. The model does not know users by name, so they hold the same. An organization may
 * have fifty thousand members, but they are in a few teams, so there are few classes.
 */
export interface PeopleClass {
  /** Stands for each of the users in a graph, such as `user:class-4`. */
  readonly subject: string;
  readonly assigned: readonly Assignment[];
  /** Objects about which something is assigned. */
  readonly objects: ReadonlySet<string>;
  readonly teamIds: readonly bigint[];
  /** Site administrators hold everything, whatever else is assigned to them. */
  readonly isAdministrator: boolean;
  readonly users: Set<string>;
}

const ROBOT = 'robot_ac:';
const PLACED_IN_PART = 500;
const NOTHING: readonly GraphTuple[] = [];

/** The users of an organization, each in a class. */
export class PeopleClasses {
  readonly #assigned = new Map<string, readonly GraphTuple[]>();
  readonly #classes = new Map<string, PeopleClass>();
  readonly #classOf = new Map<string, PeopleClass>();
  /** By source: the users to whom it assigns something, once a caller has asked. */
  #usersOf: Map<string, Set<string>> | undefined;
  /** Robots that a caller has asked about. */
  readonly #robots = new Map<string, PeopleClass>();
  #created = 0;

  get userCount(): number {
    return this.#assigned.size;
  }

  /** Those with users. */
  get all(): IteratorObject<PeopleClass> {
    return this.#classes.values().filter(({ users }) => users.size > 0);
  }

  /** Before `placeAll`. */
  enter(tuple: GraphTuple): void {
    const known = this.#assigned.get(tuple.user);
    if (known) (known as GraphTuple[]).push(tuple);
    else this.#assigned.set(tuple.user, [tuple]);
  }

  /** Other requests may run at each `yield`. */
  *placeAll(): Generator<void, void, void> {
    let placed = 0;
    for (const user of this.#assigned.keys()) {
      if (++placed % PLACED_IN_PART === 0) yield;
      this.#place(user);
    }
  }

  /** A user to whom nothing is assigned is in the class of those. A robot stands for itself, in no class with users. */
  classOf(user: string): PeopleClass {
    return this.#classOf.get(user) ?? (user.startsWith(ROBOT) ? this.#robot(user) : this.classFor(NOTHING));
  }

  has(user: string): boolean {
    return this.#classOf.has(user);
  }

  /** The class of users to whom exactly this is assigned. It may have no users. */
  classFor(assigned: readonly Assignment[]): PeopleClass {
    const key = keyOf(assigned);
    const known = this.#classes.get(key);
    if (known) return known;
    const fresh = {
      subject: `user:class-${this.#created++}`,
      assigned: assigned.map(({ object, relation }) => ({ object, relation })),
      objects: new Set(assigned.map(({ object }) => object)),
      teamIds: [...new Set(assigned.flatMap(({ object, relation }) => (relation === 'member' ? [idOf(object)] : [])))],
      isAdministrator: assigned.some(isOffice),
      users: new Set<string>(),
    };
    this.#classes.set(key, fresh);
    return fresh;
  }

  /** What a source assigns to users. */
  *tuplesOf(source: string): Generator<GraphTuple, void, void> {
    this.#usersOf ??= this.#usersBySource();
    for (const user of this.#usersOf.get(source) ?? []) {
      for (const tuple of this.#assigned.get(user) ?? NOTHING) if (tuple.source === source) yield tuple;
    }
  }

  /** Everything that is assigned to a user. */
  assignedTo(user: string): readonly GraphTuple[] {
    return this.#assigned.get(user) ?? NOTHING;
  }

  /** Those that assign something to a user. */
  sourcesOf(user: string): Set<string> {
    return new Set((this.#assigned.get(user) ?? NOTHING).map(({ source }) => source));
  }

  /** Replaces what a source assigns to a user. Returns the class that has no users any more, if there is one. */
  assign(user: string, source: string, tuples: readonly Assignment[]): PeopleClass | undefined {
    const others = (this.#assigned.get(user) ?? NOTHING).filter((tuple) => tuple.source !== source);
    const fresh = tuples.map(({ object, relation }) => ({ object, relation, user, source }));
    this.#assigned.set(user, [...others, ...fresh]);
    if (this.#usersOf && fresh.length > 0) noteUser(this.#usersOf, fresh);
    else this.#usersOf?.get(source)?.delete(user);
    const left = this.#classOf.get(user);
    left?.users.delete(user);
    this.#place(user);
    if (!left || left.users.size > 0) return undefined;
    this.#classes.delete(keyOf(left.assigned));
    return left;
  }

  /** What is assigned to robots is in the graph itself. */
  #robot(subject: string): PeopleClass {
    const none = { assigned: [], objects: new Set<string>(), teamIds: [], isAdministrator: false };
    const known = this.#robots.get(subject) ?? { subject, ...none, users: new Set<string>() };
    this.#robots.set(subject, known);
    return known;
  }

  #usersBySource(): Map<string, Set<string>> {
    const found = new Map<string, Set<string>>();
    for (const tuples of this.#assigned.values()) noteUser(found, tuples);
    return found;
  }

  #place(user: string): void {
    const assigned = this.#assigned.get(user) ?? NOTHING;
    if (assigned.length === 0) {
      this.#assigned.delete(user);
      this.#classOf.delete(user);
      return;
    }
    const found = this.classFor(assigned);
    found.users.add(user);
    this.#classOf.set(user, found);
  }
}

/** Whether it makes site administrators. */
export function isOffice({ object }: Assignment): boolean {
  return object.startsWith('platform:');
}

/** Whether a tuple is about a single user. */
export function isPerson(user: string): boolean {
  return user.startsWith('user:') && user !== 'user:*';
}

function noteUser(usersOf: Map<string, Set<string>>, tuples: readonly GraphTuple[]): void {
  for (const { source, user } of tuples) {
    const users = usersOf.get(source);
    if (users) users.add(user);
    else usersOf.set(source, new Set([user]));
  }
}

function keyOf(assigned: readonly Assignment[]): string {
  const texts = assigned.map(({ object, relation }) => `${object}#${relation}`);
  return texts.length === 1 ? (texts[0] ?? '') : texts.sort().join(' ');
}
