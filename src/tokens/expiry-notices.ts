import { type EmailMessage, oneLine } from '../base/mail/email-message.ts';
import type { Mailer } from '../base/mail/mailer.ts';

/** A token that expires soon, and who is to know. */
export interface ExpiringToken {
  readonly id: bigint;
  readonly name: string;
  readonly lastEight: string;
  readonly expiresAt: Date;
  /** Whose token it is: a user, or a robot of an organization. */
  readonly robot: { readonly name: string; readonly organization: string } | undefined;
  /** Confirmed addresses of the owner, or of the owners of the organization, who can sign in. */
  readonly addresses: readonly string[];
}

export interface ExpiryNoticeStore {
  /**
   * Takes at most `max` tokens for which no notice was sent yet that they expire within one of these numbers of days.
   * No other call gets them for the same number, on any replica.
   */
  claim(days: readonly number[], max: number): Promise<ExpiringToken[]>;
}

export type ExpiryNotices = ReturnType<typeof createExpiryNotices>;

const MAX_AT_ONCE = 200;
/** Enough for any job that runs every minute. */
const MAX_ROUNDS = 10;

/**
 * Emails about tokens that expire soon, once for each token and number of days. A number of days that is longer than
 * the life of the token is left out: a user who creates a token for a day knows that it ends tomorrow. A claim is kept
 * even if the mail server fails, so that no user ever gets an email twice.
 */
export function createExpiryNotices(
  store: ExpiryNoticeStore,
  mailer: Mailer,
  days: readonly number[],
  baseUrl: () => string,
) {
  const wanted = days.filter((one) => one > 0);
  return { send };

  /** Returns how many emails were sent. */
  async function send(): Promise<number> {
    if (wanted.length === 0) return 0;
    let count = 0;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const tokens = await store.claim(wanted, MAX_AT_ONCE);
      count += await tell(tokens);
      if (tokens.length < MAX_AT_ONCE) break;
    }
    return count;
  }

  async function tell(tokens: readonly ExpiringToken[]): Promise<number> {
    const byAddress = new Map<string, ExpiringToken[]>();
    for (const token of tokens) {
      for (const address of token.addresses) byAddress.set(address, [...(byAddress.get(address) ?? []), token]);
    }
    for (const [to, some] of byAddress) await mailer.send(messageFor(to, some));
    return byAddress.size;
  }

  function messageFor(to: string, tokens: readonly ExpiringToken[]): EmailMessage {
    const own = tokens.filter(({ robot }) => robot === undefined);
    const robots = new Set(tokens.flatMap(({ robot }) => (robot ? [robot.organization] : [])));
    const page = { label: 'Open your tokens', link: `${baseUrl()}/me/tokens` };
    const because = [
      ...(own.length > 0 ? ['you own an access token'] : []),
      ...[...robots].map((organization) => `you own the organization ${organization}, whose robot has one`),
    ];
    return {
      to,
      subject: subjectFor(tokens),
      body: [
        tokens.length === 1 ? 'An access token expires soon:' : 'Access tokens expire soon:',
        { items: tokens.map((token) => `${titleOf(token)} expires at ${utc(token.expiresAt)}`) },
        'After that, requests with it are rejected. To replace it without an interruption, rotate it:',
        { commands: [own.length > 0 ? 'atrium token rotate NAME' : 'atrium robot token rotate ROBOT NAME'] },
        ...(own.length > 0 ? [page] : []),
      ],
      reason: `This email was sent because ${because.join(', and because ')}, on ${baseUrl()}.`,
    };
  }
}

function subjectFor(tokens: readonly ExpiringToken[]): string {
  const [first] = tokens;
  if (!first || tokens.length > 1) return `${tokens.length} access tokens expire soon`;
  return `Access token ${oneLine(first.name)} expires at ${utc(first.expiresAt)}`;
}

function titleOf({ name, lastEight, robot }: ExpiringToken): string {
  const whose = robot ? ` of the robot ${oneLine(robot.name)} of ${robot.organization}` : '';
  return `${oneLine(name)} (ends with ${lastEight})${whose}`;
}

function utc(moment: Date): string {
  return `${moment.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
