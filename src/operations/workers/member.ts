import cluster, { type Worker } from 'node:cluster';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../../base/errors.ts';
import { within } from '../../base/scheduling/within.ts';
import type { Readings, SupervisorMessage, WorkerMessage, WorkerQuery } from './messages.ts';

/** How a process ended: with a code, or by a signal. */
export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface Serving {
  readonly address: string;
  readonly listenerPort?: number | undefined;
}

/** A worker as the supervisor sees it. */
export interface Member {
  readonly id: number;
  readonly pid: number;
  readonly startedAt: number;
  /** Resolves when it accepts requests; rejects with a StartFailure if it ends before that. */
  readonly serving: Promise<Serving>;
  readonly ended: Promise<Ending>;
  /** Whether its end is wanted. */
  isLeaving: boolean;
  isServing: boolean;
  /** What it had counted when it was last heard of. */
  readings: Readings;
  send(order: SupervisorMessage): void;
  ask(what: WorkerQuery): Promise<Readings>;
  kill(): void;
}

/** A worker has ended before it served. It has printed why. */
export class StartFailure extends AppError {
  readonly ending: Ending;

  constructor(ending: Ending) {
    super('internal', `the worker ended before it served (${endingText(ending)})`);
    this.ending = ending;
  }
}

export function endingText({ code, signal }: Ending): string {
  return signal === null ? `exit code ${code}` : signal;
}

const ANSWER_WITHIN_MS = 2500;
const LAST_WORDS_WITHIN_MS = 1000;

/** Starts a process with the number of its place. Everything it sends, except answers, goes to `hear`. */
export function startMember(place: number, hear: (member: Member, notice: WorkerMessage) => void): Member {
  const worker: Worker = cluster.fork({ ATRIUM_WORKER: String(place) });
  const letGo = trackHandovers(worker);
  const asked = new Map<number, { resolve(readings: Readings): void; reject(error: Error): void }>();
  const served = Promise.withResolvers<Serving>();
  const ended = Promise.withResolvers<Ending>();
  // Callers that wait hear of it. If there are none, it is no fault.
  served.promise.catch(() => undefined);
  let last = 0;
  const member: Member = {
    id: worker.id,
    pid: worker.process.pid ?? 0,
    startedAt: performance.now(),
    serving: served.promise,
    ended: ended.promise,
    isLeaving: false,
    isServing: false,
    readings: [],
    send,
    ask,
    kill: () => void worker.process.kill('SIGKILL'),
  };
  worker.on('message', (notice: WorkerMessage) => {
    if (notice.kind === 'serving') {
      member.isServing = true;
      served.resolve(notice);
    } else if (notice.kind === 'leaving') member.readings = notice.readings;
    else if (notice.kind === 'answer') heard(notice);
    else hear(member, notice);
  });
  worker.on('error', () => undefined);
  // Its last messages may be read after its end is known, and nothing is read once it is disconnected.
  const disconnected = new Promise<void>((resolve) => worker.once('disconnect', resolve));
  worker.once('exit', async (code: number | null, signal: string | null) => {
    member.isServing = false;
    if (signal === null) await Promise.race([disconnected, pause(LAST_WORDS_WITHIN_MS)]);
    // With a connection under way, Node does not notice by itself.
    if (worker.isConnected()) worker.process.disconnect();
    letGo();
    for (const { reject } of asked.values()) reject(new Error(`worker ${place} has ended`));
    served.reject(new StartFailure({ code, signal }));
    ended.resolve({ code, signal });
  });
  return member;

  function send(order: SupervisorMessage): void {
    if (worker.isConnected()) worker.send(order, undefined, () => undefined);
  }

  async function ask(what: WorkerQuery): Promise<Readings> {
    const id = ++last;
    const { promise, resolve, reject } = Promise.withResolvers<Readings>();
    asked.set(id, { resolve, reject });
    send({ kind: 'ask', id, what });
    try {
      return await within(ANSWER_WITHIN_MS, promise, `worker ${place} does not answer`);
    } finally {
      asked.delete(id);
    }
  }

  function heard({ id, failed, readings }: Extract<WorkerMessage, { kind: 'answer' }>): void {
    const waiting = asked.get(id);
    if (readings) member.readings = readings;
    if (failed === undefined) waiting?.resolve(readings ?? []);
    else waiting?.reject(new Error(failed));
  }
}

interface Handover {
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

/**
 * Connections that are on their way to a worker. Node forgets the one that a worker dies with: it would stay open, and
 * its client would wait forever. Returns a function that closes it.
 */
function trackHandovers({ process: child }: Worker): () => void {
  const underWay = new Map<number, { close(): void }>();
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  child.send = ((...args: unknown[]) => {
    const [{ act, seq }, handle] = args as [Handover, { close(): void } | undefined];
    if (act === 'newconn' && seq !== undefined && handle) underWay.set(seq, handle);
    return send(...args);
  }) as typeof child.send;
  child.on('internalMessage', ({ ack }: Handover) => {
    if (ack !== undefined) underWay.delete(ack);
  });
  return () => {
    for (const handle of underWay.values()) handle.close();
    underWay.clear();
  };
}
