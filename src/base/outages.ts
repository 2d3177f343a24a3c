import type { Logger } from 'pino';

export type Outages = ReturnType<typeof createOutages>;

interface OutagesOptions {
  readonly log: Logger;
  /** Whether a request failed because the database cannot be reached. */
  readonly isLost: (error: unknown) => boolean;
  /** Resolves if the database answers. */
  readonly answers: () => Promise<unknown>;
}

interface Outage {
  readonly began: number;
  requests: number;
  connections: number;
  /** Failures since the last look. */
  recent: number;
}

const LOOK_EVERY_MS = 1000;

/**
 * The log of an outage of the database: one line when it begins, with its cause, and one when it is over, with what
 * failed in between. It is over when the database answers, and nothing has failed for a second.
 */
export function createOutages({ log, isLost, answers }: OutagesOptions) {
  let outage: Outage | undefined;
  let isLooking = false;
  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref();
  return { countRequest, countConnection, stop: () => clearInterval(timer) };

  /** Returns whether the failure of a request belongs to an outage, so that a line of its own says nothing new. */
  function countRequest(error: unknown): boolean {
    if (!isLost(error)) return false;
    current(error).requests += 1;
    return true;
  }

  function countConnection(error: Error): void {
    current(error).connections += 1;
    log.debug({ err: error }, 'database connection failed');
  }

  function current(error: unknown): Outage {
    if (outage === undefined) {
      outage = { began: performance.now(), requests: 0, connections: 0, recent: 0 };
      log.error({ err: error }, 'the database cannot be used; failures are counted until it answers again');
    }
    outage.recent += 1;
    return outage;
  }

  async function look(): Promise<void> {
    if (outage === undefined || isLooking) return;
    if (outage.recent > 0) {
      outage.recent = 0;
      return;
    }
    isLooking = true;
    const isBack = await answers().then(
      () => true,
      () => false,
    );
    isLooking = false;
    if (!isBack || outage.recent > 0) return;
    const { began, requests, connections } = outage;
    outage = undefined;
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    log.warn({ seconds, requests, connections }, 'the database answers again');
  }
}
