import { spawn } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdtempSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

/** The one folder in which a test run keeps everything, and the list of processes that must end with it. */
export interface RunFolder {
  readonly path: string;
  /** The process group ends with the run. */
  keepGroup(pid: number | undefined): void;
  keepProcess(pid: number | undefined): void;
  forget(pid: number | undefined): void;
  /** Ends what is left and removes the folder. If this process is killed, the same happens without this call. */
  close(): Promise<void>;
}

/** Twice what the databases of a run need. */
const ROOM = 6 * 2 ** 30;

/**
 * Uses memory if there is plenty, because hundreds of databases are copied and every write to PGlite waits for a sync.
 * If TMPDIR is set, the run stays there.
 */
function roomiest(): string {
  if (process.env.TMPDIR) return tmpdir();
  try {
    accessSync('/dev/shm', constants.W_OK);
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (bavail * bsize > ROOM && freemem() > 2 * ROOM) return '/dev/shm';
  } catch {
    // This system does not have it.
  }
  return tmpdir();
}

export function openRunFolder(): RunFolder {
  const path = mkdtempSync(join(roomiest(), 'atrium-tests-'));
  // If the tests run as root, PostgreSQL runs as another user and must reach its own folder inside this one.
  chmodSync(path, 0o711);
  const keeper = spawn(process.execPath, [join(import.meta.dirname, 'keeper.mjs'), path], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const closed = new Promise<void>((resolve) => keeper.once('exit', () => resolve()));
  keeper.stdin.on('error', () => undefined);
  const tell = (line: object) => void keeper.stdin.write(`${JSON.stringify(line)}\n`);
  return {
    path,
    keepGroup: (group) => tell({ group }),
    keepProcess: (pid) => tell({ pid }),
    forget: (over) => tell({ over }),
    close: () => {
      keeper.stdin.end();
      return closed;
    },
  };
}
