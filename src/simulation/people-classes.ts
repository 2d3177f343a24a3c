import { idOf } from '../authz/object-ref.ts';
import type { GraphTuple } from '../changes/graph-tuple.ts';

/** The assignments of a user, without the user. */
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
const NO_USERS: ReadonlySet<string> = new Set();

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
    for (const user of this.usersOf(source)) yield* this.assignedBy(user, source);
  }

  /** The users to whom a source assigns something. */
  usersOf(source: string): ReadonlySet<string> {
    for (const _ of this.findUsers()) {
      // All of them.
    }
    return this.#usersOf?.get(source) ?? NO_USERS;
  }

  /** So that `usersOf` knows them. Other requests may run at each `yield`. */
  *findUsers(): Generator<void, void, void> {
    if (this.#usersOf) return;
    const found = new Map<string, Set<string>>();
    let read = 0;
    for (const tuples of this.#assigned.values()) {
      noteUser(found, tuples);
      if (++read % PLACED_IN_PART === 0) yield;
    }
    this.#usersOf = found;
  }

  /** What a source assigns to a user. */
  assignedBy(user: string, source: string): readonly GraphTuple[] {
    return (this.#assigned.get(user) ?? NOTHING).filter((tuple) => tuple.source === source);
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
    const before = this.#assigned.get(user) ?? NOTHING;
    const others = before.filter((tuple) => tuple.source !== source);
    if (tuples.length === 0 && others.length === before.length) return undefined;
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

  /** The assignments of robots are in the graph itself. */
  #robot(subject: string): PeopleClass {
    const none = { assigned: [], objects: new Set<string>(), teamIds: [], isAdministrator: false };
    const known = this.#robots.get(subject) ?? { subject, ...none, users: new Set<string>() };
    this.#robots.set(subject, known);
    return known;
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
  const [first, second] = assigned;
  if (first && !second) return textOf(first);
  return assigned.map(textOf).sort().join(' ');
}

function textOf({ object, relation }: Assignment): string {
  return `${object}#${relation}`;
}
