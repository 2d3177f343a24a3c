/** A pointer that cannot be followed; the message says why. */
export class PointerFault extends Error {}

export type Place = Record<string, unknown>;

const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);
const INDEX = /^(0|[1-9]\d{0,9})$/;
const BAD_ESCAPE = /~(?![01])/;
const MAX_KEYS = 32;
const MAX_LENGTH = 4096;

/** The keys of a pointer of RFC 6901. The whole document has no pointer here, because it must stay an object. */
export function readPointer(pointer: string): string[] {
  if (!pointer.startsWith('/')) throw new PointerFault('path must start with /');
  if (pointer.length > MAX_LENGTH) throw new PointerFault(`path is longer than ${MAX_LENGTH} characters`);
  if (BAD_ESCAPE.test(pointer)) throw new PointerFault('path has a ~ that is not followed by 0 or 1');
  const keys = pointer.slice(1).split('/', MAX_KEYS + 1);
  if (keys.length > MAX_KEYS) throw new PointerFault(`path has more than ${MAX_KEYS} keys`);
  const plain = keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (plain.some((key) => FORBIDDEN_KEYS.has(key))) throw new PointerFault('path is not allowed');
  return plain;
}

/**
 * Only what the document itself contains is there: neither what every object inherits, which a patch could otherwise
 * change for the whole process, nor the length of a list.
 */
export function has(place: Place, key: string): boolean {
  return (!Array.isArray(place) || INDEX.test(key)) && Object.hasOwn(place, key);
}

export function valueAt(document: Place, keys: readonly string[]): unknown {
  let value: unknown = document;
  for (const [at, key] of keys.entries()) {
    if (at > 0) value = asPlace(value, keys[at - 1] ?? '');
    if (!has(value as Place, key)) throw new PointerFault(`there is no value at ${shown(keys)}`);
    value = (value as Place)[key];
  }
  return value;
}

/** The object or list that contains the last key. Missing objects on the way are created. */
export function parentOf(document: Place, keys: readonly string[]): Place {
  let place = document;
  for (const key of keys.slice(0, -1)) {
    if (!has(place, key)) {
      if (Array.isArray(place)) throw notInList(key);
      place[key] = {};
    }
    place = asPlace(place[key], key);
  }
  return place;
}

/** The position in a list, or its end if that is allowed. */
export function indexIn(list: readonly unknown[], key: string, mayBeEnd: boolean): number {
  if (mayBeEnd && (key === '-' || key === String(list.length))) return list.length;
  if (!INDEX.test(key) || Number(key) >= list.length) throw notInList(key);
  return Number(key);
}

function asPlace(value: unknown, key: string): Place {
  if (typeof value !== 'object' || value === null) throw new PointerFault(`${key.slice(0, 200)} is not an object`);
  return value as Place;
}

function notInList(key: string): PointerFault {
  return new PointerFault(`${key.slice(0, 200)} is not in the list`);
}

function shown(keys: readonly string[]): string {
  return `/${keys.join('/')}`.slice(0, 200);
}
