import { invalidField } from './errors.ts';

/** Rules for the fields of resources: clusters, contracts, robots. */
const NAME = /^[0-9A-Za-z](?:[-.\w]*[0-9A-Za-z])?$/;
const MAX_NAME = 100;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Control characters, and what else begins a new line. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

/**
 * What the database keeps as it is. It rejects NUL, and half of a surrogate pair becomes U+FFFD on the way to it: two
 * different texts would be one.
 */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Everything that any cloud allows in the name of a cluster. Names are case-sensitive, as they are there. */
export function readResourceName(text: string): string {
  if (text.length <= MAX_NAME && NAME.test(text)) return text;
  const rule = 'letters, digits, "-", "_" and ".", with a letter or digit at both ends';
  throw invalidField('name', `name must have 1 to ${MAX_NAME} characters: ${rule}`);
}

/** One line of text: names are parts of sentences, tables and log lines, and must not look like two of them. */
export function readLineField(field: string, text: string, max: number, min = 0): string {
  const line = text.normalize('NFC').trim();
  const length = [...line].length;
  if (length < min || length > max) {
    throw invalidField(field, `${field} must have ${min > 0 ? `${min} to` : 'at most'} ${max} characters`);
  }
  requireLineField(field, line);
  return line;
}

/** Throws if the text has control characters or line breaks. */
export function requireLineField(field: string, text: string): void {
  if (CONTROL.test(text)) throw invalidField(field, `${field} must not contain control characters`);
}

export function readUuid(field: string, text: string): string {
  const uuid = text.toLowerCase();
  if (!UUID.test(uuid)) throw invalidField(field, `${field} must be a UUID`);
  return uuid;
}

/** Each item once, in the order of first appearance. */
export function readSet(items: readonly string[], read: (item: string) => string): string[] {
  return [...new Set(items.map(read))];
}
