/** JSON with exact integers and a fixed order of keys: equal values give equal texts. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function canonicalJson(value: unknown): string {
  return JSON.stringify(inOrder(value));
}

/** A copy that JSON.stringify can write by itself: calling back for every value would take several times as long. */
function inOrder(value: unknown): unknown {
  if (typeof value === 'bigint') return JSON.rawJSON(value.toString());
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isObject(value) || value instanceof Date) return value;
  const copy: Record<string, unknown> = { __proto__: null };
  for (const key of Object.keys(value).sort()) copy[key] = inOrder(value[key]);
  return copy;
}

export function parseExact(text: string): unknown {
  return JSON.parse(text, (_key: string, value: unknown, { source = '' }: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value,
  );
}

/** A copy without the keys that match, at any depth. */
export function without(value: Json, key: RegExp): Json {
  if (Array.isArray(value)) return value.map((item: Json) => without(item, key));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !key.test(name));
  return Object.fromEntries(kept.map(([name, item]) => [name, without(item, key)]));
}

/** Compares item by item: as arguments of one call, a hundred thousand items would not fit on the stack. */
export function depthOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  let deepest = 0;
  for (const item of Object.values(value)) deepest = Math.max(deepest, depthOf(item));
  return 1 + deepest;
}
