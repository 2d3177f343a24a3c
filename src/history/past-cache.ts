import type { Graph } from '../../packages/rebac/src/rebac.ts';

interface Sized {
  readonly graph: Pick<Graph, 'bytes'>;
}

interface Kept<T> {
  readonly value: T;
  readonly bytes: number;
  readonly until: number;
}

/** A page asks several questions about one moment. Later pages ask about another one. */
const KEPT_MS = 60_000;
/** An entry that is about to be committed has a time already. Nothing that old is missing from the log any more. */
const SETTLED_MS = 60_000;
/** Each holds a snapshot of the database and up to two copies of a graph. */
const MAX_AT_ONCE = 2;

/** Keeps what was found out about a past moment for a short while: the past does not change. */
export function createPastCache<T extends Sized>(maxBytes: number, clock: () => number = Date.now) {
  const kept = new Map<string, Kept<T>>();
  const loading = new Map<string, Promise<T>>();
  const waiting: (() => void)[] = [];
  let running = 0;
  let totalBytes = 0;
  return { get, bytes: () => totalBytes };

  async function get(accountId: bigint, at: Date, load: () => Promise<T>): Promise<T> {
    const key = `${accountId} ${at.getTime()}`;
    forgetOld();
    const known = kept.get(key)?.value;
    if (known) return known;
    const under = loading.get(key);
    if (under) return await under;
    const started = inTurn(load);
    const isSettled = clock() - at.getTime() > SETTLED_MS;
    if (!isSettled) return await started;
    loading.set(key, started);
    try {
      const value = await started;
      keep(key, value);
      return value;
    } finally {
      loading.delete(key);
    }
  }

  async function inTurn(load: () => Promise<T>): Promise<T> {
    if (running < MAX_AT_ONCE) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await load();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  }

  function keep(key: string, value: T): void {
    const { bytes } = value.graph;
    if (bytes > maxBytes) return;
    drop(key);
    kept.set(key, { value, bytes, until: clock() + KEPT_MS });
    totalBytes += bytes;
    for (const oldest of kept.keys()) {
      if (totalBytes <= maxBytes) return;
      drop(oldest);
    }
  }

  function forgetOld(): void {
    for (const [key, { until }] of kept) if (until <= clock()) drop(key);
  }

  function drop(key: string): void {
    totalBytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  }
}
