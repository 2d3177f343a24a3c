import { ApiError, UnreachableError } from './errors.ts';

const MAX_ATTEMPTS = 3;
const MAX_WAIT_S = 5;
/** The server, or a proxy before it, does not know whether the call had its effect. */
const UNCERTAIN = new Set([502, 503, 504]);

/** 128 random bits. Browsers have `randomUUID` only on pages that were loaded over https. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Sends a call with a key again if its answer was lost, or if the server asks for that; the key gives it one effect. */
export async function repeat<T>(send: () => Promise<T>, clock: AbortSignal, stop?: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      const seconds = waitFor(error);
      if (seconds === undefined || attempt === MAX_ATTEMPTS || clock.aborted || stop?.aborted) throw error;
      if (!(await pause(seconds * 1000, [clock, ...(stop ? [stop] : [])]))) throw error;
    }
  }
}

/** How many seconds to wait before the next attempt; undefined if it would not help. */
function waitFor(error: unknown): number | undefined {
  if (error instanceof UnreachableError) return 0;
  if (!(error instanceof ApiError)) return undefined;
  if (!UNCERTAIN.has(error.status) && error.reason !== 'request_in_progress') return undefined;
  const seconds = error.retryAfter ?? 1;
  return seconds <= MAX_WAIT_S ? seconds : undefined;
}

/** Resolves with false if one of the signals ends the pause. */
function pause(ms: number, signals: readonly AbortSignal[]): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (isOver: boolean) => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', end);
      resolve(isOver);
    };
    const end = () => finish(false);
    const timer = setTimeout(finish, ms, true);
    for (const signal of signals) signal.addEventListener('abort', end);
  });
}
