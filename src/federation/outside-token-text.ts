/**
 * The text of a token of another issuer, before anything in it is believed.
 *
 * 1. What two readers could read differently is rejected: letters that base64url does not have, texts that are not UTF-8,
 *    a member that occurs twice.
 * 2. A header that brings its own key, or asks for something that we do not know, is rejected, not ignored.
 */
import { ALGORITHMS } from './public-keys.ts';

export interface OutsideTokenText {
  readonly text: string;
  readonly algorithm: string;
  readonly kid: string | undefined;
  readonly claims: Readonly<Record<string, unknown>>;
  /** The part that the signature covers. The signature itself can be written in several ways. */
  readonly signed: string;
}

export interface UnreadableToken {
  readonly fault: string;
}

const MAX_LENGTH = 16 * 1024;
const MAX_DEPTH = 32;
const PART = /^[A-Za-z0-9_-]+$/;
const FORBIDDEN_HEADERS = ['crit', 'jku', 'jwk', 'x5u', 'b64', 'zip'];
/** Tokens that say that something happened, and not who a caller is. */
const EVENT_TYPE = /^(?:application\/)?(?:logout|secevent)\+jwt$/i;

export function readOutsideToken(text: string): OutsideTokenText | UnreadableToken {
  if (text.length > MAX_LENGTH) return { fault: `the token is longer than ${MAX_LENGTH / 1024} KiB` };
  const parts = text.split('.');
  const [head = '', body = '', signature = ''] = parts;
  if (parts.length !== 3 || ![head, body, signature].every((part) => PART.test(part))) {
    return { fault: 'the text is not a signed JSON Web Token' };
  }
  const header = readObject(head);
  if (header === undefined) return { fault: 'the header is not a JSON object' };
  const claims = readObject(body);
  if (claims === undefined) return { fault: 'the claims are not a JSON object' };
  const { alg, kid, typ } = header;
  const forbidden = FORBIDDEN_HEADERS.find((name) => name in header);
  if (forbidden !== undefined) return { fault: `the header has ${forbidden}, which is not accepted` };
  if (typeof alg !== 'string' || !ALGORITHMS.includes(alg)) {
    return { fault: `the algorithm is not accepted: ${JSON.stringify(alg)?.slice(0, 40) ?? 'none is named'}` };
  }
  if (kid !== undefined && typeof kid !== 'string') return { fault: 'the kid of the header is not text' };
  if (typ !== undefined && (typeof typ !== 'string' || EVENT_TYPE.test(typ))) {
    return { fault: 'the type of the token is not that of a token for signing in' };
  }
  if ('events' in claims) return { fault: 'the token is about an event, because it has the claim events' };
  return { text, algorithm: alg, kid, claims, signed: `${head}.${body}` };
}

function readObject(part: string): Record<string, unknown> | undefined {
  const bytes = Buffer.from(part, 'base64url');
  // The last character can have bits that mean nothing.
  if (bytes.toString('base64url') !== part) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return isUnambiguous(text) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether no object of a JSON text has a member twice, and none is nested too deeply. The text is known to be JSON. */
function isUnambiguous(text: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  for (const { 0: piece } of text.matchAll(/"(?:[^"\\]|\\.)*"\s*:?|[{}[\]]/g)) {
    if (piece === '{' || piece === '[') open.push(piece === '{' ? new Set() : undefined);
    else if (piece === '}' || piece === ']') open.pop();
    else if (piece.endsWith(':')) {
      const name = JSON.parse(piece.slice(0, -1).trimEnd()) as string;
      const names = open.at(-1);
      if (name === '__proto__' || names?.has(name)) return false;
      names?.add(name);
    }
    if (open.length > MAX_DEPTH) return false;
  }
  return true;
}
