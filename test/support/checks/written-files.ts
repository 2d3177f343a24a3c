import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The timestamp of a file comes from a clock that may be a few milliseconds behind. */
const BEHIND_MS = 1000;

/** The files in a folder and below that were written since then. */
export function writtenFiles(folder: string, since: number): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => {
      const state = statSync(path);
      return state.isFile() && state.mtimeMs >= since - BEHIND_MS;
    });
}

/**
 * The same for a PGlite database. A copy keeps the timestamps of its files, and a file that was not written since the
 * copy cannot contain a newer secret.
 */
export function writtenDatabaseFiles(dataDir: string, since: number): string[] {
  const files = writtenFiles(dataDir, since);
  for (const part of ['pg_wal', 'base']) {
    assert.ok(
      files.some((path) => path.includes(`/${part}/`)),
      `nothing was written to ${part}`,
    );
  }
  return files;
}
