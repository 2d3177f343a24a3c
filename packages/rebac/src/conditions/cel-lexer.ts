import { CelRejection } from './cel-syntax.ts';
import { Bytes, isInt, MAX_UINT, Uint, type Value } from './cel-values.ts';

export interface CelToken {
  readonly kind: 'end' | 'operator' | 'name' | 'int' | 'literal';
  /** Of an operator, a name or an int. Signs are not part of an int, because `-9223372036854775808` is one literal. */
  readonly text: string;
  readonly value: Value;
  readonly at: number;
}

const ESCAPE = String.raw`\\(?:[abfnrtv"'\\?${'`'}]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})`;
/** CEL takes the longest alternative, not the first. */
const STRINGS = [
  String.raw`"(?:${ESCAPE}|[^\\"\n\r])*"`,
  String.raw`'(?:${ESCAPE}|[^\\'\n\r])*'`,
  String.raw`"""(?:${ESCAPE}|[^\\])*?"""`,
  String.raw`'''(?:${ESCAPE}|[^\\])*?'''`,
  String.raw`[rR]"[^"\n\r]*"`,
  String.raw`[rR]'[^'\n\r]*'`,
  '[rR]"""[^]*?"""',
  "[rR]'''[^]*?'''",
];
const RULES = (
  [
    ['space', [String.raw`[\t \r\n\f]+`, String.raw`//[^\n]*`]],
    ['string', STRINGS],
    ['bytes', STRINGS.map((string) => `[bB]${string}`)],
    [
      'double',
      [String.raw`\d+\.\d+(?:[eE][+-]?\d+)?`, String.raw`\d+[eE][+-]?\d+`, String.raw`\.\d+(?:[eE][+-]?\d+)?`],
    ],
    ['int', ['0x[0-9a-fA-F]+', String.raw`\d+`]],
    ['uint', ['0x[0-9a-fA-F]+[uU]', String.raw`\d+[uU]`]],
    ['name', ['[A-Za-z_][A-Za-z0-9_]*']],
    ['operator', ['==', '!=', '<=', '>=', '&&', String.raw`\|\|`, String.raw`[<>[\]{}().,\-!?:+*/%]`]],
  ] as const
).flatMap(([kind, alternatives]) =>
  alternatives.map((source) => ({ kind, pattern: new RegExp(source, 'y') }) as const),
);

const WORDS: Readonly<Record<string, Value>> = { true: true, false: false, null: null };
const CONTROLS: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

export function tokenize(source: string): CelToken[] {
  const tokens: CelToken[] = [];
  for (let at = 0; at < source.length; ) {
    const [kind, text] = longest(source, at);
    const token = readToken(kind, text, at);
    if (token !== undefined) tokens.push(token);
    at += text.length;
  }
  tokens.push({ kind: 'end', text: 'the end', value: null, at: source.length });
  return tokens;
}

type Kind = (typeof RULES)[number]['kind'];

function longest(source: string, at: number): readonly [Kind, string] {
  let found: readonly [Kind, string] | undefined;
  for (const { kind, pattern } of RULES) {
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0];
    if (text !== undefined && text.length > (found?.[1].length ?? 0)) found = [kind, text];
  }
  if (found === undefined) throw new CelRejection(`unexpected character at position ${at + 1}`);
  return found;
}

function readToken(kind: Kind, text: string, at: number): CelToken | undefined {
  if (kind === 'space') return;
  if (kind === 'operator' || kind === 'int') return { kind, text, value: null, at };
  if (kind === 'name') {
    if (text === 'in') return { kind: 'operator', text, value: null, at };
    const word = Object.hasOwn(WORDS, text) ? WORDS[text] : undefined;
    return word === undefined ? { kind, text, value: null, at } : { kind: 'literal', text, value: word, at };
  }
  return { kind: 'literal', text, value: readLiteral(kind, text), at };
}

function readLiteral(kind: 'string' | 'bytes' | 'double' | 'uint', text: string): Value {
  if (kind === 'string') return unquote(text);
  if (kind === 'bytes') return unquoteBytes(text.slice(1));
  if (kind === 'uint') {
    const whole = BigInt(text.slice(0, -1));
    if (whole > MAX_UINT) throw new CelRejection(`invalid uint literal ${text}`);
    return new Uint(whole);
  }
  const double = Number(text);
  if (!Number.isFinite(double)) throw new CelRejection(`invalid double literal ${text}`);
  return double;
}

export function readInt(sign: '' | '-', text: string): bigint {
  const whole = sign === '-' ? -BigInt(text) : BigInt(text);
  if (!isInt(whole)) throw new CelRejection(`invalid int literal ${sign}${text}`);
  return whole;
}

/** The text between the quotes, and whether escapes have a meaning in it. */
function inside(text: string): readonly [body: string, raw: boolean] {
  const raw = text[0] === 'r' || text[0] === 'R';
  const quoted = raw ? text.slice(1) : text;
  const width = quoted.length >= 6 && /^("""|''')/.test(quoted) ? 3 : 1;
  return [quoted.slice(width, -width), raw];
}

function unquote(text: string): string {
  const [body, raw] = inside(text);
  if (raw) return body;
  return body.replace(new RegExp(ESCAPE, 'g'), (sequence) => {
    const code = codeOf(sequence);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new CelRejection(`invalid code point ${sequence}`);
    return String.fromCodePoint(code);
  });
}

/** In bytes, `\xff` and `\377` are one byte each, and every other character is its UTF-8. */
function unquoteBytes(text: string): Bytes {
  const [body, raw] = inside(text);
  if (raw) return new Bytes(Buffer.from(body));
  const parts = body.split(new RegExp(`(${ESCAPE})`)).map((part, index) => {
    if (index % 2 === 0) return Buffer.from(part);
    if (/^\\[uU]/.test(part)) throw new CelRejection(`${part} is not allowed in bytes`);
    return Buffer.from([codeOf(part)]);
  });
  return new Bytes(Buffer.concat(parts));
}

function codeOf(sequence: string): number {
  const letter = sequence[1] as string;
  if (/[xXuU]/.test(letter)) return Number.parseInt(sequence.slice(2), 16);
  if (/\d/.test(letter)) return Number.parseInt(sequence.slice(1), 8);
  return (CONTROLS[letter] ?? letter).charCodeAt(0);
}
