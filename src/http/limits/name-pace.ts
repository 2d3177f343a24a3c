import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../../base/errors.ts';
import { createAllowance } from './allowance.ts';

interface NamePaceOptions {
  /** Failures for one name, from everywhere, before attempts take turns. */
  readonly failures: number;
  readonly windowMs: number;
  readonly paceMs?: number;
}

const PACE_MS = 1000;
const MAX_WAITING = 30;
const MAX_FAMILIAR = 50_000;

/**
 * Slows down guesses for one name that come from many networks, of which each has an allowance of its own. After many
 * failures, attempts for that name take turns, one a second, and at most one of each network waits. No user is locked
 * out by the guesses of other clients: a user who knows the password waits a little, and a network from which that name has
 * signed in before does not wait at all.
 */
export function createNamePace({ failures, windowMs, paceMs = PACE_MS }: NamePaceOptions) {
  const spent = createAllowance(failures, windowMs);
  const lines = new Map<string, { readonly networks: Set<string>; end: Promise<unknown> }>();
  // In the order of the last sign-in, so that the oldest is forgotten first.
  const familiar = new Set<string>();

  return async function paced<T>(name: string, network: string, attempt: () => Promise<T>): Promise<T> {
    const key = `${name} ${network}`;
    const isFamiliar = familiar.has(key);
    const isFree = !isFamiliar && spent.take(name, performance.now());
    if (!isFamiliar && !isFree) await turn(name, network);
    let isWrong = false;
    try {
      const result = await attempt();
      remember(key);
      return result;
    } catch (error) {
      isWrong = isWrongCredential(error);
      throw error;
    } finally {
      if (isFree && !isWrong) spent.give(name);
    }
  };

  async function turn(name: string, network: string): Promise<void> {
    const line = lines.get(name) ?? { networks: new Set(), end: Promise.resolve() };
    const { networks } = line;
    if (networks.has(network) || networks.size >= MAX_WAITING) {
      throw tooMany(Math.ceil(((networks.size + 1) * paceMs) / 1000));
    }
    networks.add(network);
    lines.set(name, line);
    line.end = line.end.then(() => pause(paceMs, undefined, { ref: false }));
    await line.end;
    networks.delete(network);
    if (networks.size === 0) lines.delete(name);
  }

  function remember(key: string): void {
    familiar.delete(key);
    familiar.add(key);
    const [oldest] = familiar.size > MAX_FAMILIAR ? familiar : [];
    if (oldest !== undefined) familiar.delete(oldest);
  }
}

export function isWrongCredential(error: unknown): boolean {
  return error instanceof AppError && error.kind === 'unauthenticated';
}

export function tooMany(retryAfter: number): AppError {
  return new AppError('limited', 'too many failed attempts, try again later', { retryAfter });
}
