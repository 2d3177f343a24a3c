import { existsSync, lstatSync, readdirSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { keyPath } from '../../base/keys.ts';

/** Every database has these, and none of them is ever empty. */
const PARTS = ['PG_VERSION', 'base', 'global/pg_control', 'pg_wal', 'pg_xact', 'pg_multixact'];
const ADVICE = 'put them back, or move the folder away and restore a backup';

export function databaseFolder(dataDir: string): string {
  return join(resolve(dataDir), 'pglite');
}

/**
 * Whether there is a built-in database. An empty folder counts as none. Only looks: PGlite creates a new database over
 * the files of an incomplete one, which destroys it, so anything that is not whole is rejected here.
 */
export function hasDatabase(dataDir: string): boolean {
  const folder = databaseFolder(dataDir);
  const link = lstatSync(folder, { throwIfNoEntry: false });
  if (link === undefined) return false;
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) {
    const target = readlinkSync(folder);
    throw folderFault(`${folder} is a link to ${target}, which does not exist; is a volume not mounted?`);
  }
  if (!stats.isDirectory()) throw folderFault(`${folder} must be a folder; move the file away`);
  if (readdirSync(folder).length === 0) return false;
  const missing = PARTS.filter((part) => isEmpty(join(folder, part)));
  if (missing.length === 0) return true;
  throw folderFault(`the database in ${folder} is incomplete (${missing.join(', ')} missing or empty); ${ADVICE}`);
}

/** The key of a deployment without its database usually means that a volume is not mounted. */
export function rejectLostDatabase(dataDir: string): void {
  const key = resolve(keyPath(dataDir));
  // The key first: a first start that runs at the same time creates the database before it.
  if (!existsSync(key) || hasDatabase(dataDir)) return;
  throw folderFault(
    `${key} is the key of a deployment, but there is no database in ${databaseFolder(dataDir)}; is a volume not ` +
      'mounted? To recover, mount it or restore a backup. To start a new deployment, move the key away',
  );
}

function folderFault(message: string): AppError {
  return new AppError('unavailable', `${message} (nothing was changed)`, { reason: 'database_incomplete' });
}

function isEmpty(path: string): boolean {
  const stats: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return true;
  return stats.isDirectory() ? readdirSync(path).length === 0 : stats.size === 0;
}
