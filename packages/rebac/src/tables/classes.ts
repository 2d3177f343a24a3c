import { hashNumber } from './name-table.ts';
import { Pairs } from './pairs.ts';
import { aligned, Buckets, Rows } from './rows.ts';

/**
 * A node takes two cells: its number and its class. A line has room for sixteen nodes, in two cache lines that a
 * processor reads together. There are enough lines for twelve on average, so few of them are full.
 */
const NODE_CELLS = 2;
const LINE_NODES = 16;
const USUAL_NODES = 12;
const LINE = LINE_NODES * NODE_CELLS;

/** Columns of a class: whose it is, then the other end and the relation set of each edge, then the chain of its bucket. */
const TAG = 0;
const EDGES = 1;
const CHAIN = 7;
const COLUMNS = 8;

/** More edges do not fit into a class. A node that has more is in none. */
export const MAX_EDGES = (CHAIN - EDGES) / 2;

/** Tests classify small graphs, too. */
const MIN_LINES = 64;

/** The two sides of a question. A node can be in a class on each. */
export type Side = 0 | 1;
export const CALLER: Side = 0;
export const OBJECT: Side = 1;

/**
 * Nodes of one kind with the same edges to the same nodes belong to one class. Only nodes whose names are numbers have
 * one, and only once they were asked about.
 */
export class Classes {
  /** What was found for two classes. */
  readonly pairs: Pairs;
  readonly #nodes: Int32Array;
  readonly #lines: number;
  readonly #maxClasses: number;
  #rows = new Rows(COLUMNS);
  #index = new Buckets(this.#rows, CHAIN);
  #replaced = 0;

  /** @param nodes how many nodes the graph has */
  constructor(nodes: number) {
    this.#lines = Math.max(Math.ceil(nodes / USUAL_NODES), MIN_LINES);
    this.#nodes = aligned(this.#lines * LINE);
    this.#maxClasses = this.#lines;
    this.pairs = new Pairs(this.#lines >> 1);
  }

  get bytes(): number {
    return this.#nodes.buffer.byteLength + this.pairs.bytes + this.#rows.bytes + this.#index.bytes;
  }

  /** The line that a node is in, if it is in any. */
  lineOf(kind: number, number: number): number {
    return Math.trunc(hashNumber(kind, number) * (this.#lines / 2 ** 31)) * LINE;
  }

  /** Any cell of a line, to have the line read ahead. */
  peek(line: number): number {
    return this.#nodes[line] as number;
  }

  /** The class of a node, or -1. */
  find(line: number, kind: number, side: Side, number: number): number {
    const nodes = this.#nodes;
    const { cells } = this.#rows;
    const tag = kind * 2 + side;
    for (let at = line; at < line + LINE; at += NODE_CELLS) {
      if (nodes[at] !== number) continue;
      const found = nodes[at + 1] as number;
      if (cells[found * COLUMNS + TAG] === tag) return found;
    }
    return -1;
  }

  /**
   * Call it before entering a pair of nodes: if there are too many classes, forgets all of them. Otherwise classes of
   * edges that no longer exist would pile up.
   */
  limit(): void {
    if (this.#index.count < this.#maxClasses) return;
    this.#nodes.fill(0);
    this.#rows = new Rows(COLUMNS);
    this.#index = new Buckets(this.#rows, CHAIN);
    this.pairs.clear();
  }

  /** Enters a node that is in no class on this side. `edges` has the other end and the relation set of each. */
  enter(kind: number, side: Side, number: number, edges: readonly number[]): number {
    const found = this.#classOf(kind * 2 + side, edges);
    const line = this.lineOf(kind, number);
    const at = this.#vacancy(line);
    this.#nodes[at] = number;
    this.#nodes[at + 1] = found;
    return found;
  }

  /** Call it when an edge of the node changes. */
  forget(kind: number, number: number): void {
    const nodes = this.#nodes;
    const line = this.lineOf(kind, number);
    for (let at = line; at < line + LINE; at += NODE_CELLS) {
      if (nodes[at] === number && this.#rows.get(nodes[at + 1] as number, TAG) >> 1 === kind) nodes[at] = 0;
    }
  }

  /** No number is 0, so that marks an empty place. In a full line, one node after the other gives way. */
  #vacancy(line: number): number {
    for (let at = line; at < line + LINE; at += NODE_CELLS) if (this.#nodes[at] === 0) return at;
    return line + (this.#replaced++ % LINE_NODES) * NODE_CELLS;
  }

  #classOf(tag: number, edges: readonly number[]): number {
    const { heads } = this.#index;
    let found = heads[hashClass(tag, edges) & (heads.length - 1)] as number;
    while (found !== -1 && !this.#is(found, tag, edges)) found = this.#rows.get(found, CHAIN);
    return found === -1 ? this.#push(tag, edges) : found;
  }

  /** Whether it is the class with exactly these edges. The columns after them are -1. */
  #is(found: number, tag: number, edges: readonly number[]): boolean {
    if (this.#rows.get(found, TAG) !== tag) return false;
    for (let i = 0; i < 2 * MAX_EDGES; i++) if (this.#rows.get(found, EDGES + i) !== (edges[i] ?? -1)) return false;
    return true;
  }

  #push(tag: number, edges: readonly number[]): number {
    const pushed = this.#rows.push();
    this.#rows.set(pushed, TAG, tag);
    for (const [i, cell] of edges.entries()) this.#rows.set(pushed, EDGES + i, cell);
    this.#index.enter(pushed, this.#hashOf);
    return pushed;
  }

  readonly #hashOf = (row: number): number => {
    const edges: number[] = [];
    for (let i = EDGES; i < CHAIN && this.#rows.get(row, i) !== -1; i++) edges.push(this.#rows.get(row, i));
    return hashClass(this.#rows.get(row, TAG), edges);
  };
}

function hashClass(tag: number, edges: readonly number[]): number {
  let value = tag;
  for (let i = 0; i < edges.length; i++) value = Math.imul(value ^ (edges[i] as number), 0x9e3779b1) ^ (value >>> 15);
  return (value ^ (value >>> 15)) >>> 1;
}
