import { networkOf, siteOf } from '../../base/ip.ts';
import { type Allowance, createAllowance } from './allowance.ts';
import { createNamePace, isWrongCredential, tooMany } from './name-pace.ts';

/** Slows down clients that guess: failures use up an allowance that refills over minutes. */
export interface Brake {
  password<T>(login: string, address: string, attempt: () => Promise<T>): Promise<T>;
  /** For tokens that are not remembered; `attempt` queries the database. */
  token<T>(address: string, attempt: () => Promise<T>): Promise<T>;
}

const WINDOW_MS = 5 * 60_000;
/** Guessing 160 bits is hopeless; this only keeps a scanner from querying the database all day. */
const TOKEN_FAILURES = 1000;
/**
 * Many users may share a network, and some of them forget their password: a network has this many times the allowance
 * of one name in it.
 */
const NAMES_A_NETWORK = 10;
/** The /48 of an IPv6 site has this many times the allowance of one network in it. */
export const NETWORKS_A_SITE = 4;
/** One name has this many times the allowance that it has in one network, before attempts from anywhere take turns. */
const NETWORKS_A_NAME = 10;
/** Names are looked up trimmed, so spaces must not create a new key. No name is longer than an email address. */
const MAX_NAME = 254;

export function createBrake(passwordFailures: number, pace: { readonly paceMs?: number } = {}): Brake {
  const names = createCounter(createAllowance(passwordFailures, WINDOW_MS));
  const passwords = createPlaces(passwordFailures * NAMES_A_NETWORK);
  const tokens = createPlaces(TOKEN_FAILURES);
  const paced = createNamePace({ failures: passwordFailures * NETWORKS_A_NAME, windowMs: WINDOW_MS, ...pace });

  return {
    password(login, address, attempt) {
      const name = login.trim().toLowerCase().slice(0, MAX_NAME);
      const network = networkOf(address);
      return passwords(address, () => names(`${name} ${network}`, () => paced(name, network, attempt)));
    },
    token: tokens,
  };
}

/** Counts by network, and with a larger allowance by site. */
function createPlaces(failures: number) {
  const networks = createCounter(createAllowance(failures, WINDOW_MS));
  const sites = createCounter(createAllowance(failures * NETWORKS_A_SITE, WINDOW_MS));

  return function counted<T>(address: string, attempt: () => Promise<T>): Promise<T> {
    const site = siteOf(address);
    const inNetwork = () => networks(networkOf(address), attempt);
    return site === undefined ? inNetwork() : sites(site, inNetwork);
  };
}

/**
 * The allowance is taken before the attempt and given back unless the credential is wrong: a hundred concurrent guesses
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
      // What was given back is enough for one. If nothing more can come back, all other attempts are woken to find out.
      for (const wake of all.waiting.splice(0, all.attempts === 0 ? Infinity : isWrong ? 0 : 1)) wake();
    }
  };
}
