/**
 * How values are sent to and read from PostgreSQL, for both drivers, so that they cannot differ. Everything is sent as
 * text, except bytes. Types that are not listed here (numeric, date, timestamp without zone, …) are read as the text
 * that PostgreSQL writes.
 */
type Read = (text: string) => unknown;

const asText: Read = (text) => text;
const asNumber: Read = Number;
const asJson: Read = (text) => JSON.parse(text);
const asBytes: Read = (text) => Buffer.from(text.slice(2), 'hex');

/** Sessions run in UTC, so the common form is `2026-01-31 12:00:00.123456+00`. An infinite time is an Invalid Date. */
function asDate(text: string): Date {
  if (text.endsWith('+00')) return new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`);
  return new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'));
}

const SCALARS: readonly (readonly [oid: number, arrayOid: number, read: Read])[] = [
  [16, 1000, (text) => text === 't'],
  [17, 1001, asBytes],
  [20, 1016, BigInt],
  [21, 1005, asNumber],
  [23, 1007, asNumber],
  [25, 1009, asText],
  [26, 1028, asNumber],
  [114, 199, asJson],
  [700, 1021, asNumber],
  [701, 1022, asNumber],
  [1043, 1015, asText],
  [1184, 1185, asDate],
  [2950, 2951, asText],
  [3802, 3807, asJson],
];

const readers = new Map<number, Read>(
  SCALARS.flatMap(([oid, arrayOid, read]) => [
    [oid, read],
    [arrayOid, (text: string) => readArray(text, read)],
  ]),
);

export function readerOf(oid: number): Read {
  return readers.get(oid) ?? asText;
}

/** `{a,"b,\"c\"",NULL,{…}}`: an element is quoted if it contains anything but plain characters, or looks like NULL. */
function readArray(text: string, read: Read): unknown[] {
  let at = text.indexOf('{') + 1;
  const level = (): unknown[] => {
    const items: unknown[] = [];
    for (;;) {
      const char = text[at];
      if (char === undefined) throw new Error('the database sent a broken array');
      at += 1;
      if (char === '}') return items;
      if (char === ',') continue;
      if (char === '{') items.push(level());
      else if (char === '"') items.push(read(quoted()));
      else items.push(plain(at - 1));
    }
  };
  const quoted = (): string => {
    let item = '';
    for (; at < text.length && text[at] !== '"'; at += 1) {
      if (text[at] === '\\') at += 1;
      item += text[at];
    }
    at += 1;
    return item;
  };
  const plain = (from: number): unknown => {
    while (at < text.length && text[at] !== ',' && text[at] !== '}') at += 1;
    const item = text.slice(from, at);
    return item === 'NULL' ? null : read(item);
  };
  return level();
}

/**
 * A JavaScript value as PostgreSQL reads it. An array is an SQL array: for a json column that holds an array, pass the
 * text that JSON.stringify returns. A plain object is json, and its BigInts are written with all their digits.
 */
export function writeValue(value: unknown): string | Buffer | null {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'undefined':
      return null;
    case 'object':
      if (value === null) return null;
      if (Buffer.isBuffer(value)) return value;
      if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      if (value instanceof Date) return value.toISOString();
      if (Array.isArray(value)) return writeArray(value);
      return JSON.stringify(value, exactBigInt);
    default:
      throw new TypeError(`a ${typeof value} cannot be stored`);
  }
}

export function writeValues(values: readonly unknown[]): (string | Buffer | null)[] {
  return values.map(writeValue);
}

function writeArray(items: readonly unknown[]): string {
  const parts = items.map((item) => {
    if (Array.isArray(item)) return writeArray(item);
    const text = writeValue(item);
    if (text === null) return 'NULL';
    if (typeof text !== 'string') return `"\\\\x${text.toString('hex')}"`;
    return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  });
  return `{${parts.join(',')}}`;
}

// TypeScript's library does not declare JSON.rawJSON of Node 24 yet.
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

function exactBigInt(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? rawJSON(String(value)) : value;
}
