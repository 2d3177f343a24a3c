import { AppError } from '../../base/errors.ts';
import { networkOf, siteOf } from '../../base/ip.ts';
import type { BackgroundWork } from '../../base/scheduling/background-work.ts';
import type { Allowance } from './allowance.ts';

/** What is left to networks that call without a credential. */
interface PublicAllowances {
  readonly emails: Allowance;
  readonly wrongCodes: Allowance;
}

/** The part of a reply that is used here. */
interface Reply {
  readonly raw: { once(event: 'close', listener: () => void): unknown };
}

export type PublicCalls = ReturnType<typeof createPublicCalls>;

/** What all calls have in common that anyone can make: their limits by network, and work after their answer. */
export function createPublicCalls({ emails, wrongCodes }: PublicAllowances, background: BackgroundWork) {
  return { takeEmail, guarded, afterAnswer };

  /** Every request counts, also one that sends nothing: the answer must not tell. */
  function takeEmail(address: string): void {
    take(emails, address, 'too many emails were requested from your network');
  }

  /** Counts codes that do not exist. What was taken before the attempt is given back if the code exists. */
  async function guarded<T>(address: string, attempt: () => Promise<T>): Promise<T> {
    take(wrongCodes, address, 'too many wrong codes were sent from your network');
    try {
      const result = await attempt();
      wrongCodes.give(keyOf(address));
      return result;
    } catch (error) {
      if (!(error instanceof AppError && error.kind === 'notFound')) wrongCodes.give(keyOf(address));
      throw error;
    }
  }

  /** The time of the answer tells nothing about the work, because it begins when the answer is sent. */
  function afterAnswer(reply: Reply, work: () => Promise<void>): void {
    reply.raw.once('close', () => background.start(work));
  }
}

function take(allowance: Allowance, address: string, message: string): void {
  const [key, now] = [keyOf(address), performance.now()];
  if (allowance.take(key, now)) return;
  throw new AppError('limited', `${message}: try again later`, { retryAfter: allowance.wait(key, now) });
}

/** An IPv6 site has many networks, and its owner can use all of them. */
function keyOf(address: string): string {
  return siteOf(address) ?? networkOf(address);
}
