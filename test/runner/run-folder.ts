import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The one folder in which a test run keeps everything, and the list of processes that must end with it. */
export interface RunFolder {
  readonly path: string;
  /** Ends with the run, together with every process that it starts. */
  keepGroup(pid: number | undefined): void;
  keepProcess(pid: number | undefined): void;
  forget(pid: number | undefined): void;
  /** Ends what is left and removes the folder. It happens without this call too, if this process is killed. */
  close(): Promise<void>;
}

export function openRunFolder(): RunFolder {
  const path = mkdtempSync(join(tmpdir(), 'atrium-tests-'));
  // PostgreSQL runs as another user when the tests run as root, and must reach its own folder inside.
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
