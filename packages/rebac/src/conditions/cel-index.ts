import { CelError, CelMap, Uint, type Value } from './cel-values.ts';

/** `of[key]`, or `of.key`. */
export function index(of: Value, key: Value): Value {
  // A map may have null as a key, but no index finds it, as in cel-go.
  if (key === null) return new CelError('null is no index');
  if (of instanceof CelMap) {
    const found = of.find(key);
    return found === undefined ? new CelError('no such key') : found;
  }
  if (!Array.isArray(of)) return new CelError('no such key');
  const position = positionOf(key);
  if (position === undefined) return new CelError('unsupported index');
  return position >= 0 && position < of.length ? (of[position] as Value) : new CelError('index out of bounds');
}

/** `has(of.key)`. What has no fields has none. */
export function present(of: Value, key: string): Value {
  if (Array.isArray(of)) return new CelError('unsupported index');
  return of instanceof CelMap && of.find(key) !== undefined;
}

function positionOf(key: Value): number | undefined {
  if (typeof key === 'number') return Number.isInteger(key) ? key : undefined;
  if (key instanceof Uint) return Number(key.value);
  return typeof key === 'bigint' ? Number(key) : undefined;
}
