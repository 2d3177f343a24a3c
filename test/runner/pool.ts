import { type ChildProcess, fork } from 'node:child_process';
import { join, relative } from 'node:path';
import type { Batch } from './batches.ts';
import type { WorkerMessage } from './messages.ts';
import type { Report } from './report.ts';
import type { RunFolder } from './run-folder.ts';

export interface PoolOptions {
  readonly batches: readonly Batch[];
  readonly workers: number;
  readonly env: Readonly<Record<string, string>>;
  /** A worker that sends nothing for this long hangs. This is the deadline of a single test. */
  readonly stallMs: number;
  readonly folder: RunFolder;
  readonly report: Report;
  /** Aborted if the run has to end at once. */
  readonly signal: AbortSignal;
}

/** Runs all batches, a few at a time, each in its own process. */
export async function runBatches(options: PoolOptions): Promise<void> {
  const { batches, workers, env, stallMs, folder, report, signal } = options;
  const queue = [...batches];
  await Promise.all(Array.from({ length: workers }, takeTurns));

  async function takeTurns(): Promise<void> {
    for (let batch = queue.shift(); batch !== undefined && !signal.aborted; batch = queue.shift()) {
      const left = await runBatch(batch);
      if (left.length > 0) queue.unshift(left);
    }
  }

  /** Resolves with the files that were not started, if the process ended early. */
  async function runBatch(batch: Batch): Promise<Batch> {
    const worker = fork(join(import.meta.dirname, 'worker.ts'), [...batch], {
      // In its own process group, so that everything its tests start can be ended with it.
      detached: true,
      // PGlite is WebAssembly, and optimizing it takes longer than most tests use it. With more room for young objects,
      // few of them are copied.
      execArgv: ['--liftoff-only', '--max-semi-space-size=64'],
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    folder.keepGroup(worker.pid);
    let running: Extract<WorkerMessage, { type: 'start' }> | undefined;
    const begun = new Set<string>();
    let hung = false;
    let isDone = false;
    let stall = watch();

    function watch(): NodeJS.Timeout {
      return setTimeout(() => {
        hung = true;
        endGroup(worker);
      }, stallMs);
    }

    worker.on('message', (message: WorkerMessage) => {
      clearTimeout(stall);
      stall = watch();
      if (message.type === 'progress') return report.progress(message.text);
      if (message.type === 'done') {
        isDone = true;
        return report.spend(worker.pid, message.cpu);
      }
      const file = relative('.', message.file);
      if (message.type === 'end') return report.end({ ...message, file });
      report.spend(worker.pid, message.cpu);
      if (!begun.has(file)) report.begin(file, worker.pid);
      begun.add(file);
      running = { ...message, file };
    });
    const { code, killedBy } = await new Promise<{ code: number | null; killedBy: string | null }>((resolve) => {
      worker.once('exit', (code, killedBy) => resolve({ code, killedBy }));
    });
    // The last messages may arrive after the process has ended.
    if (worker.connected) await new Promise((resolve) => worker.once('disconnect', resolve));
    clearTimeout(stall);
    endGroup(worker);
    report.close(worker.pid);
    if ((code === 0 && isDone) || signal.aborted) return [];

    const culprit = running?.file ?? batch[0] ?? '';
    const reason = hung
      ? `nothing happened for ${stallMs / 1000} s: the test, or something that it opened, hangs`
      : `the process of the test ended with ${killedBy ?? `exit code ${code}`}`;
    const path = running?.path ?? ['(no test had begun)'];
    report.end({ type: 'end', file: culprit, line: 1, path, ms: 0, isSkipped: false, error: reason });
    const left = batch.filter((file) => file !== culprit && !begun.has(file));
    // A test that a support file declares does not reveal which test file it belongs to. It is the first one left.
    return batch.includes(culprit) ? left : left.slice(1);
  }
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // No process of the group is left.
  }
}
