import { ApiError, UnreachableError } from './errors.ts';

const MAX_ATTEMPTS = 3;
const MAX_WAIT_S = 5;
/** The server, or a proxy before it, does not know whether the call had its effect. */
const UNCERTAIN = new Set([502, 503, 504]);

/** 128 random bits. Browsers have `randomUUID` only on pages that were loaded over https. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** What happens if a call is sent twice: nothing, one effect because it has a key, or possibly two. */
export type Repeatable = 'read' | 'keyed' | 'neither';

/** Sends a call again if that is safe, and if its answer was lost or the server asks for it. */
export async function repeat<T>(
  send: () => Promise<T>,
  kind: Repeatable,
  clock: AbortSignal,
  stop?: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      const seconds = waitFor(error, kind);
      if (seconds === undefined || attempt === MAX_ATTEMPTS || clock.aborted || stop?.aborted) throw error;
      if (!(await pause(seconds * 1000, [clock, ...(stop ? [stop] : [])]))) throw error;
    }
  }
}

/** How many seconds to wait before the next attempt; undefined if it would not help or would not be safe. */
function waitFor(error: unknown, kind: Repeatable): number | undefined {
  if (error instanceof UnreachableError) return kind === 'keyed' ? 0 : undefined;
  if (!(error instanceof ApiError)) return undefined;
  const seconds = isAskedFor(error, kind)
    ? error.retryAfter
    : isLost(error, kind)
      ? (error.retryAfter ?? 1)
      : undefined;
  return seconds !== undefined && seconds <= MAX_WAIT_S ? seconds : undefined;
}

/** A call beyond a rate limit had no effect, so every call can be repeated. */
function isAskedFor({ status }: ApiError, kind: Repeatable): boolean {
  return status === 429 || (status === 503 && kind === 'read');
}

function isLost({ status, reason }: ApiError, kind: Repeatable): boolean {
  return kind === 'keyed' && (UNCERTAIN.has(status) || reason === 'request_in_progress');
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
