import { Rejection } from '../notifications/rejection.ts';
import type { Deliveries, DeliveryStore } from './deliveries.ts';

interface SweepOptions {
  readonly store: Pick<DeliveryStore, 'undone'>;
  readonly deliveries: Pick<Deliveries, 'finish'>;
  /** Other recurring jobs, each with its own interval. */
  readonly chores: readonly Chore[];
  readonly report: (problem: string, error: unknown) => void;
}

export interface Chore {
  readonly name: string;
  readonly everyMs: number;
  /** `laterMs` is how much later than now it is to act as if it were. */
  run(now: Date, laterMs: number): Promise<void>;
}

export type Sweep = ReturnType<typeof createSweep>;

const EVERY_MS = 5_000;
const AT_ONCE = 50;
const STOP_WITHIN_MS = 2_000;

/** Finishes what a crash or a fault left undone. Runs at start-up and then periodically, on every replica. */
export function createSweep({ store, deliveries, chores, report }: SweepOptions) {
  const all = [{ name: 'unfinished deliveries', everyMs: 0, run: finishAll }, ...chores];
  const last = new Map<Chore, number>();
  /** A slow chore, such as a download, does not delay other chores. */
  const busy = new Map<Chore, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  return { start, stop, once };

  function start(): void {
    void once();
    timer = setInterval(() => void once(), EVERY_MS).unref();
  }

  async function stop(): Promise<void> {
    stopped = true;
    clearInterval(timer);
    const patience = new Promise((resolve) => setTimeout(resolve, STOP_WITHIN_MS).unref());
    await Promise.race([Promise.all(busy.values()), patience]);
  }

  /**
   * Runs everything that is due, as if it were `laterMs` later; resolves when it is done. The intervals are measured
   * with a clock that cannot be set, and retries by the clock of the database: a clock that is set back stops nothing.
   */
  async function once(laterMs = 0): Promise<void> {
    const tick = performance.now();
    const now = new Date(Date.now() + laterMs);
    for (const chore of all) {
      const isDue = tick + laterMs - (last.get(chore) ?? Number.NEGATIVE_INFINITY) >= chore.everyMs;
      if (stopped || busy.has(chore) || !isDue) continue;
      last.set(chore, tick);
      const work = chore
        .run(now, laterMs)
        .catch((error: unknown) => report(`${chore.name}: failed`, error))
        .finally(() => busy.delete(chore));
      busy.set(chore, work);
    }
    await Promise.all(busy.values());
  }

  async function finishAll(now: Date, laterMs: number): Promise<void> {
    const undone = await store.undone(laterMs, AT_ONCE);
    for (const delivery of undone) {
      if (stopped) return;
      try {
        await deliveries.finish(delivery);
      } catch (error) {
        if (!(error instanceof Rejection)) report(`delivery ${delivery.id} is still unfinished`, error);
      }
    }
    if (undone.length === AT_ONCE) await finishAll(now, laterMs);
  }
}
