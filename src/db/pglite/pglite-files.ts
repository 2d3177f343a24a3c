import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { PGlite, type postgresMod } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { AppError } from '../../base/errors.ts';

/** The one operation that durability depends on. Tests replace it with a recorder to build what a power cut leaves. */
export interface Disk {
  sync(fd: number, path: string, isDirectory: boolean): void;
}

export const realDisk: Disk = {
  sync: (fd, _path, isDirectory) => (isDirectory ? fs.fsyncSync(fd) : fs.fdatasyncSync(fd)),
};

export interface DiskWatch {
  /** The disk failed to sync. */
  onFault(error: Error): void;
  /** A new segment of the write-ahead log is in use. */
  onSegment(): void;
}

const LOG_SEGMENT = /pg_wal[/\\][0-9A-F]{24}$/;

/** The parts of Emscripten's file system that are used here. */
interface Stream {
  readonly nfd: number;
  readonly node: { readonly mode: number };
}
interface NodeFsModule {
  readonly NODEFS: {
    readonly stream_ops: { fsync?: (stream: Stream) => number };
    realPath(node: Stream['node']): string;
    tryFSOperation<T>(work: () => T): T;
  };
  readonly FS: { isDir(mode: number): boolean };
}

/**
 * PGlite's files with the fsync that Emscripten's NODEFS leaves out. PostgreSQL itself then syncs its log before it
 * confirms a commit, and its data files at a checkpoint. It does not sync the folder of a new data file, so the first
 * sync of a file also syncs its folder.
 */
export class SyncedFiles extends NodeFS {
  readonly #disk: Disk;
  readonly #watch: DiskWatch;
  readonly #seen = new Set<string>();

  constructor(folder: string, disk: Disk, watch: DiskWatch) {
    super(folder);
    this.#disk = disk;
    this.#watch = watch;
  }

  override async init(pg: PGlite, options: Partial<postgresMod.PostgresMod>) {
    const { emscriptenOpts } = await super.init(pg, options);
    const install = (module: unknown) => this.#install(module as NodeFsModule);
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...[emscriptenOpts.preRun ?? []].flat(), install] } };
  }

  #install({ NODEFS, FS }: NodeFsModule): void {
    NODEFS.stream_ops.fsync = (stream) =>
      NODEFS.tryFSOperation(() => {
        const path = NODEFS.realPath(stream.node);
        const isDirectory = FS.isDir(stream.node.mode);
        try {
          this.#disk.sync(stream.nfd, path, isDirectory);
          if (!isDirectory && !this.#seen.has(path)) this.#meet(path);
        } catch (error) {
          // PostgreSQL panics now, as it must: after a failed sync, it is unknown what is on the disk.
          this.#watch.onFault(error instanceof Error ? error : new Error(String(error)));
          throw error;
        }
        return 0;
      });
  }

  #meet(path: string): void {
    this.#seen.add(path);
    syncFolder(dirname(path), this.#disk);
    if (LOG_SEGMENT.test(path)) this.#watch.onSegment();
  }
}

function syncFolder(path: string, disk: Disk): void {
  const fd = fs.openSync(path, 'r');
  try {
    disk.sync(fd, path, true);
  } finally {
    fs.closeSync(fd);
  }
}

function syncTree(path: string, disk: Disk): void {
  for (const entry of fs.readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) syncTree(child, disk);
    else {
      const fd = fs.openSync(child, 'r+');
      disk.sync(fd, child, false);
      fs.closeSync(fd);
    }
  }
  syncFolder(path, disk);
}

/** Creates the folder of a new database in one step: a start that is interrupted leaves none, never half of one. */
export async function createFolder(folder: string, disk: Disk): Promise<void> {
  const draft = `${folder}.new`;
  fs.rmSync(draft, { recursive: true, force: true });
  fs.mkdirSync(draft, { mode: 0o700 });
  // Smaller log segments than the usual 16 MiB: a new one is filled with zeros while every request waits.
  const pglite = await PGlite.create({ dataDir: draft, initDbStartParams: ['--wal-segsize=4'] });
  await pglite.close();
  syncTree(draft, disk);
  moveInto(draft, folder);
  syncFolder(dirname(folder), disk);
  syncFolder(dirname(dirname(folder)), disk);
}

function moveInto(draft: string, folder: string): void {
  try {
    fs.renameSync(draft, folder);
  } catch (error) {
    fs.rmSync(draft, { recursive: true, force: true });
    if (!/^(EBUSY|EXDEV|ENOTDIR|ENOTEMPTY|EEXIST)$/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new AppError(
      'unavailable',
      `the database cannot be created in ${folder}: it must be neither a mount point nor a link; mount DATA_DIR instead`,
      { cause: error },
    );
  }
}
