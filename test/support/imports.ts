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
  readonly hasDefaultExport: boolean;
}

const FROM = /^(?:import|export)\s+(type\s)?[^;'"]*?from\s+['"]([^'"]+)['"]/gm;
const BARE = /^import\s+['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]/g;

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
  return { path, lines: text.split('\n').length - 1, imports, hasDefaultExport: /^export default\b/m.test(text) };
}
