import { RE2JS } from 're2js';

/**
 * Matching takes time in proportion to the text and to the pattern, in which `a{1000}` counts as a thousand letters.
 * Larger patterns, and larger products of the two, are rejected.
 */
export const MAX_PATTERN_SIZE = 2000;
export const MAX_STEPS = 100_000;
/** A compiled pattern may take 8 MB for what it has learned about texts. */
const MAX_KEPT = 8;

/** A regular expression in the syntax of RE2. */
export class Pattern {
  readonly #compiled: RE2JS;
  readonly #size: number;

  constructor(compiled: RE2JS) {
    this.#compiled = compiled;
    this.#size = compiled.programSize();
  }

  /** Whether it occurs in the text. `undefined` if that takes too many steps. */
  occursIn(text: string): boolean | undefined {
    return text.length * this.#size > MAX_STEPS ? undefined : this.#compiled.test(text);
  }
}

/** `undefined` if the pattern is malformed or too large. */
export function compilePattern(source: string): Pattern | undefined {
  if (sizeOf(source) > MAX_PATTERN_SIZE) return;
  try {
    return new Pattern(RE2JS.compile(source));
  } catch {
    return;
  }
}

const kept = new Map<string, Pattern | undefined>();

/** For patterns that a context contains: the last few are kept. */
export function findPattern(source: string): Pattern | undefined {
  if (!kept.has(source)) {
    const [oldest] = kept.keys();
    if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(source, compilePattern(source));
  }
  return kept.get(source);
}

const ATOM =
  /\\Q.*?(?:\\E|$)|\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\.|\[\^?\]?(?:\[:[^\]]*:\]|\\.|[^\]\\])*\]?|\{(\d+)(,?)(\d*)\}|./gsu;

/** How many steps the pattern becomes if every counted repetition is written out. An estimate, never too low by much. */
function sizeOf(source: string): number {
  const open: number[] = [];
  let size = 0;
  let last = 0;
  for (const [atom, least, , most] of source.matchAll(ATOM)) {
    if (atom === '(') {
      open.push(size);
      size = 0;
      last = 0;
    } else if (atom === ')' && open.length > 0) {
      last = size + 1;
      size = (open.pop() ?? 0) + last;
    } else if (least !== undefined) {
      const repeated = last * Math.max(Number(least), Number(most || 0), 1);
      size += repeated - last;
      last = repeated;
    } else {
      last = atom.startsWith('\\Q') ? atom.length : 1;
      size += last;
    }
    if (size > MAX_PATTERN_SIZE) return size;
  }
  return size + open.reduce((sum, one) => sum + one, 0);
}
