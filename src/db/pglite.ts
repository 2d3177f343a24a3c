import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { AppError } from '../base/errors.ts';
import { type DbOptions, DEFAULT_QUERY_TIMEOUT_MS } from './db-options.ts';
import { copyFolder } from './folder-copy.ts';
import { type Lock, lockFolder } from './lock.ts';
import { takeTurns } from './mutex.ts';
import { createFolder, type Disk, realDisk, SyncedFiles } from './pglite-files.ts';
import { createSession, type Health } from './pglite-session.ts';
import { inSnapshot, inTransaction } from './transaction.ts';
import type { Db } from './types.ts';
import { createUpkeep, type Upkeep } from './upkeep.ts';

/**
 * PGlite starts PostgreSQL with -F, which turns fsync off. The method must be fsync: Emscripten's fdatasync does
 * nothing. The default of 128 MiB of buffers would be paid in memory; the operating system caches the files anyway.
 */
const SETTINGS = {
  fsync: 'on',
  wal_sync_method: 'fsync',
  shared_buffers: '16MB',
  max_connections: '4',
  min_wal_size: '16MB',
  max_wal_size: '64MB',
  jit: 'off',
};
const START_PARAMS = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  ...Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
];

export async function openPglite(options: DbOptions, disk: Disk = realDisk): Promise<Db> {
  const folder = join(resolve(options.dataDir), 'pglite');
  const lock = prepare(folder);
  try {
    return await openLocked(options, folder, disk, () => lock.release());
  } catch (error) {
    lock.release();
    throw error;
  }
}

function prepare(folder: string): Lock {
  try {
    mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
    return lockFolder(folder);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new AppError('unavailable', `DATA_DIR ${dirname(folder)} cannot be used: ${reason}`, { cause: error });
  }
}

async function openLocked(options: DbOptions, folder: string, disk: Disk, release: () => void): Promise<Db> {
  if (!existsSync(folder)) {
    options.say(`creating the database in ${folder}, this takes a few seconds`);
    await createFolder(folder, disk);
  }
  const health: Health = {};
  const files = new SyncedFiles(folder, disk, {
    onFault(error) {
      // It is unknown what is on the disk now, so nothing is acknowledged until a restart has recovered the database.
      health.stopped = new AppError('unavailable', 'the database stopped because the disk failed: restart to recover', {
        cause: error,
      });
      options.onError?.(health.stopped);
    },
    onSegment: () => upkeep?.onSegment(),
  });
  let upkeep: Upkeep | undefined;
  const pglite = await start(files, folder);
  const session = createSession(pglite, health);
  const turn = takeTurns(options.queryTimeoutMs ?? DEFAULT_QUERY_TIMEOUT_MS);
  upkeep = createUpkeep(session, turn, (error) => options.onError?.(error));

  async function close(): Promise<void> {
    upkeep?.stop();
    await turn(async () => {
      // Closing writes a checkpoint. After a panic that is impossible, and the call would not return: the restart
      // recovers.
      if (health.stopped === undefined) await pglite.close();
      health.stopped ??= new AppError('unavailable', 'the database is closed');
      release();
    });
  }

  let closing: Promise<void> | undefined;
  return {
    driver: 'pglite',
    ask: async (statement) => {
      const [row = {}] = await turn(() => session.query(statement));
      const [value = null] = Object.values(row);
      return value === null ? null : String(value);
    },
    query: (statement, values) => turn(() => session.query(statement, values)),
    transaction: (work) => turn(() => inTransaction(session, work)),
    // There is one connection and one process, so its turn is the migration lock.
    migration: (work) =>
      turn(() => inTransaction(session, (query) => work(query, async (text) => void (await session.command(text))))),
    snapshot: (work) => turn(() => inSnapshot(session, work)),
    async copyTo(target) {
      // After a checkpoint, there is little left to recover, and little log to copy.
      await turn(() => session.command('CHECKPOINT'));
      return await turn(async () => {
        if (health.stopped !== undefined) throw health.stopped;
        const began = performance.now();
        await copyFolder(folder, target);
        return performance.now() - began;
      });
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

async function start(files: SyncedFiles, folder: string): Promise<PGlite> {
  let lastWords = '';
  let starting = true;
  const onStderr = (line: string) => {
    if (starting && /FATAL|PANIC|DETAIL/.test(line)) lastWords += `; ${line.trim()}`;
    return false;
  };
  try {
    const pglite = await PGlite.create({ fs: files, startParams: START_PARAMS, onStderr });
    starting = false;
    return pglite;
  } catch (error) {
    throw new AppError('unavailable', `the database in ${folder} does not start${lastWords}`, { cause: error });
  }
}
