/** JSON with exact integers and a fixed order of keys: equal values give equal texts. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (typeof item === 'bigint') return JSON.rawJSON(item.toString());
    if (!isObject(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
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
