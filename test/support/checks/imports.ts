import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Import {
  /** A path inside the repository for a relative import, otherwise the name of the package. */
  readonly target: string;
  /** Erased before the program runs. */
  readonly typeOnly: boolean;
}

export interface SourceFile {
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  /** The names of everything that is exported, types included. */
  readonly exports: readonly string[];
  readonly hasDefaultExport: boolean;
  /** Calls `fetch`. */
  readonly hasFetch: boolean;
  /** Sends a text without returning the reply. */
  readonly leavesReply: boolean;
}

const FROM = /^(?:import|export)\s+(type\s)?[^;'"]*?from\s+['"]([^'"]+)['"]/gm;
/** What sends a text is returned, or marked with `void` in a handler that waits for nothing: see sendText. */
const LEFT_REPLY = /(?<!return |=> |=>\n {8}|void )\bsend(?:Text|Pieces)\(/;
const BARE = /^import\s+['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]/g;
const DECLARED =
  /^export\s+(?:declare\s+|abstract\s+|async\s+)*(?:function\*?|const|let|class|interface|type)\s+(\w+)/gm;
const LISTED = /^export\s+(?:type\s+)?\{([^}]*)\}/gm;
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*$/gm;
const FETCH = /(?<![\w.'"`-])(?:globalThis\.)?fetch\(/;

export function readSources(...patterns: string[]): SourceFile[] {
  return globSync(patterns, { exclude: ['**/node_modules/**', '**/dist/**'] })
    .sort()
    .map((path) => parseSource(path, readFileSync(path, 'utf8')));
}

export function parseSource(path: string, text: string): SourceFile {
  const found = [
    ...[...text.matchAll(FROM)].map(([, type, target = '']) => ({ target, typeOnly: type !== undefined })),
    ...[...text.matchAll(BARE), ...text.matchAll(DYNAMIC)].map(([, target = '']) => ({ target, typeOnly: false })),
  ];
  const imports = found.map(({ target, typeOnly }) => ({
    target: target.startsWith('.') ? join(dirname(path), target) : target,
    typeOnly,
  }));
  const listed = [...text.matchAll(LISTED)].flatMap(([, names = '']) => names.split(','));
  const exports = [
    ...[...text.matchAll(DECLARED)].map(([, name = '']) => name),
    ...listed
      .map(
        (one) =>
          one
            .split(/\bas\b/)
            .at(-1)
            ?.trim() ?? '',
      )
      .filter((name) => name !== ''),
  ];
  return {
    path,
    lines: text.split('\n').length - 1,
    imports,
    exports,
    hasDefaultExport: /^export default\b/m.test(text),
    hasFetch: FETCH.test(text.replace(COMMENT, '')),
    leavesReply: LEFT_REPLY.test(text),
  };
}
