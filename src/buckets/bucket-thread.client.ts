import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { WorkerAnswer, WorkerRequest } from './bucket-worker.client.ts';
import { type BucketLister, CloudRefusal } from './buckets.ts';

interface Waiting {
  resolve(names: string[]): void;
  reject(error: Error): void;
}

export interface ThreadOptions {
  readonly allowedNetworks: readonly string[];
  readonly report: (problem: string) => void;
  /** What the thread runs. */
  readonly file?: URL;
}

const IDLE_MS = 60_000;
/** How long the thread may take to stop a listing before it is considered stuck. */
const GRACE_MS = 1_000;
const MAX_HEAP_MIB = 256;

/** The thread ended while it was listing. */
export class ThreadEnded extends Error {
  /** How many listings it had under way, of which one is to blame. */
  readonly listings: number;

  constructor(listings: number) {
    super('the thread that lists buckets ended');
    this.listings = listings;
  }
}

/**
 * A thread that starts with the first listing, and anew with the first one after it has ended. After a minute without a
 * listing it ends, and gives its memory back.
 */
export function createBucketThread({ allowedNetworks, report, file = workerFile() }: ThreadOptions) {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last = 0;
  const waiting = new Map<number, Waiting>();
  return { list, close };

  /** Throws a CloudRefusal, or ThreadEnded. */
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
    const thread = new Worker(file, {
      workerData: { allowedNetworks },
      // The settings of the machine are the operator's, not the caller's.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    });
    thread.unref();
    thread.on('message', ({ id, names, refusal }: WorkerAnswer) => {
      if (names) waiting.get(id)?.resolve(names);
      else waiting.get(id)?.reject(new CloudRefusal(refusal ?? 'no reason given'));
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
    const lost = [...waiting.values()];
    waiting.clear();
    // If it was ended on purpose, nobody is to blame, and nothing is tried again.
    const listings = why === undefined ? 1 : lost.length;
    for (const { reject } of lost) reject(new ThreadEnded(listings));
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

/** The thread's file has the ending of this one: `.ts` here, and `.js` once it is built. */
function workerFile(): URL {
  return new URL(`./bucket-worker.client${extname(import.meta.url)}`, import.meta.url);
}
