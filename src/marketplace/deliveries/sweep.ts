import { Rejection } from '../notifications/rejection.ts';
import type { Deliveries, DeliveryStore } from './deliveries.ts';

interface Parts {
  readonly store: Pick<DeliveryStore, 'undone'>;
  readonly deliveries: Pick<Deliveries, 'finish'>;
  /** Other recurring jobs, each with its own interval. */
  readonly chores: readonly Chore[];
  readonly report: (problem: string, error: unknown) => void;
}

export interface Chore {
  readonly name: string;
  readonly everyMs: number;
  run(now: Date): Promise<void>;
}

export type Sweep = ReturnType<typeof createSweep>;

const EVERY_MS = 5_000;
const AT_ONCE = 50;
const STOP_WITHIN_MS = 2_000;

/** Finishes what a crash or a fault left undone. Runs at start-up and then periodically, on every replica. */
export function createSweep({ store, deliveries, chores, report }: Parts) {
  const all = [{ name: 'unfinished deliveries', everyMs: 0, run: finishAll }, ...chores];
  const last = new Map<Chore, number>();
  /** A slow chore, such as a download, does not delay the others. */
  const busy = new Map<Chore, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  return { start, stop, once };

  function start(): void {
    void once(new Date());
    timer = setInterval(() => void once(new Date()), EVERY_MS).unref();
  }

  async function stop(): Promise<void> {
    stopped = true;
    clearInterval(timer);
    const patience = new Promise((resolve) => setTimeout(resolve, STOP_WITHIN_MS).unref());
    await Promise.race([Promise.all(busy.values()), patience]);
  }

  /** Runs everything that is due; resolves when it is done. */
  async function once(now: Date): Promise<void> {
    for (const chore of all) {
      const isDue = now.getTime() - (last.get(chore) ?? Number.NEGATIVE_INFINITY) >= chore.everyMs;
      if (stopped || busy.has(chore) || !isDue) continue;
      last.set(chore, now.getTime());
      const work = chore
        .run(now)
        .catch((error: unknown) => report(`${chore.name}: failed`, error))
        .finally(() => busy.delete(chore));
      busy.set(chore, work);
    }
    await Promise.all(busy.values());
  }

  async function finishAll(now: Date): Promise<void> {
    const undone = await store.undone(now, AT_ONCE);
    for (const delivery of undone) {
      if (stopped) return;
      try {
        await deliveries.finish(delivery);
      } catch (error) {
        if (!(error instanceof Rejection)) report(`delivery ${delivery.id} is still unfinished`, error);
      }
    }
    if (undone.length === AT_ONCE) await finishAll(now);
  }
}
