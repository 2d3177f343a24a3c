import { hashName, hashNumber, Names, numberIn } from './name-table.ts';
import { Buckets, ROW, type Rows } from './rows.ts';

/**
 * Columns of a node. `REF` is the name of an object (a number, or the position of its text), or the object of a
 * userset.
 */
const KIND = 0;
const REF = 1;
const CHAIN = 2;
/** First of the edges into this object that every walk over it must visit. */
export const LINKS = 3;
/** First of the other edges into this object: those that the caller's closure finds by itself. */
export const GRANTS = 4;
/** First of the edges out of this subject into objects from which the closure continues. */
export const USES = 5;
/** First of the other edges out of this subject. */
export const REACHES = 6;
/** Of an object: the first of its usersets that are subjects. Of such a userset: the next. */
const USERSETS = 7;

/** Everything that can be on the left or right of a relation, as an integer: objects, `type:*`, and usersets. */
export class Nodes {
  readonly rows: Rows;
  /** All usersets that have been a subject. */
  readonly usersets: number[] = [];
  readonly #names = new Names();
  readonly #buckets: Buckets;

  constructor(rows: Rows) {
    this.rows = rows;
    this.#buckets = new Buckets(rows, CHAIN);
  }

  /** No node has this number or a higher one. */
  get end(): number {
    return this.rows.length;
  }

  /** How many nodes have a name. */
  get count(): number {
    return this.#buckets.count;
  }

  kind(node: number): number {
    return this.rows.cells[node * ROW] as number;
  }

  /** The name of an object if it is a number, as `numberIn` returns it. For any other node, not negative. */
  number(node: number): number {
    return this.rows.cells[node * ROW + REF] as number;
  }

  /** The object that a userset belongs to. */
  base(userset: number): number {
    return this.rows.cells[userset * ROW + REF] as number;
  }

  first(node: number, list: number): number {
    return this.rows.cells[node * ROW + list] as number;
  }

  /** The first node in the bucket of a name. Usually it is the right one. */
  guess(kind: number, text: string, from: number, to: number, number = numberIn(text, from, to)): number {
    const { heads } = this.#buckets;
    const hash = number === 0 ? hashName(kind, text, from, to) : hashNumber(kind, number);
    return heads[hash & (heads.length - 1)] as number;
  }

  /** The node of this kind whose name is the part of the text between `from` and `to`, or -1. */
  find(kind: number, text: string, from: number, to: number, number = numberIn(text, from, to)): number {
    const { cells } = this.rows;
    let node = this.guess(kind, text, from, to, number);
    while (node !== -1) {
      const row = node * ROW;
      const ref = cells[row + REF] as number;
      if (cells[row] === kind && (number === 0 ? ref >= 0 && this.#names.same(ref, text, from, to) : ref === number))
        return node;
      node = cells[row + CHAIN] as number;
    }
    return -1;
  }

  intern(kind: number, text: string, from: number, to: number): number {
    const number = numberIn(text, from, to);
    if (number !== 0) return this.internNumber(kind, number);
    const found = this.find(kind, text, from, to, number);
    return found === -1 ? this.#push(kind, this.#names.write(text, from, to)) : found;
  }

  /** The same for a name that is a number, as `numberIn` returns it. */
  internNumber(kind: number, number: number): number {
    const { cells } = this.rows;
    const { heads } = this.#buckets;
    for (let node = heads[hashNumber(kind, number) & (heads.length - 1)] as number; node !== -1; ) {
      const row = node * ROW;
      if (cells[row + REF] === number && cells[row] === kind) return node;
      node = cells[row + CHAIN] as number;
    }
    return this.#push(kind, number);
  }

  #push(kind: number, ref: number): number {
    const node = this.rows.pushFirst();
    this.rows.set(node, KIND, kind);
    this.rows.set(node, REF, ref);
    this.#buckets.enter(node, this.#hashOf);
    return node;
  }

  /** The first userset of an object, or the one after a userset; -1 at the end. */
  nextUserset(node: number): number {
    return this.rows.cells[node * ROW + USERSETS] as number;
  }

  findUserset(object: number, kind: number): number {
    let node = this.nextUserset(object);
    while (node !== -1 && this.kind(node) !== kind) node = this.nextUserset(node);
    return node;
  }

  internUserset(object: number, kind: number): number {
    const found = this.findUserset(object, kind);
    if (found !== -1) return found;
    const node = this.rows.push();
    this.rows.set(node, KIND, kind);
    this.rows.set(node, REF, object);
    this.rows.set(node, USERSETS, this.nextUserset(object));
    this.rows.set(object, USERSETS, node);
    this.usersets.push(node);
    return node;
  }

  /** The name of an object without its type. */
  name(node: number): string {
    const ref = this.rows.get(node, REF);
    return ref < 0 ? String(-ref - 1) : this.#names.read(ref);
  }

  trim(): void {
    this.#names.trim();
  }

  get bytes(): number {
    return this.#buckets.bytes + this.#names.bytes + this.usersets.length * 8;
  }

  reserve(nodes: number): void {
    this.#buckets.reserve(nodes, this.#hashOf);
  }

  readonly #hashOf = (node: number): number => {
    const ref = this.rows.get(node, REF);
    if (ref < 0) return hashNumber(this.kind(node), ref);
    const name = this.#names.read(ref);
    return hashName(this.kind(node), name, 0, name.length);
  };
}
