import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { WorkerAnswer, WorkerRequest } from './bucket-worker.client.ts';
import { type BucketLister, CloudRefusal } from './buckets.ts';

interface Waiting {
  resolve(names: string[]): void;
  reject(error: Error): void;
}

const IDLE_MS = 60_000;
/** How long the thread may take to stop a listing before it is considered stuck. */
const GRACE_MS = 1_000;
const MAX_HEAP_MIB = 256;
const FAILED = 'the service sent something that cannot be processed';

/**
 * Calls storage services in a thread of its own. Loading an SDK takes up to two seconds, and parsing a response or
 * signing with a key is synchronous: in the thread of the server, everybody would have to wait. Whatever a service
 * makes an SDK do, at worst the thread ends, and the next listing starts a new one. It also ends after a minute without
 * a listing, and gives its memory back.
 */
export function createBucketLister(
  allowedNetworks: readonly string[],
  report: (problem: string) => void = () => undefined,
): BucketLister & { close(): Promise<void> } {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last = 0;
  const waiting = new Map<number, Waiting>();
  return { list, close };

  async function list(...[account, most, signal]: Parameters<BucketLister['list']>): Promise<string[]> {
    if (signal.aborted) throw new CloudRefusal('the request was canceled');
    const id = ++last;
    const thread = running();
    const stop = () => {
      post(thread, { id });
      setTimeout(() => {
        if (waiting.has(id)) end(thread, 'stuck');
      }, GRACE_MS).unref();
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await new Promise<string[]>((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        post(thread, { id, account, most });
      });
    } finally {
      waiting.delete(id);
      signal.removeEventListener('abort', stop);
      if (waiting.size === 0 && worker === thread) idle = setTimeout(() => end(thread), IDLE_MS).unref();
    }
  }

  function post(thread: Worker, request: WorkerRequest): void {
    thread.postMessage(request);
  }

  function running(): Worker {
    clearTimeout(idle);
    worker ??= start();
    return worker;
  }

  function start(): Worker {
    // The thread's file has the ending of this one: `.ts` here, and `.js` once it is built.
    const file = new URL(`./bucket-worker.client${extname(import.meta.url)}`, import.meta.url);
    const thread = new Worker(file, {
      workerData: { allowedNetworks },
      // The settings of the machine are the operator's, not the caller's.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    });
    thread.unref();
    thread.on('message', ({ id, names, refusal }: WorkerAnswer) => {
      if (names) waiting.get(id)?.resolve(names);
      else waiting.get(id)?.reject(new CloudRefusal(refusal ?? FAILED));
    });
    // Only its name is reported: errors of SDKs contain requests and headers.
    thread.on('error', (error: Error) => end(thread, error.name));
    thread.on('exit', () => end(thread, 'exited'));
    return thread;
  }

  function end(thread: Worker, why?: string): void {
    if (worker !== thread) return;
    worker = undefined;
    if (why !== undefined) report(`the thread that lists buckets was ended: ${why}`);
    for (const { reject } of waiting.values()) reject(new CloudRefusal(FAILED));
    void thread.terminate();
  }

  async function close(): Promise<void> {
    clearTimeout(idle);
    const thread = worker;
    if (!thread) return;
    end(thread);
    await thread.terminate();
  }
}
