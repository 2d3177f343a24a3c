/**
 * A copy of an organization that can be changed without writing anything: its teams and roles in a graph, its users and
 * other objects in classes.
 */

import { createGraph, type Graph, type Model, type Tuple } from '../../packages/rebac/src/rebac.ts';
import type { Graphs } from '../authz/graphs.ts';
import { createYielder, type Yielder } from '../base/scheduling/slices.ts';
import type { GraphTuple } from '../changes/graph-tuple.ts';
import { OBJECT_KINDS } from '../changes/object-kinds.ts';
import { ClassAnswers } from './class-answers.ts';
import { ObjectClasses, ownTuples, STRUCTURE, typeOf } from './object-classes.ts';
import { type Assignment, isPerson, type PeopleClass, PeopleClasses } from './people-classes.ts';

/** Takes back a change of the copy. */
export type Undo = () => void;

const TUPLES_IN_PIECE = 100;
const TUPLES_IN_PART = 1_000;
const USER_BYTES = 600;
const OBJECT_BYTES = 200;
const KINDS = Object.entries(OBJECT_KINDS);

/** Reads the tuples of an organization, in any order. */
export class CopyReader {
  readonly people = new PeopleClasses();
  readonly objects = new ObjectClasses();
  /** What is stated about teams and roles, except to single users. */
  readonly structure: GraphTuple[] = [];

  readonly note = (tuple: GraphTuple): void => {
    if (isPerson(tuple.user)) {
      this.people.enter(tuple);
      return;
    }
    this.objects.enter(tuple);
    if (STRUCTURE.has(typeOf(tuple.object))) this.structure.push(tuple);
  };

  async copy(model: Model): Promise<OrganizationCopy> {
    const yieldIfDue = createYielder();
    for (const _ of this.people.placeAll()) await yieldIfDue();
    const graph = createGraph(model);
    for (const _ of graph.loadInParts(this.structure, this.structure.length, TUPLES_IN_PART)) await yieldIfDue();
    return new OrganizationCopy(graph, this.people, this.objects);
  }
}

/** As of the latest revision. */
export async function readOrganization(graphs: Pick<Graphs, 'eachTuple'>, organizationId: bigint): Promise<CopyReader> {
  const reader = new CopyReader();
  await graphs.eachTuple(organizationId, reader.note);
  return reader;
}

export async function copyFrom(model: Model, tuples: Iterable<GraphTuple>): Promise<OrganizationCopy> {
  const reader = new CopyReader();
  const yieldIfDue = createYielder();
  let read = 0;
  for (const tuple of tuples) {
    reader.note(tuple);
    if (++read % TUPLES_IN_PIECE === 0) await yieldIfDue();
  }
  return await reader.copy(model);
}

export class OrganizationCopy {
  readonly people: PeopleClasses;
  readonly objects: ObjectClasses;
  readonly answers: ClassAnswers;
  /** Increases with every change. */
  version = 0;

  constructor(graph: Graph, people: PeopleClasses, objects: ObjectClasses) {
    this.people = people;
    this.objects = objects;
    this.answers = new ClassAnswers(graph, objects);
  }

  get bytes(): number {
    return this.answers.bytes + this.people.userCount * USER_BYTES + this.objects.count * OBJECT_BYTES;
  }

  holds(user: string, relation: string, object: string): boolean {
    return this.answers.holds(this.people.classOf(user), relation, object);
  }

  /** Everything that a source states. */
  tuplesOf(source: string): Tuple[] {
    return [...this.#commonOf(source), ...this.people.tuplesOf(source)];
  }

  /** Replaces what a source states. Undefined if it stated exactly that before. */
  replaceSource(source: string, tuples: readonly Tuple[]): Undo | undefined {
    const replacing = this.replacing(source, tuples);
    for (let step = replacing.next(); ; step = replacing.next()) if (step.done) return step.value;
  }

  /**
   * The same, of which only the difference is done: a team can have fifty thousand members. Other requests may run at each
   * `yield`. If it is not finished, the copy is of no moment.
   */
  *replacing(source: string, tuples: readonly Tuple[]): Generator<void, Undo | undefined, void> {
    yield* this.people.findUsers();
    const common: Tuple[] = [];
    const stated = new Map<string, Tuple[]>();
    let seen = 0;
    for (const tuple of tuples) {
      const known = stated.get(tuple.user);
      if (!isPerson(tuple.user)) common.push(tuple);
      else if (known) known.push(tuple);
      else stated.set(tuple.user, [tuple]);
      if (++seen % TUPLES_IN_PIECE === 0) yield;
    }
    const commonBefore = this.#commonOf(source);
    const isCommon = isSame(commonBefore, common);
    if (!isCommon) this.restate(source, common);
    const before = new Map<string, readonly Assignment[]>();
    for (const user of new Set([...this.people.usersOf(source), ...stated.keys()])) {
      const had = this.people.assignedBy(user, source);
      const has = stated.get(user) ?? [];
      if (!isSame(had, has)) {
        this.assign(user, source, has);
        before.set(user, had);
      }
      if (++seen % TUPLES_IN_PIECE === 0) yield;
    }
    if (isCommon && before.size === 0) return undefined;
    return () => {
      if (!isCommon) this.restate(source, commonBefore);
      for (const [user, had] of before) this.assign(user, source, had);
    };
  }

  /** Replaces what a source states, except to single users. */
  restate(source: string, tuples: readonly Tuple[]): void {
    const before = this.#commonOf(source);
    if (isSame(before, tuples)) return;
    const byObject = Map.groupBy(tuples, ({ object }) => object);
    const kept = tuples.filter(({ object }) => STRUCTURE.has(typeOf(object)));
    this.answers.graph.replaceSource(source, kept);
    const isAssignment = typeOf(source) === 'assignment';
    if (isAssignment) this.#place(source, tuples);
    for (const object of new Set([...before.map((tuple) => tuple.object), ...byObject.keys()])) {
      // Many rows state something about the organization, and assignments about what they are on.
      if (typeOf(object) === 'organization' || (isAssignment && object !== source)) continue;
      this.answers.leaveObject(object);
      this.objects.state(object, byObject.get(object) ?? []);
    }
    this.answers.forget();
    this.version++;
  }

  /** Replaces what a source states to a single user. */
  assign(user: string, source: string, tuples: readonly Assignment[]): void {
    const left = this.people.assign(user, source, tuples);
    if (left) this.answers.leave(left);
    this.version++;
  }

  /** Objects of a type that are assigned to users of a class, and one object of each other class. */
  async samplesFor({ objects }: PeopleClass, type: string, yieldIfDue: Yielder): Promise<string[]> {
    const own = [...objects].filter((object) => typeOf(object) === type);
    const alike = await this.objects.alike(type, yieldIfDue);
    return [...own, ...alike.flatMap((some) => some.find((object) => !objects.has(object)) ?? [])];
  }

  #place(assignment: string, tuples: readonly Tuple[]): void {
    const places = [this.objects.placeOf(assignment), tuples.find(({ user }) => user === assignment)];
    for (const place of places) if (place) this.answers.leaveObject(place.object);
    this.objects.place(assignment, places[1]);
  }

  /** What a source states, except to single users. What it states about other objects than teams and roles is their facts. */
  #commonOf(source: string): Tuple[] {
    const [kind, id] = source.split(':');
    const others = KINDS.flatMap(([type, { source: from }]) =>
      from === kind && !STRUCTURE.has(type)
        ? ownTuples(`${type}:${id}`, this.objects.facts.get(`${type}:${id}`) ?? '')
        : [],
    );
    const place = this.objects.placeOf(source);
    if (place && !STRUCTURE.has(typeOf(place.object))) others.push(place);
    return [...this.answers.graph.tuplesOf(source), ...others];
  }
}

function isSame(before: readonly Tuple[], after: readonly Tuple[]): boolean {
  if (before.length !== after.length) return false;
  const [first, second] = [before[0], after[0]];
  if (before.length === 1 && first && second) return keyOf(first) === keyOf(second);
  const known = new Set(before.map(keyOf));
  return after.every((tuple) => known.has(keyOf(tuple)));
}

function keyOf({ user, relation, object }: Tuple): string {
  return `${object} ${relation} ${user}`;
}
