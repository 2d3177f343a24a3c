import { parentPort, workerData } from 'node:worker_threads';
import { AppError } from '../../base/errors.ts';
import { collectStartGarbage } from '../../base/start-memory.ts';
import { type Backend, type BackendOptions, startBackend } from './pglite-backend.ts';
import { type PgliteCall, type PgliteReport, transferables } from './pglite-messages.ts';

const tell = (report: PgliteReport): void => parentPort?.postMessage(report, transferables(report));
const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function serve(backend: Backend): void {
  const answer = async (call: PgliteCall): Promise<void> => {
    if (call === 'close') {
      await backend.close();
      tell({ kind: 'closed' });
      parentPort?.close();
      return;
    }
    tell(await backend.exchange(call));
  };
  parentPort?.on('message', (call: PgliteCall) => {
    answer(call).catch((error) => tell({ kind: 'panic', text: textOf(error) }));
  });
}

/** The built-in database runs in a thread of its own: while it works, or waits for the disk, the server handles other requests. */
try {
  serve(
    await startBackend(workerData as BackendOptions, {
      onSegment: () => tell({ kind: 'segment' }),
      onLastWords: (text) => tell({ kind: 'words', text }),
      onFault: (error) => tell({ kind: 'fault', text: error.message }),
      // Only the server can notice that.
      onLost: () => undefined,
    }),
  );
  collectStartGarbage();
  tell({ kind: 'started' });
} catch (error) {
  tell({ kind: 'rejected', text: textOf(error), isOurs: error instanceof AppError });
}
