import { aligned } from './rows.ts';

/** Columns of a pair: the two classes, the revision of the graph, one more than what was found, and the exceptions. */
const CALLER = 0;
const OBJECT = 1;
const REVISION = 2;
const FOUND = 3;
const EXCEPTIONS = 4;
const COLUMNS = 8;

/** Two pairs fill a cache line. */
const LINE = 2 * COLUMNS;

export const MAX_EXCEPTIONS = COLUMNS - EXCEPTIONS;

/** What was found for pairs of classes, as an integer. Of all pairs that share a line, the latest two are known. */
export class Pairs {
  readonly #lines: number;
  readonly #cells: Int32Array;

  constructor(lines: number) {
    this.#lines = lines;
    this.#cells = aligned(lines * LINE);
  }

  get bytes(): number {
    return this.#cells.buffer.byteLength;
  }

  /** -1 if nothing is known in this revision, or if the object with this number is an exception. */
  find(caller: number, object: number, revision: number, number: number): number {
    const cells = this.#cells;
    const line = this.#lineOf(caller, object);
    const at = this.#isAt(line, caller, object) ? line : line + COLUMNS;
    if (!this.#isAt(at, caller, object) || cells[at + REVISION] !== revision) return -1;
    for (let i = at + EXCEPTIONS; i < at + COLUMNS; i++) if (cells[i] === number) return -1;
    return (cells[at + FOUND] as number) - 1;
  }

  enter(caller: number, object: number, revision: number, found: number, exceptions: readonly number[]): void {
    const cells = this.#cells;
    const at = this.#lineOf(caller, object);
    if (!this.#isAt(at, caller, object)) cells.copyWithin(at + COLUMNS, at, at + COLUMNS);
    cells[at + CALLER] = caller;
    cells[at + OBJECT] = object;
    cells[at + REVISION] = revision;
    cells[at + FOUND] = found + 1;
    for (let i = 0; i < MAX_EXCEPTIONS; i++) cells[at + EXCEPTIONS + i] = exceptions[i] ?? 0;
  }

  clear(): void {
    this.#cells.fill(0);
  }

  #isAt(at: number, caller: number, object: number): boolean {
    return this.#cells[at + CALLER] === caller && this.#cells[at + OBJECT] === object;
  }

  #lineOf(caller: number, object: number): number {
    const mixed = Math.imul(caller, 0x9e3779b1) ^ Math.imul(object, 0x85ebca6b);
    return Math.trunc(((mixed ^ (mixed >>> 15)) >>> 0) * (this.#lines / 2 ** 32)) * LINE;
  }
}
