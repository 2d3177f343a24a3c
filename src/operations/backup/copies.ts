import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { databaseFolder } from '../../db/db.ts';
import { lockFolder } from '../../db/lock.ts';

const PREFIX = '.atrium-backup-copy-';
const SHAPE = /^\.atrium-backup-copy-[0-9A-Za-z]{6}$/;
/** A folder is ours only if it contains this file: anyone could have chosen the name. */
const MARKER = 'REMOVED-BY-ATRIUM';
const WORDS = 'A copy of the database while a backup is made of it. Atrium removes this folder.\n';
/** A copy that no process has opened after this time was left behind by a command that was killed. */
const ABANDONED_MS = 600_000;

/** Creates a folder for a copy of the database; the lock on it is held for as long as `write` takes. */
export async function newCopy<T>(
  dataDir: string,
  write: (database: string) => Promise<T>,
): Promise<{ folder: string; result: T }> {
  const folder = mkdtempSync(join(resolve(dataDir), PREFIX));
  try {
    writeFileSync(join(folder, MARKER), WORDS, { mode: 0o600 });
    const lock = lockFolder(databaseFolder(folder));
    try {
      return { folder, result: await write(databaseFolder(folder)) };
    } finally {
      lock.release();
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

export function removeAbandonedCopies(dataDir: string, now: number): void {
  for (const name of readdirSync(dataDir).filter((entry) => SHAPE.test(entry))) {
    const folder = join(dataDir, name);
    try {
      if (!isOurs(folder) || now - lstatSync(folder).mtimeMs < ABANDONED_MS) continue;
      const lock = lockFolder(databaseFolder(folder));
      try {
        rmSync(databaseFolder(folder), { recursive: true, force: true });
      } finally {
        lock.release();
      }
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another process is writing it, is reading it, or has just removed it.
    }
  }
}

function isOurs(folder: string): boolean {
  // A link could lead to a folder that another user chose.
  return lstatSync(folder).isDirectory() && readFileSync(join(folder, MARKER), 'utf8') === WORDS;
}
