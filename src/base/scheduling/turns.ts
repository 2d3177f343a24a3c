import { AppError } from '../errors.ts';

export interface TurnLimits {
  /** How much is under way at the same time. */
  readonly concurrency: number;
  /** How much of that can be of one caller. */
  readonly perCaller: number;
  /** How much more of one caller can wait. */
  readonly waiting: number;
}

export type Turns = <T>(caller: string, work: () => Promise<T>) => Promise<T>;

interface CallerQueue {
  running: number;
  readonly waiting: (() => void)[];
}

/**
 * For expensive work that must not take everything that other work needs, such as all connections to the database. Callers
 * who wait take turns, so a caller who asks for much waits for it, and delays another caller by one piece of work only.
 */
export function createTurns({ concurrency, perCaller, waiting: maxWaiting }: TurnLimits): Turns {
  /** Callers whose work is running or waiting. The caller that had a turn last is at the end. */
  const lines = new Map<string, CallerQueue>();
  let running = 0;

  return async (caller, work) => {
    const line = lines.get(caller) ?? { running: 0, waiting: [] };
    lines.set(caller, line);
    if (running >= concurrency || line.running >= perCaller) {
      if (line.waiting.length >= maxWaiting) {
        throw new AppError('limited', 'too many searches at the same time, try again later', { retryAfter: 1 });
      }
      await new Promise<void>((resolve) => void line.waiting.push(resolve));
    } else {
      begin(line);
    }
    try {
      return await work();
    } finally {
      end(caller, line);
    }
  };

  function begin(line: CallerQueue): void {
    running += 1;
    line.running += 1;
  }

  function end(caller: string, line: CallerQueue): void {
    running -= 1;
    line.running -= 1;
    if (line.running === 0 && line.waiting.length === 0) lines.delete(caller);
    for (const [name, next] of lines) {
      if (running >= concurrency) return;
      if (next.running >= perCaller) continue;
      const go = next.waiting.shift();
      if (go === undefined) continue;
      // Counted now, not when it goes on: another request could take its place.
      begin(next);
      lines.delete(name);
      lines.set(name, next);
      go();
    }
  }
}
