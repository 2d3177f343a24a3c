/** Rows of integers in one growing array: a row lies in one cache line, and nothing in it is seen by the garbage collector. */
export class Rows {
  readonly stride: number;
  length = 0;
  cells: Int32Array;

  constructor(stride: number, capacity = 16) {
    this.stride = stride;
    this.cells = new Int32Array(stride * capacity);
  }

  /** A new row, all -1. */
  push(): number {
    const row = this.length++;
    const end = this.length * this.stride;
    if (end > this.cells.length) this.#resize(Math.ceil(this.length * 1.5) + 16);
    for (let cell = end - this.stride; cell < end; cell++) this.cells[cell] = -1;
    return row;
  }

  get(row: number, column: number): number {
    return this.cells[row * this.stride + column] as number;
  }

  set(row: number, column: number, value: number): void {
    this.cells[row * this.stride + column] = value;
  }

  /** Gives back what growing has taken ahead, once the bulk is in. */
  trim(): void {
    if (this.cells.length > this.length * this.stride * 1.1 + 64) this.#resize(Math.ceil(this.length * 1.05) + 4);
  }

  get bytes(): number {
    return this.cells.byteLength;
  }

  #resize(rows: number): void {
    const grown = new Int32Array(rows * this.stride);
    grown.set(this.cells.subarray(0, Math.min(this.cells.length, grown.length)));
    this.cells = grown;
  }
}

/** A hash index over rows: heads by bucket, the chain in a column of the rows themselves. */
export class Buckets {
  heads: Int32Array = new Int32Array(16).fill(-1);
  readonly #room: number;

  /** @param room how many buckets there are at least for a row: the more, the seldomer are two in one */
  constructor(room: number) {
    this.#room = room;
  }

  /** True when the index has become too narrow and was emptied: every row must be inserted again. */
  widen(rows: number): boolean {
    if (rows * this.#room <= this.heads.length) return false;
    this.heads = new Int32Array(this.heads.length * 2).fill(-1);
    return true;
  }

  get bytes(): number {
    return this.heads.byteLength;
  }
}
