import { applyPatch, type Operation } from 'rfc6902';

/** One step of RFC 6902. */
export interface PatchStep {
  readonly op: string;
  readonly path: string;
  readonly from?: string | null;
  readonly value?: unknown;
}

/** A step that cannot be applied; the message says why. */
export class PatchFault extends Error {}

type Place = Record<string, unknown>;

const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);
const INDEX = /^(0|[1-9]\d{0,9})$/;
const NEED_VALUE = new Set(['add', 'replace', 'test']);
const MAX_KEYS = 32;
const MAX_DEPTH = 64;
/**
 * The maximum number of characters that the copies of one patch may add: otherwise a few short steps could double the
 * values again and again.
 */
const MAX_COPIED = 100_000;

/**
 * Applies the patch in place. It is meant for a chart's own defaults, which only Helm knows. So a path that does not
 * exist yet is created, and removing a value that is not there sets it to null, which is how Helm drops a default. Only
 * keys that the document itself has are followed: the library would also find what every object inherits, and change it
 * for the whole process.
 */
export function patchValues(document: object, steps: readonly PatchStep[]): void {
  let left = MAX_COPIED;
  for (const step of steps) {
    try {
      const [fault] = applyPatch(document, [prepared(step)]);
      if (fault) throw new PatchFault(fault.message);
    } catch (error) {
      if (!(error instanceof PatchFault)) throw error;
      const { op, path } = step;
      throw new PatchFault(`${op} ${path.slice(0, 200)}: ${error.message || 'cannot be applied'}`, { cause: error });
    }
  }

  function prepared(step: PatchStep): Operation {
    const { op, path, value } = step;
    if (NEED_VALUE.has(op) && value === undefined) throw new PatchFault('value is required');
    if (op === 'move' || op === 'copy') {
      if (typeof step.from !== 'string') throw new PatchFault('from is required');
      left -= weigh(existing(step.from), readPointer(path).length);
      if (left < 0) throw new PatchFault('the copied values are too large');
      if (op === 'move' && `${path}/`.startsWith(`${step.from}/`))
        throw new PatchFault('cannot move a value into itself');
    } else if (op === 'test') {
      existing(path);
      return step as Operation;
    }
    const { place, key } = parentOf(path);
    const exists = Object.hasOwn(place, key);
    if (Array.isArray(place)) refuseIndex(place, key, op);
    if (op === 'remove') return exists ? { op, path } : { op: 'add', path, value: null };
    if (op === 'replace' && !exists) return { op: 'add', path, value };
    return step as Operation;
  }

  /** The parent of the value; missing objects on the path are created. */
  function parentOf(path: string): { place: Place; key: string } {
    const keys = readPointer(path);
    const key = keys.pop() ?? '';
    let place = document as Place;
    for (const one of keys) {
      if (!Object.hasOwn(place, one)) {
        if (Array.isArray(place)) throw new PatchFault(`${one} is not in the list`);
        place[one] = {};
      }
      place = objectAt(place, one);
    }
    return { place, key };
  }

  function existing(path: string): unknown {
    const keys = readPointer(path);
    const last = keys.pop() ?? '';
    const place = keys.reduce((at, key) => objectAt(at, key), document as Place);
    if (!Object.hasOwn(place, last)) throw new PatchFault(`there is no value at ${path.slice(0, 200)}`);
    return place[last];
  }
}

function objectAt(place: Place, key: string): Place {
  const next = Object.hasOwn(place, key) ? place[key] : undefined;
  if (typeof next !== 'object' || next === null) throw new PatchFault(`${key} is not an object`);
  return next as Place;
}

function refuseIndex(list: readonly unknown[], key: string, op: string): void {
  const isEnd = (key === '-' || key === String(list.length)) && op !== 'remove' && op !== 'replace';
  if (!isEnd && !(INDEX.test(key) && Number(key) < list.length)) throw new PatchFault(`${key} is not in the list`);
}

function readPointer(path: string): string[] {
  if (!path.startsWith('/')) throw new PatchFault('path must start with /');
  const keys = path.slice(1).split('/');
  if (keys.length > MAX_KEYS) throw new PatchFault(`path has more than ${MAX_KEYS} keys`);
  const plain = keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (plain.some((key) => FORBIDDEN_KEYS.has(key))) throw new PatchFault('path is not allowed');
  return plain;
}

/** The approximate number of characters of a value at this depth. */
function weigh(value: unknown, depth: number): number {
  if (depth > MAX_DEPTH) throw new PatchFault(`values would be nested more than ${MAX_DEPTH} levels deep`);
  if (typeof value === 'string') return value.length + 1;
  if (typeof value !== 'object' || value === null) return 1;
  let weight = 1;
  for (const [key, item] of Object.entries(value)) {
    weight += (Array.isArray(value) ? 0 : key.length) + weigh(item, depth + 1);
  }
  return weight;
}
