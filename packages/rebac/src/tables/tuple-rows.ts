import { Rows } from './rows.ts';

/** Columns of a tuple: its edge, its relation, and the next tuple of its source and of its edge. */
const OF_EDGE = 0;
const RELATION = 1;
const NEXT_OF_SOURCE = 2;
const NEXT_OF_EDGE = 3;

/** The relation of a tuple that is gone but not yet removed from its edge. */
export const GONE = -1;

/** Roughly what a source and what an aside take in memory. */
const SOURCE_BYTES = 100;
const ASIDE_BYTES = 400;

/**
 * Tuples as integers, which are needed for patching. Each is in two lists, that of its source and that of its edge. What
 * does not fit into integers, its condition, is kept aside.
 */
export class TupleRows<Aside> {
  readonly #rows = new Rows(4);
  readonly #sources = new Map<string, number>();
  readonly #asides = new Map<number, Aside>();
  #free = -1;
  #live = 0;

  get size(): number {
    return this.#live;
  }

  get sources(): IterableIterator<string> {
    return this.#sources.keys();
  }

  get bytes(): number {
    return this.#rows.bytes + this.#sources.size * SOURCE_BYTES + this.#asides.size * ASIDE_BYTES;
  }

  edge(tuple: number): number {
    return this.#rows.get(tuple, OF_EDGE);
  }

  relation(tuple: number): number {
    return this.#rows.get(tuple, RELATION);
  }

  aside(tuple: number): Aside | undefined {
    return this.#asides.get(tuple);
  }

  /** The next tuple of the same edge, or -1. */
  next(tuple: number): number {
    return this.#rows.get(tuple, NEXT_OF_EDGE);
  }

  setNext(tuple: number, next: number): void {
    this.#rows.set(tuple, NEXT_OF_EDGE, next);
  }

  /** The tuples of a source, the latest first. */
  *of(source: string): IterableIterator<number> {
    for (let tuple = this.#sources.get(source) ?? -1; tuple !== -1; ) {
      const next = this.#rows.get(tuple, NEXT_OF_SOURCE);
      yield tuple;
      tuple = next;
    }
  }

  /** Adds a tuple at the front of both lists. `next` is the first tuple of the edge so far. */
  add(source: string, edge: number, relation: number, next: number, aside: Aside | undefined): number {
    const tuple = this.#free === -1 ? this.#rows.push() : this.#free;
    if (tuple === this.#free) this.#free = this.#rows.get(tuple, NEXT_OF_SOURCE);
    const last = this.#sources.get(source);
    this.#rows.set(tuple, OF_EDGE, edge);
    this.#rows.set(tuple, RELATION, relation);
    this.#rows.set(tuple, NEXT_OF_SOURCE, last ?? -1);
    this.#rows.set(tuple, NEXT_OF_EDGE, next);
    this.#sources.set(last === undefined ? copyOf(source) : source, tuple);
    if (aside !== undefined) this.#asides.set(tuple, aside);
    this.#live++;
    return tuple;
  }

  /** Marks the tuples of a source as gone. They stay in the lists of their edges until they are released. */
  drop(source: string): number[] {
    const dropped = [...this.of(source)];
    this.#sources.delete(source);
    for (const tuple of dropped) {
      this.#rows.set(tuple, RELATION, GONE);
      this.#asides.delete(tuple);
    }
    this.#live -= dropped.length;
    return dropped;
  }

  /** The row of a tuple that is gone, and that is in no list any more, can be used again. */
  release(tuple: number): void {
    this.#rows.set(tuple, NEXT_OF_SOURCE, this.#free);
    this.#free = tuple;
  }

  reserve(tuples: number): void {
    this.#rows.reserve(tuples);
  }

  trim(): void {
    this.#rows.trim();
  }
}

/**
 * V8 keeps a whole string (here the text of all tuples) in memory for a slice of it, unless the slice is this short.
 */
const COPIED = 12;

function copyOf(part: string): string {
  let copy = '';
  for (let at = 0; at < part.length; at += COPIED) copy += part.slice(at, at + COPIED);
  return copy;
}
