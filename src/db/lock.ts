import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { AppError } from '../base/errors.ts';

const SQLITE_BUSY = 5;

/** Holds a reference to every lock, because garbage collection would release it. */
const held = new Set<DatabaseSync>();

export interface Lock {
  release(): void;
}

/**
 * An exclusive lock on a folder, held by the operating system.
 *
 * Node offers no flock, but the SQLite inside it takes a real file lock (fcntl, LockFileEx on Windows) and holds it as
 * long as its exclusive transaction is open. The kernel decides between two processes that start at the same time, works across
 * containers that share a volume, and releases the lock however the process ends. No process ID is ever trusted, so
 * none can be stale.
 *
 * A trap of fcntl: closing any other handle of `<folder>.lock` in this process drops the lock. Nothing else may open
 * it. Therefore a second file names the owner; it is only for people to read.
 */
export function lockFolder(folder: string): Lock {
  const owner = `${folder}.owner`;
  const file = new DatabaseSync(`${folder}.lock`, { timeout: 0 });
  try {
    file.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    file.close();
    if (!(error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY)) throw error;
    throw new AppError(
      'unavailable',
      `the database in ${folder} is in use by ${readOwner(owner)}: stop that process, or set another DATA_DIR`,
      { reason: 'database_in_use', cause: error },
    );
  }
  held.add(file);
  writeFileSync(owner, `process ${process.pid} on ${hostname()}, since ${new Date().toISOString()}\n`);
  return {
    release() {
      if (!held.delete(file)) return;
      rmSync(owner, { force: true });
      file.close();
    },
  };
}

function readOwner(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim() || 'another process';
  } catch {
    return 'another process';
  }
}
