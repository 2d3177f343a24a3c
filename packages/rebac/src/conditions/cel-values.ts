import type { IpAddress } from './ip-address.ts';

/**
 * A value of CEL: an int is a bigint, a double is a number. An error is a value too, because `false && error` is false,
 * and because what is evaluated after an error still has its cost.
 */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint
  | Bytes
  | Duration
  | Timestamp
  | TypeName
  | IpAddress
  | CelMap
  | readonly Value[]
  | CelError;

export class CelError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

export class Bytes {
  readonly octets: Uint8Array;

  constructor(octets: Uint8Array) {
    this.octets = octets;
  }
}

export class Duration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class Timestamp {
  /** Since 1970, in UTC. */
  readonly nanos: bigint;
  /** The zone in which it was written, in seconds east of UTC. It shows only in its text. */
  readonly offset: number;

  constructor(nanos: bigint, offset = 0) {
    this.nanos = nanos;
    this.offset = offset;
  }
}

/** The value of `int`, or of `type(1)`. */
export class TypeName {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

type Key = string | bigint | number | boolean | Uint;

/**
 * Keys of different types are different, but a number is also found by an equal number of another type. Null is a key
 * like any other. A list or a map as a key, which only `any` makes possible, is never found again: cel-go compares such
 * keys by where they are in memory.
 */
export class CelMap {
  readonly #entries = new Map<string, readonly [Value, Value]>();

  get size(): number {
    return this.#entries.size;
  }

  set(key: Value, value: Value): void {
    const isFound = key === null || (isKey(key) && !Number.isNaN(key));
    this.#entries.set(isFound ? spell(key) : `other ${this.size}`, [key, value]);
  }

  find(key: Value): Value | undefined {
    for (const candidate of spellings(key)) {
      const found = this.#entries.get(candidate);
      if (found !== undefined) return found[1];
    }
    return;
  }

  keys(): Value[] {
    return Array.from(this.#entries.values(), ([key]) => key);
  }
}

export function isKey(value: Value): value is Key {
  return value instanceof Uint || /^(string|bigint|number|boolean)$/.test(typeof value);
}

/** Every text under which a key that is found by this value may be stored. */
export function spellings(value: Value): string[] {
  if (value === null) return [spell(value)];
  if (typeof value === 'bigint') return [spell(value), `uint ${value}`];
  if (value instanceof Uint) return [spell(value), `int ${value.value}`];
  if (typeof value !== 'number') return isKey(value) ? [spell(value)] : [];
  if (Number.isNaN(value)) return [];
  if (!Number.isInteger(value) || value <= -(2 ** 63) || value >= 2 ** 64) return [spell(value)];
  return [spell(value), `int ${BigInt(value)}`, `uint ${BigInt(value)}`];
}

export function spell(key: Key | null): string {
  if (key === null) return 'null';
  if (key instanceof Uint) return `uint ${key.value}`;
  return typeof key === 'bigint' ? `int ${key}` : `${typeof key} ${key}`;
}

export const MAX_INT = 2n ** 63n - 1n;
export const MIN_INT = -(2n ** 63n);
export const MAX_UINT = 2n ** 64n - 1n;

export function isInt(value: bigint): boolean {
  return value >= MIN_INT && value <= MAX_INT;
}

/** How many code points. */
export function lengthOf(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) length--;
  }
  return length;
}
