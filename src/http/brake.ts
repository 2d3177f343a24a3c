import { bareAddress } from '../addresses.ts';
import { isTokenText } from '../directory/token-text.ts';
import { AppError } from '../errors.ts';
import { createAllowance } from './allowance.ts';

/** Slows down whoever guesses: failures use up an allowance that grows back over minutes. */
export interface Brake {
  password<T>(login: string, address: string, attempt: () => Promise<T>): Promise<T>;
  /** What to answer to a token that failed: the error itself, or that there were too many. */
  failedToken(error: unknown, text: string, address: string): unknown;
}

const WINDOW_MS = 5 * 60_000;
/** Nobody guesses 160 bits; this only keeps a scanner from asking the database all day. */
const TOKEN_FAILURES = 1000;
/** Names are looked up trimmed, so blanks must not make a new one; and no name is longer than an address. */
const MOST_NAME = 254;

export function createBrake(passwordFailures: number): Brake {
  const passwords = createAllowance(passwordFailures, WINDOW_MS);
  const tokens = createAllowance(TOKEN_FAILURES, WINDOW_MS);
  const underWay = new Map<string, Set<Promise<unknown>>>();

  return {
    // Taken before the attempt and given back on success: a hundred guesses at once count as a hundred. Whoever finds
    // the allowance used up by attempts that are still under way waits for them, because they may be right.
    async password(login, address, attempt) {
      const key = `${login.trim().toLowerCase().slice(0, MOST_NAME)} ${bareAddress(address)}`;
      while (!passwords.take(key, Date.now())) {
        const others = underWay.get(key);
        if (!others) throw tooMany(passwords.wait(key, Date.now()));
        await Promise.race(others);
      }
      const trial = attempt();
      const end = begin(key, trial);
      try {
        const result = await trial;
        passwords.give(key);
        return result;
      } catch (error) {
        if (!isWrongCredential(error)) passwords.give(key);
        throw error;
      } finally {
        end();
      }
    },

    // A text that cannot be a token is no guess, and costs nothing to refuse.
    failedToken(error, text, address) {
      const isGuess = isWrongCredential(error) && isTokenText(text);
      const key = bareAddress(address);
      return isGuess && !tokens.take(key, Date.now()) ? tooMany(tokens.wait(key, Date.now())) : error;
    },
  };

  function begin(key: string, trial: Promise<unknown>): () => void {
    const settled = trial.catch(() => undefined);
    const all = underWay.get(key) ?? new Set();
    underWay.set(key, all.add(settled));
    return () => {
      all.delete(settled);
      if (all.size === 0) underWay.delete(key);
    };
  }
}

function isWrongCredential(error: unknown): boolean {
  return error instanceof AppError && error.kind === 'unauthenticated';
}

function tooMany(retryAfter: number): AppError {
  return new AppError('limited', 'too many failed attempts, try again later', { retryAfter });
}
