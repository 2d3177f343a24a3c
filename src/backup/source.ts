import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { readdir, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Db, openDb } from '../db/db.ts';
import { lockFolder } from '../db/lock.ts';
import { AppError } from '../errors.ts';
import { askServer, type Tell } from '../operator.ts';

export interface Source {
  readonly db: Db;
  /** For how long the server's statements waited, when its files had to be copied. */
  readonly waitedMs?: number;
  close(): Promise<void>;
}

interface Place {
  readonly DATABASE_URL: string | undefined;
  readonly DATA_DIR: string;
}

const PREFIX = 'backup-';
/** A copy that nobody has opened by then was left behind by a command that was killed. */
const ABANDONED_MS = 600_000;

/** PostgreSQL as it is; the built-in database itself when no server has it, else a copy that its server makes. */
export async function openSource({ DATABASE_URL, DATA_DIR }: Place, say: Tell): Promise<Source> {
  if (DATABASE_URL === undefined && !existsSync(join(DATA_DIR, 'pglite'))) {
    throw new AppError('notFound', `there is no database in ${resolve(DATA_DIR)}: is DATA_DIR the server's?`);
  }
  const told: string[] = [];
  const isCopied =
    DATABASE_URL === undefined && (await askServer(DATA_DIR, { argv: ['backup'] }, (line) => told.push(line)));
  if (!isCopied) {
    const db = await openDb({ databaseUrl: DATABASE_URL, dataDir: DATA_DIR, poolSize: 1, say });
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

/** In the server: its files as they are now, for the command that asked, which removes them. */
export async function copyForBackup(db: Db, dataDir: string, tell: Tell): Promise<void> {
  if (!db.copyTo) throw new AppError('invalid', 'only the built-in database is copied');
  removeAbandoned(dataDir);
  await refuseFullDisk(dataDir);
  const folder = mkdtempSync(join(resolve(dataDir), PREFIX));
  try {
    const waitedMs = await db.copyTo(join(folder, 'pglite'));
    tell(JSON.stringify({ folder, waitedMs }));
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function refuseFullDisk(dataDir: string): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir);
  const entries = await readdir(join(dataDir, 'pglite'), { recursive: true });
  let size = 0;
  for (const entry of entries) size += (await stat(join(dataDir, 'pglite', entry)).catch(() => undefined))?.size ?? 0;
  if (bavail * bsize > size * 1.1) return;
  const needed = Math.ceil((size * 1.1) / 2 ** 20);
  throw new AppError(
    'conflict',
    `a backup of a running server needs ${needed} MiB in ${dataDir} for a while: make room, or stop the server`,
  );
}

function removeAbandoned(dataDir: string): void {
  for (const name of readdirSync(dataDir).filter((entry) => entry.startsWith(PREFIX))) {
    const folder = join(dataDir, name);
    if (Date.now() - statSync(folder).mtimeMs < ABANDONED_MS) continue;
    try {
      lockFolder(join(folder, 'pglite')).release();
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Somebody reads it.
    }
  }
}
