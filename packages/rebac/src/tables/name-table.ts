/**
 * Names as bytes outside the heap, because a million strings cost more than the graph itself. A name is its length in
 * two bytes, then one byte for each ASCII code unit and three for any other, so every string is read back exactly as
 * written.
 */
export class Names {
  #cells = new Uint8Array(256);
  #used = 0;

  write(text: string, from: number, to: number): number {
    const start = this.#used;
    const needed = start + 2 + (to - from) * 3;
    if (needed > this.#cells.length) this.#resize(Math.ceil(needed * 1.5));
    const cells = this.#cells;
    cells[start] = (to - from) >> 8;
    cells[start + 1] = to - from;
    let at = start + 2;
    for (let i = from; i < to; i++) {
      const unit = text.charCodeAt(i);
      if (unit < 0x80) {
        cells[at++] = unit;
      } else {
        cells[at++] = 0x80 | (unit >> 14);
        cells[at++] = (unit >> 7) & 0x7f;
        cells[at++] = unit & 0x7f;
      }
    }
    this.#used = at;
    return start;
  }

  same(start: number, text: string, from: number, to: number): boolean {
    const cells = this.#cells;
    if ((((cells[start] as number) << 8) | (cells[start + 1] as number)) !== to - from) return false;
    let at = start + 2;
    for (let i = from; i < to; i++) {
      const unit = text.charCodeAt(i);
      const byte = cells[at++] as number;
      if (byte < 0x80 ? byte !== unit : this.#wide(byte, at) !== unit) return false;
      if (byte >= 0x80) at += 2;
    }
    return true;
  }

  read(start: number): string {
    const cells = this.#cells;
    const units: number[] = [];
    let at = start + 2;
    for (let left = ((cells[start] as number) << 8) | (cells[start + 1] as number); left > 0; left--) {
      const byte = cells[at++] as number;
      units.push(byte < 0x80 ? byte : this.#wide(byte, at));
      if (byte >= 0x80) at += 2;
    }
    return String.fromCharCode(...units);
  }

  trim(): void {
    this.#resize(this.#used + 64);
  }

  get bytes(): number {
    return this.#cells.byteLength;
  }

  #wide(lead: number, at: number): number {
    return ((lead & 3) << 14) | ((this.#cells[at] as number) << 7) | (this.#cells[at + 1] as number);
  }

  #resize(bytes: number): void {
    const grown = new Uint8Array(bytes);
    grown.set(this.#cells.subarray(0, this.#used));
    this.#cells = grown;
  }
}

export function hashName(kind: number, text: string, from: number, to: number): number {
  let value = kind + 1;
  for (let i = from; i < to; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value ^= value >>> 15;
  return Math.imul(value, 0x2c1b3c6d) >>> 7;
}

/**
 * A name that is a plain decimal number needs no text: it is stored as `-number - 1`, which is never 0. For any other
 * name, returns 0.
 */
export function numberIn(text: string, from: number, to: number): number {
  if (to === from || to - from > 9 || (text.charCodeAt(from) === 48 && to - from > 1)) return 0;
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return 0;
    value = value * 10 + digit;
  }
  return -value - 1;
}

export function hashNumber(kind: number, number: number): number {
  const mixed = Math.imul(number ^ Math.imul(kind, 0x85ebca6b), 0x9e3779b1);
  return (mixed ^ (mixed >>> 15)) >>> 1;
}
