import { RE2JS } from 're2js';

const MAX_PATTERNS = 256;
const patterns = new Map<string, RE2JS | undefined>();

/**
 * Whether the pattern occurs in the text. The syntax is RE2's, and the time is linear in the length of the text.
 * `undefined` if the pattern is malformed.
 */
export function findPattern(pattern: string, text: string): boolean | undefined {
  let compiled = patterns.get(pattern);
  if (compiled === undefined && !patterns.has(pattern)) {
    compiled = compile(pattern);
    if (patterns.size >= MAX_PATTERNS) patterns.clear();
    patterns.set(pattern, compiled);
  }
  return compiled?.test(text);
}

function compile(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch {
    return;
  }
}
