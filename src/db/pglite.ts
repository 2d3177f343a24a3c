import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { AppError } from '../base/errors.ts';
import { lacksOpenFiles, OPEN_FILES_ADVICE } from '../base/open-files.ts';
import { type DbOptions, DEFAULT_QUERY_TIMEOUT_MS } from './db-options.ts';
import { copyFolder } from './folder-copy.ts';
import { type Lock, lockFolder } from './lock.ts';
import { takeTurns } from './mutex.ts';
import { createFolder, type Disk, realDisk, SyncedFiles } from './pglite-files.ts';
import { databaseFolder, hasDatabase, refuseLostDatabase } from './pglite-folder.ts';
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
  const folder = databaseFolder(options.dataDir);
  const lock = prepare(options, folder);
  try {
    return await openLocked(options, folder, disk, () => lock.release());
  } catch (error) {
    lock.release();
    throw error;
  }
}

function prepare({ dataDir, isRestore }: DbOptions, folder: string): Lock {
  try {
    // Before anything is written, the lock included.
    hasDatabase(dataDir);
    if (!isRestore) refuseLostDatabase(dataDir);
    mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
    return lockFolder(folder);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const advice = lacksOpenFiles(error) ? `; ${OPEN_FILES_ADVICE}` : '';
    throw new AppError('unavailable', `DATA_DIR ${dirname(folder)} cannot be used: ${reason}${advice}`, {
      cause: error,
    });
  }
}

async function openLocked(options: DbOptions, folder: string, disk: Disk, release: () => void): Promise<Db> {
  if (!hasDatabase(options.dataDir)) {
    options.say(`creating the database in ${folder}, this takes a few seconds`);
    await createFolder(folder, disk);
  }
  let stopped: AppError | undefined;
  /** Once it has stopped, nothing is acknowledged until a restart has recovered the database. */
  const stop = (reason: string, cause?: unknown): AppError => {
    if (stopped !== undefined) return stopped;
    const safe = 'everything that was acknowledged is safe; start again to recover it';
    stopped = new AppError('unavailable', `the database in ${folder} stopped: ${reason}; ${safe}`, { cause });
    options.onStopped?.(stopped);
    return stopped;
  };
  const health: Health = {
    database: `the database in ${folder}`,
    get stopped() {
      return stopped;
    },
    panic: (cause) => stop(`it panicked${voice.lastWords() || ' (is the disk full?)'}`, cause),
  };
  const files = new SyncedFiles(folder, disk, {
    // It is unknown what is on the disk now.
    onFault: (error) => void stop(`the disk failed (${error.message})`, error),
    onSegment: () => upkeep?.onSegment(),
  });
  let upkeep: Upkeep | undefined;
  const voice = createVoice();
  const pglite = await start(files, folder, voice);
  const session = createSession(pglite, health);
  const turn = takeTurns(options.queryTimeoutMs ?? DEFAULT_QUERY_TIMEOUT_MS);
  upkeep = createUpkeep(session, turn, (error) => options.onError?.(error));

  async function close(): Promise<void> {
    upkeep?.stop();
    await turn(async () => {
      // Closing writes a checkpoint. After a panic that is impossible, and the call would not return: the restart
      // recovers.
      if (stopped === undefined) await pglite.close();
      stopped ??= new AppError('unavailable', 'the database is closed');
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
        if (stopped !== undefined) throw stopped;
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

async function start(files: SyncedFiles, folder: string, voice: Voice): Promise<PGlite> {
  try {
    return await PGlite.create({ fs: files, startParams: START_PARAMS, onStderr: voice.onStderr });
  } catch (error) {
    const words = voice.lastWords();
    const advice = /too many open files/i.test(words) || lacksOpenFiles(error) ? `; ${OPEN_FILES_ADVICE}` : '';
    throw new AppError('unavailable', `the database in ${folder} does not start${words}${advice}`, { cause: error });
  }
}

type Voice = ReturnType<typeof createVoice>;

/** Keeps what PostgreSQL said before it gave up. */
function createVoice() {
  let words: string[] = [];
  return {
    onStderr(line: string) {
      if (/FATAL|PANIC|DETAIL/.test(line)) words = [...words, line.trim()].slice(-3);
      return false;
    },
    lastWords: () => words.map((line) => `; ${line}`).join(''),
  };
}
