import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { lacksOpenFiles, OPEN_FILES_ADVICE } from '../../base/open-files.ts';
import { type DbOptions, DEFAULT_QUERY_TIMEOUT_MS } from '../db-options.ts';
import { copyFolder } from '../folder-copy.ts';
import { type Lock, lockFolder } from '../lock.ts';
import { createMutex } from '../mutex.ts';
import { inSnapshot, inTransaction, queryOn } from '../transaction.ts';
import type { Db } from '../types.ts';
import { databaseFolder, hasDatabase, rejectLostDatabase } from './pglite-folder.ts';
import { startInThread } from './pglite-in-thread.ts';
import { createSession, type Health } from './pglite-session.ts';
import { createUpkeep, type Upkeep } from './upkeep.ts';

export async function openPglite(options: DbOptions): Promise<Db> {
  const folder = databaseFolder(options.dataDir);
  const lock = prepare(options, folder);
  try {
    return await openLocked(options, folder, () => lock.release());
  } catch (error) {
    lock.release();
    throw error;
  }
}

function prepare({ dataDir, isRestore }: DbOptions, folder: string): Lock {
  try {
    // Before anything is written, the lock included.
    hasDatabase(dataDir);
    if (!isRestore) rejectLostDatabase(dataDir);
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

async function openLocked(options: DbOptions, folder: string, release: () => void): Promise<Db> {
  const { startPglite = startInThread } = options;
  const isNew = !hasDatabase(options.dataDir);
  if (isNew) options.say(`creating the database in ${folder}, this takes a few seconds`);
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
    panic: (cause) =>
      stop(`it panicked${lastWords.map((line) => `; ${line}`).join('') || ' (is the disk full?)'}`, cause),
  };
  let upkeep: Upkeep | undefined;
  let lastWords: readonly string[] = [];
  const backend = await startPglite(
    { folder, isNew },
    {
      // It is unknown what is on the disk now.
      onFault: (error) => void stop(`the disk failed (${error.message})`, error),
      onSegment: () => upkeep?.onSegment(),
      onLastWords: (line) => {
        lastWords = [...lastWords, line].slice(-3);
      },
      onLost: (error) => void stop(`it is gone (${error.message})`, error),
    },
  );
  const session = createSession(backend, health);
  const query = queryOn(session);
  const turn = createMutex(options.queryTimeoutMs ?? DEFAULT_QUERY_TIMEOUT_MS);
  upkeep = createUpkeep(session, turn, (error) => options.onError?.(error));

  async function close(): Promise<void> {
    upkeep?.stop();
    await turn(async () => {
      // After a panic, the call would not return: the restart recovers.
      if (stopped === undefined) await backend.close();
      else await backend.drop();
      stopped ??= new AppError('unavailable', 'the database is closed');
      release();
    });
  }

  let closing: Promise<void> | undefined;
  return {
    driver: 'pglite',
    capabilities: { isBuiltIn: true, isOnlyWriter: true, hasOneConnection: true, writesCheckpoints: false },
    queryRevision: async (statement) => {
      const [row = {}] = await turn(() => query(statement));
      const [value = null] = Object.values(row);
      return value === null ? null : String(value);
    },
    query: (statement, values) => turn(() => query(statement, values)),
    transaction: (work) => turn(() => inTransaction(session, work)),
    // There is one connection and one process, so its turn is the migration lock.
    migration: (work) => turn(() => inTransaction(session, work)),
    snapshot: (work) => turn(() => inSnapshot(session, work)),
    connections() {
      const used = Math.min(turn.count(), 1);
      return { used, idle: 1 - used, max: 1, waiting: turn.count() - used };
    },
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
