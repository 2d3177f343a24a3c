import { PGlite } from '@electric-sql/pglite';
import { AppError } from '../../base/errors.ts';
import { lacksOpenFiles, OPEN_FILES_ADVICE } from '../../base/open-files.ts';
import { createFolder, type Disk, type DiskWatch, realDisk, SyncedFiles } from './pglite-files.ts';
import { joinBytes } from './pglite-messages.ts';

/**
 * PGlite starts PostgreSQL with -F, which turns fsync off. The method must be fsync: Emscripten's fdatasync does
 * nothing. The default of 128 MiB of buffers would be paid in memory; the operating system caches the files anyway.
 */
const SETTINGS = {
  fsync: 'on',
  wal_sync_method: 'fsync',
  shared_buffers: '8MB',
  max_connections: '4',
  min_wal_size: '16MB',
  max_wal_size: '64MB',
  jit: 'off',
};
const START_PARAMS = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== '-F'),
  ...Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
];

/** What a backend reports besides its answers. */
export interface Watch extends DiskWatch {
  /** PostgreSQL says why it gives up. */
  onLastWords(line: string): void;
  /** It is gone, together with its thread. */
  onLost(error: Error): void;
}

/** A running PGlite. It has one connection and answers one call at a time. */
export interface Backend {
  /** Sends messages in PostgreSQL's protocol and returns what it answers. Throws only if WebAssembly itself gave up. */
  exchange(messages: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
  /** Writes a checkpoint and ends. Impossible after a panic. */
  close(): Promise<void>;
  /** Ends without a word, after a panic. */
  drop(): Promise<void>;
}

export interface BackendOptions {
  readonly folder: string;
  /** The folder does not contain a database yet. */
  readonly isNew: boolean;
}

export type StartBackend = (options: BackendOptions, watch: Watch) => Promise<Backend>;

/** Starts PGlite in this thread, which it occupies while it works. */
export async function startBackend({ folder, isNew }: BackendOptions, watch: Watch, disk: Disk = realDisk) {
  if (isNew) await createFolder(folder, disk);
  const pglite = await start(folder, new SyncedFiles(folder, disk, watch), watch);
  return {
    async exchange(messages) {
      const parts: Uint8Array[] = [];
      const onRawData = (part: Uint8Array) => void parts.push(part.slice());
      await pglite.execProtocolRawStream(messages, { syncToFs: false, onRawData });
      return joinBytes(parts);
    },
    close: () => pglite.close(),
    drop: async () => undefined,
  } satisfies Backend;
}

async function start(folder: string, fs: SyncedFiles, watch: Watch): Promise<PGlite> {
  let words = '';
  const onStderr = (line: string) => {
    if (/FATAL|PANIC|DETAIL/.test(line)) {
      words += `; ${line.trim()}`;
      watch.onLastWords(line.trim());
    }
    return false;
  };
  try {
    return await PGlite.create({ fs, startParams: START_PARAMS, onStderr });
  } catch (error) {
    const advice = /too many open files/i.test(words) || lacksOpenFiles(error) ? `; ${OPEN_FILES_ADVICE}` : '';
    throw new AppError('unavailable', `the database in ${folder} does not start${words}${advice}`, { cause: error });
  }
}
