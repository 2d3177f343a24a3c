import { RelationSets } from './relation-sets.ts';
import { Buckets, ROW, type Rows } from './rows.ts';

const SUBJECT = 0;
const OBJECT = 1;
const SET = 2;
const NEXT_IN = 3;
const NEXT_OUT = 4;
const FIRST = 5;
const CHAIN = 6;
const CONDITIONAL = 7;

/** One edge for all tuples from one subject to one object, found by that pair. */
export class Edges {
  readonly #rows: Rows;
  readonly #sets = new RelationSets();
  readonly #index: Buckets;

  constructor(rows: Rows) {
    this.#rows = rows;
    this.#index = new Buckets(rows, CHAIN);
  }

  get count(): number {
    return this.#index.count;
  }

  /** How many different sets of relations the edges have. */
  get setCount(): number {
    return this.#sets.count;
  }

  get bytes(): number {
    return this.#index.bytes + this.#sets.bytes;
  }

  /** The edge between two nodes, or -1. */
  find(subject: number, object: number): number {
    const { cells } = this.#rows;
    const { heads } = this.#index;
    let edge = heads[hashPair(subject, object) & (heads.length - 1)] as number;
    while (edge !== -1) {
      const row = edge * ROW;
      if (cells[row] === subject && cells[row + OBJECT] === object) return edge;
      edge = cells[row + CHAIN] as number;
    }
    return -1;
  }

  /** Appends an edge that does not exist yet, at the front of the two lists that it belongs to. */
  push(subject: number, object: number, nextIn: number, nextOut: number): number {
    const edge = this.#rows.pushSecond();
    const row = edge * ROW;
    const { cells } = this.#rows;
    cells[row + SUBJECT] = subject;
    cells[row + OBJECT] = object;
    cells[row + SET] = 0;
    cells[row + NEXT_IN] = nextIn;
    cells[row + NEXT_OUT] = nextOut;
    cells[row + CONDITIONAL] = 0;
    this.#index.enter(edge, this.#hashOf);
    return edge;
  }

  subject(edge: number): number {
    return this.#rows.cells[edge * ROW + SUBJECT] as number;
  }

  object(edge: number): number {
    return this.#rows.cells[edge * ROW + OBJECT] as number;
  }

  /** The relations stated by tuples without a condition, ascending. */
  relations(edge: number): readonly number[] {
    return this.#sets.members[this.#rows.cells[edge * ROW + SET] as number] as readonly number[];
  }

  /** The number of that set, for `relationsOf`. */
  set(edge: number): number {
    return this.#rows.cells[edge * ROW + SET] as number;
  }

  relationsOf(set: number): readonly number[] {
    return this.#sets.members[set] as readonly number[];
  }

  /** How many of the edge's tuples have a condition. */
  conditional(edge: number): number {
    return this.#rows.cells[edge * ROW + CONDITIONAL] as number;
  }

  /** The next edge into the same object, or -1 at the end. */
  nextIn(edge: number): number {
    return this.#rows.cells[edge * ROW + NEXT_IN] as number;
  }

  /** The next edge out of the same subject, or -1 at the end. */
  nextOut(edge: number): number {
    return this.#rows.cells[edge * ROW + NEXT_OUT] as number;
  }

  /** The first of the edge's tuples, or -1 if all are gone. */
  first(edge: number): number {
    return this.#rows.get(edge, FIRST);
  }

  setFirst(edge: number, tuple: number): void {
    this.#rows.set(edge, FIRST, tuple);
  }

  /** Marks an edge whose tuples have changed. Returns false if it is marked already. */
  touch(edge: number): boolean {
    const set = this.#rows.get(edge, SET);
    if (set < 0) return false;
    this.#rows.set(edge, SET, -1 - set);
    return true;
  }

  /** Removes the mark and enters what the tuples of the edge state now. The relations are ascending and distinct. */
  settle(edge: number, relations: readonly number[], conditional: number): void {
    // The new set is acquired first: if it is the same, it is neither dropped nor created.
    const before = -1 - this.#rows.get(edge, SET);
    this.#rows.set(edge, SET, this.#sets.acquire(relations));
    this.#sets.release(before);
    this.#rows.set(edge, CONDITIONAL, conditional);
  }

  reserve(edges: number): void {
    this.#index.reserve(edges, this.#hashOf);
  }

  readonly #hashOf = (edge: number): number => hashPair(this.subject(edge), this.object(edge));
}

function hashPair(subject: number, object: number): number {
  const mixed = Math.imul(subject, 0x9e3779b1) ^ Math.imul(object, 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) >>> 1;
}
