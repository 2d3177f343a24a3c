/** The length of a row of nodes and edges. Two rows fill a cache line. */
export const ROW = 8;

/**
 * Rows of integers in one growing array. A row is within one cache line, and the garbage collector ignores its content.
 */
export class Rows {
  readonly stride: number;
  length = 0;
  cells: Int32Array;
  readonly #gaps: number[] = [];

  constructor(stride: number, capacity = 16) {
    this.stride = stride;
    this.cells = aligned(stride * capacity);
  }

  /** A new row, all -1. */
  push(): number {
    const row = this.length++;
    const end = this.length * this.stride;
    if (end > this.cells.length) this.#resize(Math.ceil(this.length * 1.5) + 16);
    for (let cell = end - this.stride; cell < end; cell++) this.cells[cell] = -1;
    return row;
  }

  /** A new row at the start of a pair, which is a cache line. The other row of the pair is for what is read with it. */
  pushFirst(): number {
    if (this.length % 2 === 1) this.#gaps.push(this.push());
    return this.push();
  }

  /** A new row that completes the last pair, or fills a gap. */
  pushSecond(): number {
    return this.length % 2 === 1 || this.#gaps.length === 0 ? this.push() : (this.#gaps.pop() as number);
  }

  get(row: number, column: number): number {
    return this.cells[row * this.stride + column] as number;
  }

  set(row: number, column: number, value: number): void {
    this.cells[row * this.stride + column] = value;
  }

  /** Reserves room for this many more rows, if their number is known in advance. */
  reserve(rows: number): void {
    if ((this.length + rows) * this.stride > this.cells.length) this.#resize(this.length + rows);
  }

  /** Releases memory that was allocated ahead, once the bulk is loaded. */
  trim(): void {
    if (this.cells.length > this.length * this.stride * 1.06 + 64) this.#resize(Math.ceil(this.length * 1.05) + 4);
  }

  get bytes(): number {
    return this.cells.buffer.byteLength;
  }

  #resize(rows: number): void {
    const grown = aligned(rows * this.stride);
    grown.set(this.cells.subarray(0, Math.min(this.cells.length, grown.length)));
    this.cells = grown;
  }
}

/**
 * A large block begins 16 bytes after a page boundary, so every other row would span two cache lines. Starting 112 bytes
 * later, no row does, and the two cache lines that a processor reads together are those that belong together.
 */
export function aligned(cells: number): Int32Array {
  return new Int32Array(new ArrayBuffer(cells * 4 + 128), 112, cells);
}

/** A hash index over some of the rows: heads by bucket, the chain in a column of the rows themselves. */
export class Buckets {
  heads: Int32Array = new Int32Array(16).fill(-1);
  readonly #rows: Rows;
  readonly #chain: number;
  #count = 0;

  constructor(rows: Rows, chain: number) {
    this.#rows = rows;
    this.#chain = chain;
  }

  get count(): number {
    return this.#count;
  }

  /** Enters a row. If the index has become too small, widens it and enters all other rows again. */
  enter(row: number, hashOf: (row: number) => number): void {
    if (++this.#count > this.heads.length) this.#widen(hashOf, this.heads.length * 2);
    this.#insert(row, hashOf(row));
  }

  /** Reserves room for this many more rows, so that they are not all entered again as the index grows. */
  reserve(rows: number, hashOf: (row: number) => number): void {
    const needed = this.#count + rows;
    if (needed > this.heads.length) this.#widen(hashOf, 2 ** Math.ceil(Math.log2(needed)));
  }

  get bytes(): number {
    return this.heads.byteLength;
  }

  #widen(hashOf: (row: number) => number, buckets: number): void {
    const before = this.heads;
    this.heads = new Int32Array(buckets).fill(-1);
    for (const head of before) {
      for (let row = head; row !== -1; ) {
        const next = this.#rows.get(row, this.#chain);
        this.#insert(row, hashOf(row));
        row = next;
      }
    }
  }

  #insert(row: number, hash: number): void {
    const bucket = hash & (this.heads.length - 1);
    this.#rows.set(row, this.#chain, this.heads[bucket] as number);
    this.heads[bucket] = row;
  }
}
