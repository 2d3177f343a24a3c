import { AppError } from '../../base/errors.ts';
import type { Db } from '../../db/db.ts';
import { writeArchive } from './archive-writer.ts';
import { FORMAT, HEAD, type Head, type Manifest, ROOT_KEY, type TableSummary, WITHOUT_ROWS } from './format.ts';
import { readApplied, readLines, readSequences, readTables, type Table, writeExactly } from './tables.store.ts';

export interface BackupOptions {
  readonly db: Db;
  readonly file: string;
  /** The release that writes it. */
  readonly version: string;
  readonly now: Date;
  /** The root key, if it is to be part of the file. */
  readonly rootKey?: Buffer | undefined;
  /** Called after every batch of rows. */
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly table: string;
  /** The number of rows so far, of all tables. */
  readonly rows: number;
}

/**
 * Writes everything in the database, as of one moment, into one file. Knows no table by name except those without rows.
 */
export async function backUp({ db, file, version, now, rootKey, onProgress }: BackupOptions): Promise<Manifest> {
  let manifest: Manifest | undefined;
  await db.snapshot(async (query, script) => {
    const migrations = await readApplied(query);
    if (!migrations?.length) throw new AppError('conflict', 'the database is empty: there is nothing to back up');
    await writeExactly(script);
    const createdAt = now.toISOString();
    const head: Head = { product: 'atrium', format: FORMAT, version, createdAt, driver: db.driver, migrations };
    await writeArchive(file, async (archive) => {
      await archive.add(HEAD, json(head));
      const tables: TableSummary[] = [];
      let rows = 0;
      for (const table of await readTables(query)) {
        const lines = counted(table, WITHOUT_ROWS.has(table.name) ? nothing() : readLines(query, script, table));
        const columns = table.columns.map((column) => column.name);
        tables.push(await archive.table(table.name, columns, lines));
      }
      if (rootKey) await archive.add(ROOT_KEY, `${rootKey.toString('base64')}\n`);
      // Sequences are not part of the snapshot: read last, they are never behind the rows.
      manifest = { ...head, tables, sequences: await readSequences(query), withKeys: rootKey !== undefined };
      return json(manifest);

      async function* counted(table: Table, batches: AsyncIterable<readonly string[]>) {
        for await (const batch of batches) {
          yield batch;
          rows += batch.length;
          onProgress?.({ table: table.name, rows });
        }
      }
    });
  });
  if (!manifest) throw new AppError('internal', 'the backup was not written');
  return manifest;
}

async function* nothing(): AsyncGenerator<readonly string[]> {}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
