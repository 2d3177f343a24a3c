import { rmSync } from 'node:fs';
import { readdir, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { type Db, databaseFolder, hasDatabase, openDb } from '../../db/db.ts';
import { askServer, type Print } from '../command-socket.ts';
import { newCopy, removeAbandonedCopies } from './copies.ts';

export interface Source {
  readonly db: Db;
  /** How long the server's statements waited, if its files had to be copied. */
  readonly waitedMs?: number;
  close(): Promise<void>;
}

interface Place {
  readonly DATABASE_URL: string | undefined;
  readonly DATABASE_POOLER: string;
  readonly DATA_DIR: string;
}

/**
 * PostgreSQL directly; the built-in database directly if no server has it open, otherwise a copy that its server
 * creates.
 */
export async function openSource({ DATABASE_URL, DATABASE_POOLER, DATA_DIR }: Place, say: Print): Promise<Source> {
  if (DATABASE_URL === undefined && !hasDatabase(DATA_DIR)) {
    throw new AppError('notFound', `there is no database in ${resolve(DATA_DIR)}; set DATA_DIR to that of the server`);
  }
  const told: string[] = [];
  const isCopied =
    DATABASE_URL === undefined && (await askServer(DATA_DIR, { argv: ['backup'] }, (line) => told.push(line)));
  if (!isCopied) {
    const db = await openDb({
      databaseUrl: DATABASE_URL,
      isPooled: DATABASE_POOLER === 'transaction',
      dataDir: DATA_DIR,
      poolSize: 1,
      say,
    });
    return { db, close: () => db.close() };
  }
  const { folder, waitedMs } = JSON.parse(told[0] ?? '{}') as { folder: string; waitedMs: number };
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const db = await openDb({ dataDir: folder, say }).catch((error) => {
    remove();
    throw error;
  });
  return {
    db,
    waitedMs,
    async close() {
      await db.close();
      remove();
    },
  };
}

/** Runs in the server: copies its files as they are now for the command that asked, which removes the copy. */
export async function copyForBackup(db: Db, dataDir: string, print: Print): Promise<void> {
  const { copyTo } = db;
  if (!copyTo) throw new AppError('invalid', 'only the built-in database can be copied');
  removeAbandonedCopies(dataDir, Date.now());
  await rejectFullDisk(dataDir);
  const { folder, result: waitedMs } = await newCopy(dataDir, copyTo);
  print(JSON.stringify({ folder, waitedMs }));
}

async function rejectFullDisk(dataDir: string): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir);
  const entries = await readdir(databaseFolder(dataDir), { recursive: true });
  let size = 0;
  for (const entry of entries)
    size += (await stat(join(databaseFolder(dataDir), entry)).catch(() => undefined))?.size ?? 0;
  if (bavail * bsize > size * 1.1) return;
  const needed = Math.ceil((size * 1.1) / 2 ** 20);
  throw new AppError(
    'conflict',
    `a backup of a running server temporarily needs ${needed} MiB in ${dataDir}; free up space, or stop the server`,
  );
}
