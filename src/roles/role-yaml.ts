import { Composer, type CST, type Document, isAlias, isMap, isScalar, Lexer, LineCounter, Parser, visit } from 'yaml';
import { AppError } from '../base/errors.ts';
import { yieldToEventLoop } from '../base/scheduling/slices.ts';
import { partsOf } from './role-yaml-parts.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });
/** The maximum number of lexer tokens; a file of 1 MiB that is about roles has a little over 300,000. */
const MAX_SIGNS = 400_000;
const MAX_DEPTH = 64;
const SIGNS_A_BREATH = 5_000;

type Reject = (message: string, offset?: number) => never;

/**
 * The part of YAML that a file of roles needs: no anchors, no aliases, no tags that are not plain data, no repeated
 * keys.
 */
export async function readYaml(body: Buffer): Promise<unknown> {
  const lines = new LineCounter();
  const reject: Reject = (message, offset = 0) => {
    const { line, col } = lines.linePos(offset);
    const where = `line ${Math.max(1, line)}, column ${Math.max(1, col)}`;
    throw new AppError('malformed', `body is not valid YAML: ${where}: ${message}`);
  };
  const text = decode(body);
  const tokens = await tokensOf(text, lines, reject);
  const { rest, cuts } = await partsOf(tokens, (offset) => reject('one part has too many tokens', offset));
  const document = compose(rest, text.length, reject);
  for (const { path, lists } of cuts) {
    const items: unknown[] = [];
    for (const list of lists) {
      await yieldToEventLoop();
      for (const item of compose([list], text.length, reject) as unknown[]) items.push(item);
    }
    if (items.length > 0) prepend(document as Fields, path, items);
  }
  return document;
}

type Fields = Record<string, unknown>;

/** To the list that the path leads to. */
function prepend(document: Fields, path: readonly string[], items: readonly unknown[]): void {
  const last = path.at(-1) ?? '';
  const parent = path.slice(0, -1).reduce((fields, key) => fields[key] as Fields, document);
  parent[last] = [...items, ...((parent[last] ?? []) as unknown[])];
}

/** In one go, because the library knows no other way, so there must not be many tokens. */
function compose(tokens: readonly CST.Token[], end: number, reject: Reject): unknown {
  // The library's own check for repeated keys compares each key with every other, so it is done here.
  const options = { prettyErrors: false, uniqueKeys: false, logLevel: 'silent' } as const;
  const [document, second] = new Composer(options).compose(tokens, true, end).take(2);
  if (second) reject('there is more than one document', second.range?.[0]);
  if (!document) return null;
  inspect(document, reject);
  return document.toJS({ maxAliasCount: 0 });
}

/**
 * The library takes seconds for a hostile, large file, so other requests are served in between, and parsing ends at the
 * first fault.
 */
async function tokensOf(text: string, lines: LineCounter, reject: Reject): Promise<CST.Token[]> {
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  const keep = (found: Iterable<CST.Token>) => {
    for (const token of found) {
      if (token.type === 'error') reject(token.message, token.offset);
      tokens.push(token);
    }
  };
  let count = 0;
  for (const sign of new Lexer().lex(text)) {
    keep(parser.next(sign));
    if (parser.stack.length > MAX_DEPTH) reject('the document is nested too deeply', parser.offset);
    if (++count > MAX_SIGNS) reject('the document has too many tokens', parser.offset);
    if (count % SIGNS_A_BREATH === 0) await yieldToEventLoop();
  }
  keep(parser.end());
  return tokens;
}

function inspect(document: Document.Parsed, reject: Reject): void {
  const [fault] = [...document.errors, ...document.warnings];
  if (fault) reject(fault.message, fault.pos[0]);
  visit(document, (_key, node) => {
    if (isAlias(node) || (typeof node === 'object' && node !== null && 'anchor' in node && node.anchor)) {
      reject('anchors and aliases are not allowed', offsetOf(node));
    }
    if (isMap(node)) {
      const seen = new Set<unknown>();
      for (const { key } of node.items) {
        if (!isScalar(key) || typeof key.value !== 'string') reject('a key must be a string', offsetOf(key ?? node));
        else if (key.value === '__proto__') reject('key is not allowed: __proto__', offsetOf(key));
        else if (seen.has(key.value)) reject(`key is given twice: ${key.value.slice(0, 100)}`, offsetOf(key));
        else seen.add(key.value);
      }
    }
    if (isScalar(node) && typeof node.value === 'string') {
      if (node.value.includes('\0')) reject('NUL is not allowed', offsetOf(node));
      if (!node.value.isWellFormed()) reject('unpaired surrogates are not allowed', offsetOf(node));
    }
  });
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
