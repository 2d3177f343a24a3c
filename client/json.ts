/** Where an answer contains int64, as paths in which * is any entry; `open` answers also have untyped parts. */
export interface Exactness {
  readonly int64: readonly string[];
  readonly open?: boolean;
}

// Node 22 and current browsers have these; the type library does not declare them yet.
declare global {
  interface JSON {
    rawJSON(text: string): unknown;
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  }
}

/** Without such a number, the plain parse loses nothing and is ten times faster. */
const LONG_NUMBER = /\d{16}/;

/**
 * Parses an answer without losing a digit of any number. An int64 of the API becomes a bigint, and so does any other
 * integer beyond 2^53. In parts without a type, a number that JavaScript would write differently keeps its text.
 */
export function readJson(text: string, { int64, open = false }: Exactness = { int64: [], open: true }): unknown {
  const value = open || LONG_NUMBER.test(text) ? JSON.parse(text, open ? keepText : keepDigits) : JSON.parse(text);
  return int64.reduce((whole, place) => withBigInt(whole, place === '' ? [] : place.split('.')), value as unknown);
}

/** Writes bigints, and numbers that kept their text, exactly. */
export function writeJson(value: unknown, indent = 0): string {
  const exact = (_key: string, item: unknown) => (typeof item === 'bigint' ? JSON.rawJSON(item.toString()) : item);
  return JSON.stringify(value, exact, indent);
}

function keepDigits(_key: string, value: unknown, { source = '' }: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}

function keepText(key: string, value: unknown, context: { source?: string }): unknown {
  const exact = keepDigits(key, value, context);
  const { source } = context;
  if (typeof exact !== 'number' || source === undefined || String(exact) === source) return exact;
  return JSON.rawJSON(source);
}

function withBigInt(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined) return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  const holder = value as Record<string, unknown>;
  for (const key of step === '*' ? Object.keys(holder) : [step]) {
    if (Object.hasOwn(holder, key)) holder[key] = withBigInt(holder[key], rest);
  }
  return value;
}
