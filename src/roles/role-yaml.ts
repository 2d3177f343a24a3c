import { setImmediate as breath } from 'node:timers/promises';
import { Composer, type CST, type Document, isAlias, isMap, isScalar, Lexer, LineCounter, Parser, visit } from 'yaml';
import { AppError } from '../base/errors.ts';
import { API_VERSION, KIND, type RoleDocument } from './role-document.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });
/** The maximum number of lexer tokens; a file of 1 MiB that is about roles has a little over 300,000. */
const MAX_SIGNS = 400_000;
const MAX_DEPTH = 64;
const SIGNS_A_BREATH = 5_000;

type Refuse = (message: string, offset?: number) => never;

/**
 * The part of YAML that a file of roles needs: no anchors, no aliases, no tags that are not plain data, no repeated
 * keys.
 */
export async function readYaml(body: Buffer): Promise<unknown> {
  const lines = new LineCounter();
  const refuse: Refuse = (message, offset = 0) => {
    const { line, col } = lines.linePos(offset);
    const where = `line ${Math.max(1, line)}, column ${Math.max(1, col)}`;
    throw new AppError('malformed', `body is not valid YAML: ${where}: ${message}`);
  };
  const text = decode(body);
  const tokens = await tokensOf(text, lines, refuse);
  // The library's own check for repeated keys compares each key with every other, so it is done here.
  const options = { prettyErrors: false, uniqueKeys: false, logLevel: 'silent' } as const;
  const [document, second] = new Composer(options).compose(tokens, true, text.length).take(2);
  if (second) refuse('there is more than one document', second.range?.[0]);
  if (!document) return null;
  inspect(document, refuse);
  return document.toJS({ maxAliasCount: 0 });
}

/**
 * The library takes seconds for a hostile, large file, so other requests are served in between, and parsing ends at the
 * first fault.
 */
async function tokensOf(text: string, lines: LineCounter, refuse: Refuse): Promise<CST.Token[]> {
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  const keep = (found: Iterable<CST.Token>) => {
    for (const token of found) {
      if (token.type === 'error') refuse(token.message, token.offset);
      tokens.push(token);
    }
  };
  let count = 0;
  for (const sign of new Lexer().lex(text)) {
    keep(parser.next(sign));
    if (parser.stack.length > MAX_DEPTH) refuse('the document is nested too deeply', parser.offset);
    if (++count > MAX_SIGNS) refuse('the document has too many tokens', parser.offset);
    if (count % SIGNS_A_BREATH === 0) await breath();
  }
  keep(parser.end());
  return tokens;
}

function inspect(document: Document.Parsed, refuse: Refuse): void {
  const [fault] = [...document.errors, ...document.warnings];
  if (fault) refuse(fault.message, fault.pos[0]);
  visit(document, (_key, node) => {
    if (isAlias(node) || (typeof node === 'object' && node !== null && 'anchor' in node && node.anchor)) {
      refuse('anchors and aliases are not allowed', offsetOf(node));
    }
    if (isMap(node)) {
      const seen = new Set<unknown>();
      for (const { key } of node.items) {
        if (!isScalar(key) || typeof key.value !== 'string') refuse('a key must be a string', offsetOf(key ?? node));
        else if (key.value === '__proto__') refuse('key is not allowed: __proto__', offsetOf(key));
        else if (seen.has(key.value)) refuse(`key is given twice: ${key.value.slice(0, 100)}`, offsetOf(key));
        else seen.add(key.value);
      }
    }
    if (isScalar(node) && typeof node.value === 'string') {
      if (node.value.includes('\0')) refuse('NUL is not allowed', offsetOf(node));
      if (!node.value.isWellFormed()) refuse('unpaired surrogates are not allowed', offsetOf(node));
    }
  });
}

/** Written by hand, so that the same roles give the same bytes with every version of every dependency. */
export function writeYaml({ organization, roles }: RoleDocument): string {
  const lines = [`apiVersion: ${API_VERSION}`, `kind: ${KIND}`, `organization: ${inList(organization)}`];
  lines.push(roles.length === 0 ? 'roles: []' : 'roles:');
  for (const role of roles) {
    lines.push(`  - name: ${onLine(role.name)}`, `    description: ${onLine(role.description)}`);
    lines.push(`    permissions:${role.permissions.size === 0 ? ' {}' : ''}`);
    for (const [namespace, actions] of role.permissions) lines.push(`      ${namespace}: ${listOf(actions)}`);
    lines.push(`    teams: ${listOf(role.teams)}`);
  }
  return `${lines.join('\n')}\n`;
}

export function writeJsonDocument({ organization, roles }: RoleDocument): string {
  const entries = roles.map((role) => ({ ...role, permissions: Object.fromEntries(role.permissions) }));
  return `${JSON.stringify({ apiVersion: API_VERSION, kind: KIND, organization, roles: entries }, null, 2)}\n`;
}

function listOf(items: readonly string[]): string {
  return `[${items.map(inList).join(', ')}]`;
}

/**
 * Text that every YAML parser accepts without quotes: it begins with a letter and has no character with a special
 * meaning.
 */
const PLAIN = /^\p{L}(?:[\p{L}\p{M}\p{N} _.()/&+-]*[\p{L}\p{M}\p{N}_.()/+])?$/u;
const PLAIN_LINE = /^\p{L}(?:[\p{L}\p{M}\p{N} _.()/&+,;'"!?-]*[\p{L}\p{M}\p{N}_.()/+,;'"!?])?$/u;
/** Older parsers do not read these words as text. */
const WORDS = /^(?:y|n|yes|no|on|off|true|false|null)$/i;

function inList(text: string): string {
  return PLAIN.test(text) && !WORDS.test(text) ? text : quoted(text);
}

function onLine(text: string): string {
  return PLAIN_LINE.test(text) && !WORDS.test(text) ? text : quoted(text);
}

/** A JSON string is also a YAML string, except for characters that are not printable in YAML. */
function quoted(text: string): string {
  const hidden = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;
  return JSON.stringify(text).replace(hidden, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function decode(body: Buffer): string {
  try {
    return decoder.decode(body);
  } catch (cause) {
    throw new AppError('malformed', 'body is not valid UTF-8', { cause });
  }
}

function offsetOf(node: unknown): number {
  const { range } = (node ?? {}) as { range?: readonly number[] | null };
  return range?.[0] ?? 0;
}
