import { limitReached } from '../../base/config/limits.ts';
import { AppError } from '../../base/errors.ts';

/** When confirmation emails went out that still count. */
export interface RecentConfirmations {
  /** Of the account, oldest first. */
  readonly ofAccount: readonly Date[];
  /** The newest to one of the addresses, whichever account caused it. */
  readonly toAddresses: Date | undefined;
}

/** Emails that are about to be sent. */
export interface Sending {
  readonly perHour: number;
  readonly now: Date;
}

const MINUTE_MS = 60_000;
/** The window of the allowance of an account. Older emails are forgotten. */
export const ACCOUNT_WINDOW_MS = 60 * MINUTE_MS;
export const ADDRESS_WINDOW_MS = 10 * MINUTE_MS;

/**
 * Emails to strangers go out in the name of the operator, so there are few of them: an account causes at most
 * `perHour` in an hour, and an address gets at most one in ten minutes, whichever user asks. All addresses of a request are
 * allowed together or not at all. The answer does not tell whose request the earlier email was.
 */
export function requireAllowance(recent: RecentConfirmations, adding: number, perHour: number, now: Date): void {
  if (adding > perHour) throw limitReached('confirmationEmailsPerHour', perHour, 0);
  const excess = recent.ofAccount.length + adding - perHour;
  // As soon as that many are older than an hour, there is room.
  const waits = [wait(recent.ofAccount[excess - 1], ACCOUNT_WINDOW_MS), wait(recent.toAddresses, ADDRESS_WINDOW_MS)];
  const [byAccount = 0, byAddress = 0] = waits.map((until) => (until - now.getTime()) / 1000);
  if (byAccount > 0) {
    const message = `at most ${perHour} confirmation emails can be sent for one user in an hour: try again later`;
    throw new AppError('limited', message, { retryAfter: Math.max(byAccount, byAddress) });
  }
  if (byAddress > 0) {
    const message = 'a confirmation email was sent to this address less than ten minutes ago: try again later';
    throw new AppError('limited', message, { retryAfter: byAddress });
  }
}

function wait(from: Date | undefined, window: number): number {
  return from === undefined ? 0 : from.getTime() + window;
}
