import { Bytes, CelError, CelMap, Duration, Timestamp, TypeName, Uint, type Value } from './cel-values.ts';
import { IpAddress } from './ip-address.ts';

const TWO_63 = 2 ** 63;
const TWO_64 = 2 ** 64;

/** Values of different types are not equal, but numbers of different types are compared by value. */
export function equal(a: Value, b: Value): boolean | CelError {
  if (a === null || b === null) return a === b;
  if (isNumber(a) && isNumber(b)) {
    if (Number.isNaN(a) || Number.isNaN(b)) return false;
    return compareNumbers(a, b) === 0;
  }
  if (a instanceof IpAddress) return b instanceof IpAddress ? a.equals(b) : noOverload('==');
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof Bytes) return b instanceof Bytes && compareBytes(a, b) === 0;
  if (a instanceof TypeName) return b instanceof TypeName && a.name === b.name;
  if (a instanceof CelMap) return b instanceof CelMap && sameEntries(a, b);
  if (Array.isArray(a)) return Array.isArray(b) && sameItems(a, b);
  return a === b;
}

/** An item that cannot be compared counts as equal, as in cel-go. */
function sameItems(a: readonly Value[], b: readonly Value[]): boolean {
  return a.length === b.length && a.every((item, index) => equal(item, b[index] as Value) !== false);
}

function sameEntries(a: CelMap, b: CelMap): boolean {
  if (a.size !== b.size) return false;
  return a.keys().every((key) => {
    const [mine, theirs] = [a.find(key), b.find(key)];
    return mine !== undefined && theirs !== undefined && equal(mine, theirs) !== false;
  });
}

/** Negative, zero or positive. */
export function compare(a: Value, b: Value): number | CelError {
  if (isNumber(a) && isNumber(b)) {
    if (Number.isNaN(a) || Number.isNaN(b)) return new CelError('NaN values cannot be ordered');
    return compareNumbers(a, b);
  }
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Timestamp && b instanceof Timestamp) return sign(a.nanos - b.nanos);
  if (a instanceof Duration && b instanceof Duration) return sign(a.nanos - b.nanos);
  if (a instanceof Bytes && b instanceof Bytes) return compareBytes(a, b);
  return noOverload('comparison');
}

type NumberValue = bigint | number | Uint;

function isNumber(value: Value): value is NumberValue {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint;
}

/** Next to a double, an integer is rounded to a double unless the double is out of its range. */
function compareNumbers(a: NumberValue, b: NumberValue): number {
  if (typeof b === 'number' && typeof a !== 'number') return -compareNumbers(b, a);
  if (typeof a !== 'number') return sign(wholeOf(a) - wholeOf(b as bigint | Uint));
  if (typeof b === 'number') return a < b ? -1 : Number(a > b);
  const [least, most] = b instanceof Uint ? [0, TWO_64] : [-TWO_63, TWO_63];
  if (a < least) return -1;
  return a > most ? 1 : compareNumbers(a, Number(wholeOf(b)));
}

function wholeOf(value: bigint | Uint): bigint {
  return value instanceof Uint ? value.value : value;
}

function sign(difference: bigint): number {
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** By code points, which is the order of UTF-8. In UTF-16, U+FFFF would come after U+1F600. */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

function compareBytes(a: Bytes, b: Bytes): number {
  return Buffer.compare(a.octets, b.octets);
}

export function noOverload(fn: string): CelError {
  return new CelError(`no such overload: ${fn}`);
}
