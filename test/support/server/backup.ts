import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Db, openDb } from '../../../src/db/db.ts';
import { backUp } from '../../../src/operations/backup/backup.ts';
import { inspect } from '../../../src/operations/backup/inspection.ts';
import { restore } from '../../../src/operations/backup/restore.ts';
import { readLines, readTables, writeExactly } from '../../../src/operations/backup/tables.store.ts';
import { type Place, temporaryFolder } from './db.ts';

export const newFile = () => join(temporaryFolder(), 'backup.tar.gz');
export const filesBeside = (file: string) => readdirSync(join(file, '..'));

export async function openPlace(place: Place): Promise<Db> {
  return await openDb({ ...place, say: () => undefined });
}

/** Older builds called themselves v1.27.0. What can be restored depends on the migrations, never on this number. */
const OLDER_BUILD = 'v1.27.0';

export async function backUpTo(db: Db, file = newFile()): Promise<string> {
  await backUp({ db, file, version: OLDER_BUILD, now: new Date() });
  return file;
}

/** Inspects the file first, as the command does. */
export async function restoreFrom(
  file: string,
  db: Db,
  replace = false,
  migrationsFolder = 'migrations',
): Promise<void> {
  const { manifest } = await inspect(file);
  await restore({ db, file, manifest, replace, migrationsFolder, say: () => undefined });
}

/**
 * Every row of every table, as text. Leaves out what a restore changes on purpose: the revisions, the state of the bus,
 * and its own audit entry.
 */
export async function contentOf(db: Db): Promise<Record<string, string[]>> {
  return await db.snapshot(async (query, script) => {
    await writeExactly(script);
    const content: Record<string, string[]> = {};
    for (const table of await readTables(query)) {
      if (['revision', 'revision_stamp', 'change', 'bus_state'].includes(table.name)) continue;
      const lines: string[] = [];
      for await (const batch of readLines(query, script, table)) lines.push(...batch);
      content[table.name] = lines.filter((line) => !line.includes('"deployment.restore"'));
    }
    return content;
  });
}
