import type { Logger } from 'pino';
import { createSlots } from './slots.ts';
import { within } from './within.ts';

/** Work of requests that have been answered already: no caller waits for it, and its time reveals nothing to one. */
export interface BackgroundWork {
  start(work: () => Promise<void>): void;
  /** Resolves when everything that has been started is done. */
  settled(): Promise<void>;
  /** The same, but gives up after a while: a mail server must not keep the process from stopping. */
  close(): Promise<void>;
}

const AT_ONCE = 4;
/** More than that cannot be done in reasonable time, and would only fill the memory. */
const MAX_WAITING = 1000;
const PATIENCE_MS = 5000;

export function createBackgroundWork(log: Logger): BackgroundWork {
  const inSlot = createSlots(AT_ONCE);
  const underWay = new Set<Promise<void>>();
  return { start, settled, close };

  function start(work: () => Promise<void>): void {
    if (underWay.size >= MAX_WAITING) return void log.error('work in the background was dropped: too much is waiting');
    const running = inSlot(work)
      .catch((error: unknown) => log.error({ err: error }, 'work in the background failed'))
      .finally(() => underWay.delete(running));
    underWay.add(running);
  }

  async function settled(): Promise<void> {
    while (underWay.size > 0) await Promise.all(underWay);
  }

  async function close(): Promise<void> {
    await within(PATIENCE_MS, settled(), 'work in the background did not end').catch((error: unknown) =>
      log.warn({ err: error }, 'the server stops without waiting for emails'),
    );
  }
}
