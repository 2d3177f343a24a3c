import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Compares with a file that people read and review. UPDATE_GOLDEN=1 rewrites it. */
export function matchGolden(path: string, actual: string): void {
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(path, actual);
  const golden = existsSync(path) ? readFileSync(path, 'utf8') : '';
  assert.equal(
    actual,
    golden,
    `${path} is not what the server does; look at the difference, then run with UPDATE_GOLDEN=1`,
  );
}

/** The lines of a list file, without comments and blank lines. */
export function readList(path: string): string[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}
