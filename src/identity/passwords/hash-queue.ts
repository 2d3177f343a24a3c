import { AppError } from '../../base/errors.ts';
import { networkOf, siteOf } from '../../base/ip.ts';

interface Waiting {
  readonly network: string;
  readonly begin: () => void;
}

/** Of all that wait, no more than these shares come from one network, and from one site. */
const NETWORK_SHARE = 4;
const SITE_SHARE = 2;

/**
 * Lets a few hashes run at the same time; other hashes wait. Sites take turns, so a site that sends many waits for itself, and it
 * cannot fill the queue. `address` is where the request came from; it is undefined for what the server wants itself.
 */
export function createHashQueue(concurrency: number, maxWaiting: number) {
  // By site, in the order in which they take their turns.
  const lines = new Map<string, Waiting[]>();
  let running = 0;
  let waiting = 0;

  return async function inTurn<T>(address: string | undefined, work: () => Promise<T>): Promise<T> {
    if (running < concurrency) running++;
    else await turn(address);
    try {
      return await work();
    } finally {
      next();
    }
  };

  async function turn(address: string | undefined): Promise<void> {
    const network = address === undefined ? '' : networkOf(address);
    const site = siteOf(address) ?? network;
    const line = lines.get(site) ?? [];
    const near = line.filter((other) => other.network === network).length;
    const isGreedy = network !== '' && (near >= maxWaiting / NETWORK_SHARE || line.length >= maxWaiting / SITE_SHARE);
    if (isGreedy || waiting >= maxWaiting) {
      throw new AppError('limited', 'too many sign-ins at the same time', { retryAfter: 5 });
    }
    waiting++;
    await new Promise<void>((begin) => {
      line.push({ network, begin });
      lines.set(site, line);
    });
  }

  /** Hands the place of one that has finished to the next. */
  function next(): void {
    const [site, line] = lines.entries().next().value ?? [];
    if (site === undefined || line === undefined) {
      running--;
      return;
    }
    const first = line.shift();
    lines.delete(site);
    if (line.length > 0) lines.set(site, line);
    waiting--;
    first?.begin();
  }
}
