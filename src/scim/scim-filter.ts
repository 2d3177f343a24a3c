/**
 * Filters of SCIM (RFC 7644, section 3.4.2.2), from text to a tree.
 *
 * 1. The text is read once from left to right. No pattern in it can be tried twice on the same characters.
 * 2. Length, depth and number of comparisons are limited, so whatever walks the tree is done soon.
 */
import { AppError } from '../base/errors.ts';
import { isStorable } from '../base/fields.ts';
import { type AttributePath, attributePath } from './scim-attributes.ts';

export const COMPARISONS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type Comparison = (typeof COMPARISONS)[number];
export type FilterValue = string | number | boolean | null;

export type Filter =
  | { readonly kind: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  | { readonly kind: 'present'; readonly path: AttributePath }
  | { readonly kind: 'compare'; readonly path: AttributePath; readonly op: Comparison; readonly value: FilterValue }
  /** One value of a list fulfils all of it: `emails[type eq "work" and value co "@"]`. */
  | { readonly kind: 'some'; readonly path: AttributePath; readonly of: Filter };

/** `members[value eq "7"].display`, as operations of PATCH name what they are about. */
export interface TargetPath {
  readonly path: AttributePath;
  readonly filter: Filter | undefined;
}

export const MAX_FILTER_LENGTH = 2000;
export const MAX_FILTER_DEPTH = 10;
export const MAX_COMPARISONS = 20;

const TOKEN =
  /[ \t]*(?:([()[\]])|("(?:[^"\\\p{Cc}]|\\.)*")|([A-Za-z$][\w$.:/-]*)|(-?\d[\d.eE+-]*)|(\.[A-Za-z$][\w$-]*))/uy;
const REST = /[ \t]*$/y;

const CONSTANTS = new Map<string, FilterValue>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

type Token = { readonly kind: 'mark' | 'text' | 'word' | 'number' | 'part'; readonly text: string };

export function readFilter(text: string): Filter {
  const reader = createReader(text);
  const filter = reader.filter();
  reader.end();
  return filter;
}

/** `unkept` if it is about an attribute that is accepted and not kept. */
export function readTarget(text: string): TargetPath | 'unkept' {
  try {
    return createReader(text).target();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError('invalid', error.message, { scimType: 'invalidPath' });
  }
}

function createReader(text: string) {
  if (text.length > MAX_FILTER_LENGTH) throw wrong(`a filter or path has at most ${MAX_FILTER_LENGTH} characters`);
  const tokens = tokensOf(text);
  let at = 0;
  let comparisons = 0;
  return { filter: () => either(0), target, end };

  function end(): void {
    const token = tokens[at];
    if (token) throw wrong(`unexpected ${shown(token.text)}`);
  }

  function either(depth: number): Filter {
    return list('or', () => list('and', () => one(depth)));
  }

  function list(word: 'and' | 'or', next: () => Filter): Filter {
    const of = [next()];
    while (isWord(tokens[at], word)) {
      at++;
      of.push(next());
    }
    const [first] = of;
    return of.length === 1 && first ? first : { kind: word, of };
  }

  function one(depth: number): Filter {
    if (depth > MAX_FILTER_DEPTH) throw wrong(`a filter can be nested ${MAX_FILTER_DEPTH} times`);
    if (isWord(tokens[at], 'not') && tokens[at + 1]?.text === '(') {
      at++;
      return { kind: 'not', of: inside('(', ')', depth) };
    }
    return tokens[at]?.text === '(' ? inside('(', ')', depth) : comparison(depth);
  }

  function inside(open: string, close: string, depth: number): Filter {
    take(open);
    const filter = either(depth + 1);
    take(close);
    return filter;
  }

  function comparison(depth: number): Filter {
    const path = pathOf(take('word'));
    if (tokens[at]?.text === '[') return { kind: 'some', path, of: inside('[', ']', depth) };
    if (++comparisons > MAX_COMPARISONS) throw wrong(`a filter has at most ${MAX_COMPARISONS} comparisons`);
    const op = take('word').toLowerCase();
    if (op === 'pr') return { kind: 'present', path };
    if (!isComparison(op)) throw wrong(`${shown(op)} is no operator`);
    return { kind: 'compare', path, op, value: value() };
  }

  function value(): FilterValue {
    const token = tokens[at++];
    const word = token?.kind === 'word' ? CONSTANTS.get(token.text.toLowerCase()) : undefined;
    if (word !== undefined) return word;
    if (token?.kind === 'number' && Number.isFinite(Number(token.text))) return Number(token.text);
    if (token?.kind !== 'text') throw wrong(`a value is missing${token ? ` before ${shown(token.text)}` : ''}`);
    return textOf(token.text);
  }

  function target(): TargetPath | 'unkept' {
    const name = take('word');
    const path = attributePath(name);
    if (path === undefined) throw wrong(`there is no attribute ${shown(name)}`);
    if (tokens[at]?.text !== '[') {
      end();
      return path === 'unkept' ? path : { path, filter: undefined };
    }
    if (path === 'unkept') return path;
    const filter = inside('[', ']', 0);
    const part = tokens[at]?.kind === 'part' ? tokens[at++]?.text.slice(1) : undefined;
    end();
    if (path.sub !== undefined) throw wrong('a filter belongs to a whole attribute');
    if (part === undefined) return { path, filter };
    const whole = attributePath(`${path.name}.${part}`);
    if (whole === undefined) throw wrong(`there is no attribute ${shown(part)}`);
    return whole === 'unkept' ? 'unkept' : { path: whole, filter };
  }

  function take(what: 'word' | string): string {
    const token = tokens[at++];
    const isRight = what === 'word' ? token?.kind === 'word' : token?.kind === 'mark' && token.text === what;
    if (!token || !isRight) {
      const found = token ? shown(token.text) : 'the end';
      throw wrong(`expected ${what === 'word' ? 'a word' : what}, found ${found}`);
    }
    return token.text;
  }
}

function tokensOf(text: string): Token[] {
  const kinds = ['mark', 'text', 'word', 'number', 'part'] as const;
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    REST.lastIndex = at;
    if (REST.test(text)) return tokens;
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (!found) throw wrong(`cannot be read from character ${at + 1} on`);
    at = TOKEN.lastIndex;
    const index = kinds.findIndex((_, place) => found[place + 1] !== undefined);
    const kind = kinds[index];
    if (kind) tokens.push({ kind, text: found[index + 1] ?? '' });
  }
}

function textOf(quoted: string): string {
  try {
    const text = JSON.parse(quoted) as string;
    if (isStorable(text)) return text;
  } catch {
    // Said below.
  }
  throw wrong(`${shown(quoted)} is no text`);
}

function pathOf(name: string): AttributePath {
  const path = attributePath(name);
  if (path === undefined || path === 'unkept') throw wrong(`there is no attribute ${shown(name)} to filter by`);
  return path;
}

function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'word' && token.text.toLowerCase() === word;
}

function isComparison(op: string): op is Comparison {
  return (COMPARISONS as readonly string[]).includes(op);
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}

export function wrong(message: string): AppError {
  return new AppError('invalid', `filter: ${message}`, { scimType: 'invalidFilter' });
}
