import { AppError } from './errors.ts';
import { createYielder, mapInSlices, yieldToEventLoop } from './scheduling/slices.ts';

// Node 24 has both; the type library does not declare them yet.
declare global {
  interface JSON {
    rawJSON(text: string): unknown;
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  }
}

/**
 * JSON as this server reads and writes it. Integers beyond 2^53 are read and written exactly, as BigInt. What
 * JSON.parse accepts but later code would trip over (duplicate keys, prototype keys, NUL, lone surrogates) is rejected
 * here.
 */
export const MAX_DEPTH = 64;
/** In a whole body. An object of a hundred thousand keys would take a tenth of a second to read, all by itself. */
export const MAX_KEYS = 25_000;

const decoder = new TextDecoder('utf-8', { fatal: true });
const EMPTY = /^[ \t\r\n]*$/;
const ITEMS_IN_PIECE = 1000;
const FORBIDDEN = ['__proto__', 'constructor'];

/** Each step takes up to 40 ms for a megabyte. */
const LONG_BODY = 64 * 1024;

/** With numbers `as text`, nothing reads them from the value, so they may have any size. */
type Numbers = 'exact' | 'as text';

export function readJson(body: Buffer, numbers: Numbers = 'exact'): unknown {
  const steps = reading(body, numbers);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** The same with other requests served between the steps, if the body is long. */
export async function readJsonInSteps(body: Buffer, numbers: Numbers = 'exact'): Promise<unknown> {
  const steps = reading(body, numbers);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (body.length > LONG_BODY) await yieldToEventLoop();
  }
}

function* reading(body: Buffer, numbers: Numbers): Generator<undefined, unknown, void> {
  const text = decode(body);
  if (EMPTY.test(text)) return {};
  const { isPlain, isDeep, keys, longNumbers } = glance(body);
  if (keys > MAX_KEYS) throw isDeep ? tooDeep() : new AppError('malformed', `body has more than ${MAX_KEYS} keys`);
  const marks = numbers === 'exact' ? longNumbers.filter((at) => isInexact(body, at)) : [];
  yield;
  const value = parse(marks.length > 0 ? marked(body, marks) : text);
  yield;
  if (typeof value !== 'object' || value === null) inspectString(text);
  // If the text has as many keys as the value, no key was given twice. Anything less simple is inspected in full.
  else if (!isPlain || FORBIDDEN.some((key) => text.includes(key)) || keys !== keysIn(value)) inspect(body);
  return marks.length > 0 ? withBigInts(value) : value;
}

/** The text of a body that readJson has accepted. */
export function bodyText(body: Buffer): string {
  return decode(body).trim() || '{}';
}

export function writeJson(value: unknown, indent = 0): string {
  const exact = (_key: string, item: unknown) => (typeof item === 'bigint' ? JSON.rawJSON(item.toString()) : item);
  return JSON.stringify(value, exact, indent);
}

/** A list that may be long, with long items. Other requests are served while it is written. */
export async function writeListInSlices<T>(items: readonly T[], present: (item: T) => unknown): Promise<string> {
  return `[${(await mapInSlices(items, (item) => writeJson(present(item)))).join(',')}]`;
}

/** The same for lists of tens of thousands of items: the plain writer takes half the time. */
export async function writeLongListInSlices<T>(items: readonly T[], present: (item: T) => unknown): Promise<string> {
  return (await writeLongListInPieces(items, present)).join('');
}

/** The same if they can be tens of megabytes, which would take long to join, to encode and to send in one piece. */
export async function writeLongListInPieces<T>(items: readonly T[], present: (item: T) => unknown): Promise<string[]> {
  const pieces: string[] = [];
  const yieldIfDue = createYielder();
  for (let first = 0; first < items.length; first += ITEMS_IN_PIECE) {
    const texts: string[] = [];
    for (const item of items.slice(first, first + ITEMS_IN_PIECE)) {
      texts.push(writeLongJson(present(item)));
      await yieldIfDue();
    }
    pieces.push(texts.join(','));
  }
  const last = Math.max(pieces.length - 1, 0);
  pieces[0] = `[${pieces[0] ?? ''}`;
  return pieces.map((piece, place) => `${piece}${place === last ? ']' : ','}`);
}

/** The same list as the `items` of an object. */
export async function writeLongItemsInPieces<T>(items: readonly T[], present: (item: T) => unknown): Promise<string[]> {
  const pieces = await writeLongListInPieces(items, present);
  const last = pieces.length - 1;
  return pieces.map((piece, place) => `${place === 0 ? '{"items":' : ''}${piece}${place === last ? '}' : ''}`);
}

/** The plain writer throws if it cannot write a value exactly. */
function writeLongJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return writeJson(value);
  }
}

function decode(body: Buffer): string {
  try {
    return decoder.decode(body);
  } catch (cause) {
    throw new AppError('malformed', 'body is not valid UTF-8', { cause });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError('malformed', 'body is not valid JSON', { cause });
  }
}

/** Where a number starts and ends in the body. */
type Span = readonly [start: number, end: number];

/** An integer that a double cannot hold. A number that no double comes near is rejected. */
function isInexact(body: Buffer, [start, end]: Span): boolean {
  const source = body.toString('latin1', start, end);
  const value = Number(source);
  if (Math.abs(value) === Infinity) throw new AppError('malformed', `number is out of range: ${source.slice(0, 40)}`);
  // A number in the place of a key is left as it is, so that the parser rejects it.
  return INTEGER.test(source) && !Number.isSafeInteger(value) && !isKey(body, end - 1);
}

/**
 * The text with a string that starts with NUL in place of each of these numbers; no other string contains a NUL. A
 * reviver, which could do the same, makes parsing twenty times slower because of a single such number.
 */
function marked(body: Buffer, marks: readonly Span[]): string {
  let text = '';
  let from = 0;
  for (const [start, end] of marks) {
    text += `${decode(body.subarray(from, start))}"\\u0000${body.toString('latin1', start, end)}"`;
    from = end;
  }
  return text + decode(body.subarray(from));
}

/** Puts BigInts in place of the marks. The value must not be nested too deeply. */
function withBigInts(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith('\0') ? BigInt(value.slice(1)) : value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) if (canHoldMark(value[at])) value[at] = withBigInts(value[at]);
  } else if (typeof value === 'object' && value !== null) {
    const fields = value as Record<string, unknown>;
    for (const key of Object.keys(fields)) if (canHoldMark(fields[key])) fields[key] = withBigInts(fields[key]);
  }
  return value;
}

function canHoldMark(value: unknown): boolean {
  return typeof value === 'object' || typeof value === 'string';
}

const QUOTE = 34;
const BACKSLASH = 92;
const COLON = 58;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const LETTER_E = 101;
const MINUS = 45;

interface Glance {
  /** No escapes, and not nested too deeply. */
  readonly isPlain: boolean;
  readonly isDeep: boolean;
  readonly keys: number;
  /** Only such a number can lose digits or overflow. */
  readonly longNumbers: readonly Span[];
}

const LONG_NUMBER = 16;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;

/**
 * One pass over the bytes of a text that need not be JSON. No byte of a character beyond ASCII looks like a quote, a
 * bracket or a digit.
 */
function glance(body: Buffer): Glance {
  let keys = 0;
  let depth = 0;
  let isPlain = true;
  let isDeep = false;
  const longNumbers: Span[] = [];
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] as number;
    if (byte === QUOTE) {
      for (at++; at < body.length && body[at] !== QUOTE; at++) {
        if (body[at] !== BACKSLASH) continue;
        isPlain = false;
        at++;
      }
      if (isKey(body, at)) keys++;
    } else if (byte >= 48 && byte <= 57) {
      const start = body[at - 1] === MINUS ? at - 1 : at;
      let hasExponent = false;
      while (isInNumber(body[at + 1])) if (((body[++at] as number) | 32) === LETTER_E) hasExponent = true;
      if (hasExponent || at + 1 - start >= LONG_NUMBER) longNumbers.push([start, at + 1]);
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH) isDeep = true;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
  }
  return { isPlain: isPlain && !isDeep, isDeep, keys, longNumbers };
}

/** Digits, `+`, `-`, `.`, `E` and `e`. */
function isInNumber(byte = 0): boolean {
  return (byte >= 48 && byte <= 57) || byte === 43 || byte === MINUS || byte === 46 || (byte | 32) === LETTER_E;
}

/** The total number of keys in a value. The value must not be nested too deeply. */
function keysIn(value: object): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && item !== null) count += keysIn(item);
    return count;
  }
  for (const key in value) {
    count++;
    const item = (value as Record<string, unknown>)[key];
    if (typeof item === 'object' && item !== null) count += keysIn(item);
  }
  return count;
}

/** Objects with more keys than this use a set to look them up; for fewer, scanning a list is faster. */
const FEW_KEYS = 16;

/**
 * Walks over a body that JSON.parse has accepted, so only strings and brackets need a check. It walks over the bytes,
 * because no byte of a character beyond ASCII looks like a quote or a bracket, and reading a long text character by
 * character can be very slow.
 */
function inspect(body: Buffer): void {
  const keysOfOpen: (Keys | undefined)[] = [];
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === QUOTE) {
      const start = at;
      let hasEscapes = false;
      for (at++; body[at] !== QUOTE; at++) {
        if (body[at] !== BACKSLASH) continue;
        hasEscapes = true;
        at++;
      }
      if (isKey(body, at)) inspectKey(stringAt(body, start, at, hasEscapes), keysOfOpen.at(-1));
      else if (hasEscapes) stringAt(body, start, at, hasEscapes);
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (keysOfOpen.length >= MAX_DEPTH) throw tooDeep();
      keysOfOpen.push(byte === OPEN_BRACE ? { few: [], many: undefined } : undefined);
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) keysOfOpen.pop();
  }
}

function tooDeep(): AppError {
  return new AppError('malformed', `body is nested more than ${MAX_DEPTH} levels deep`);
}

function isKey(body: Buffer, end: number): boolean {
  let at = end + 1;
  while ((body[at] ?? COLON) <= 32) at++;
  return body[at] === COLON;
}

function stringAt(body: Buffer, start: number, end: number, hasEscapes: boolean): string {
  return hasEscapes ? inspectString(body.toString('utf8', start, end + 1)) : body.toString('utf8', start + 1, end);
}

/**
 * The value of a string literal. Only an escape can hide a NUL or a lone surrogate: decoding and parsing have rejected
 * the raw ones.
 */
function inspectString(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  const string = String(JSON.parse(literal));
  if (string.includes('\0')) throw new AppError('malformed', 'body contains a NUL character');
  if (!string.isWellFormed()) throw new AppError('malformed', 'body contains an unpaired surrogate');
  return string;
}

/** The keys of an object that is still open. */
interface Keys {
  few: string[];
  many: Set<string> | undefined;
}

function inspectKey(key: string, keys: Keys | undefined): void {
  if (key === '__proto__' || key === 'constructor') throw new AppError('malformed', `key is not allowed: ${key}`);
  if (!keys) return;
  if (keys.many?.has(key) ?? keys.few.includes(key)) {
    throw new AppError('malformed', `key is given twice: ${key.slice(0, 100)}`);
  }
  if (keys.many) keys.many.add(key);
  else if (keys.few.push(key) > FEW_KEYS) keys.many = new Set(keys.few);
}
