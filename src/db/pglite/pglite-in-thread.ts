import { extname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { AppError } from '../../base/errors.ts';
import type { Backend, BackendOptions, Watch } from './pglite-backend.ts';
import { type PgliteCall, type PgliteReport, transferables } from './pglite-messages.ts';

/** TypeScript in the sources, JavaScript in a build. */
const THREAD = new URL(`./pglite-thread${extname(import.meta.url)}`, import.meta.url);

/**
 * V8 optimizes a function of WebAssembly once it has run for about so many bytes. By default, that is early: a start
 * alone would optimize hundreds of functions of PostgreSQL, next to everything else that a start does, and keep some 30
 * MiB for it. The largest number that V8 takes leaves the optimizer to what really runs all the time. A loop counts with
 * all of its bytes for each turn, so the largest loops are optimized first: those of the parser need 30 MiB for that, and
 * the one that evaluates expressions 580 MiB, for some seconds.
 */
const TIERING_BUDGET = 2_147_483_647;

interface Waiting {
  resolve(bytes: Uint8Array<ArrayBuffer>): void;
  reject(error: Error): void;
}

/**
 * Starts PGlite in a thread of its own, so that a long statement or a slow disk does not keep the event loop waiting.
 *
 * @param onThread for tests, which end it
 */
export async function startInThread(
  options: BackendOptions,
  watch: Watch,
  onThread?: (thread: Worker) => void,
): Promise<Backend> {
  setFlagsFromString(`--wasm-tiering-budget=${TIERING_BUDGET}`);
  const thread = new Worker(THREAD, { workerData: options });
  onThread?.(thread);
  const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
  let waiting: Waiting | undefined;
  let isInUse = false;
  let gone: Error | undefined;

  /** The thread keeps the process alive only while a query waits for it. */
  const wait = (begin: () => void) =>
    new Promise<Uint8Array<ArrayBuffer>>((resolve, reject) => {
      if (gone !== undefined) return reject(gone);
      waiting = { resolve, reject };
      thread.ref();
      begin();
    });
  const settle = (finish: (waiting: Waiting) => void) => {
    const before = waiting;
    waiting = undefined;
    thread.unref();
    if (before !== undefined) finish(before);
  };
  const fail = (error: Error) => settle(({ reject }) => reject(error));
  const call = (message: PgliteCall) => thread.postMessage(message, transferables(message));

  thread.on('message', (report: PgliteReport) => {
    if (report instanceof Uint8Array) settle(({ resolve }) => resolve(report));
    else if (report.kind === 'segment') watch.onSegment();
    else if (report.kind === 'words') watch.onLastWords(report.text);
    else if (report.kind === 'fault') watch.onFault(new Error(report.text));
    else if (report.kind === 'panic') fail(new Error(report.text));
    else if (report.kind === 'rejected') fail(startFault(report));
    else settle(({ resolve }) => resolve(new Uint8Array()));
  });
  /** Out of memory, for example. Perhaps no call is waiting at that moment. */
  const lose = (error: Error) => {
    gone ??= error;
    if (isInUse) watch.onLost(gone);
    isInUse = false;
    fail(gone);
  };
  thread.on('error', lose);
  thread.on('exit', () => lose(new Error('its thread ended')));
  await wait(() => undefined);
  isInUse = true;
  return {
    exchange: (messages) => wait(() => call(messages)),
    async close() {
      isInUse = false;
      await wait(() => call('close'));
      thread.ref();
      await ended;
    },
    async drop() {
      isInUse = false;
      await thread.terminate();
    },
  };
}

function startFault({ text, isOurs }: { readonly text: string; readonly isOurs: boolean }): Error {
  return isOurs ? new AppError('unavailable', text) : new Error(text);
}
