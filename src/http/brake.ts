import { AppError } from '../base/errors.ts';
import { bareAddress } from '../base/ip.ts';
import { type Allowance, createAllowance } from './allowance.ts';

/** Slows down whoever guesses: failures use up an allowance that refills over minutes. */
export interface Brake {
  password<T>(login: string, address: string, attempt: () => Promise<T>): Promise<T>;
  /** For tokens that are not remembered; `attempt` queries the database. */
  token<T>(address: string, attempt: () => Promise<T>): Promise<T>;
}

const WINDOW_MS = 5 * 60_000;
/** Guessing 160 bits is hopeless; this only keeps a scanner from querying the database all day. */
const TOKEN_FAILURES = 1000;
/**
 * Many users may share an address, and some of them forget their password: an address has this many times the allowance
 * of one name.
 */
const NAMES_AN_ADDRESS = 10;
/** Names are looked up trimmed, so spaces must not create a new key. No name is longer than an email address. */
const MAX_NAME = 254;

export function createBrake(passwordFailures: number): Brake {
  const names = createCounter(createAllowance(passwordFailures, WINDOW_MS));
  const addresses = createCounter(createAllowance(passwordFailures * NAMES_AN_ADDRESS, WINDOW_MS));
  const tokens = createCounter(createAllowance(TOKEN_FAILURES, WINDOW_MS));

  return {
    password(login, address, attempt) {
      const bare = bareAddress(address);
      const key = `${login.trim().toLowerCase().slice(0, MAX_NAME)} ${bare}`;
      return addresses(bare, () => names(key, attempt));
    },
    token: (address, attempt) => tokens(bareAddress(address), attempt),
  };
}

/**
 * The allowance is taken before the attempt and given back unless the credential is wrong: a hundred guesses at once
 * count as a hundred. A request that finds the allowance used up by attempts that are still under way waits for them,
 * because they may be right.
 */
function createCounter(allowance: Allowance) {
  const underWay = new Map<string, { attempts: number; readonly waiting: (() => void)[] }>();

  return async function counted<T>(key: string, attempt: () => Promise<T>): Promise<T> {
    while (!allowance.take(key, performance.now())) {
      const others = underWay.get(key);
      if (!others) throw tooMany(allowance.wait(key, performance.now()));
      await new Promise<void>((resolve) => others.waiting.push(resolve));
    }
    const all = underWay.get(key) ?? { attempts: 0, waiting: [] };
    underWay.set(key, all);
    all.attempts++;
    let isWrong = false;
    try {
      return await attempt();
    } catch (error) {
      isWrong = isWrongCredential(error);
      throw error;
    } finally {
      all.attempts--;
      if (!isWrong) allowance.give(key);
      if (all.attempts === 0) underWay.delete(key);
      // What was given back is enough for one. If nothing more can come back, all the others are woken to find out.
      for (const wake of all.waiting.splice(0, all.attempts === 0 ? Infinity : isWrong ? 0 : 1)) wake();
    }
  };
}

function isWrongCredential(error: unknown): boolean {
  return error instanceof AppError && error.kind === 'unauthenticated';
}

function tooMany(retryAfter: number): AppError {
  return new AppError('limited', 'too many failed attempts, try again later', { retryAfter });
}
