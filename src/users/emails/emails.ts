import { AppError } from '../../base/errors.ts';
import type { Mailer } from '../../base/mail/mailer.ts';
import type { Once } from '../../changes/write.ts';
import type { Sending } from './confirmations.ts';
import { isAddress, isSameAddress } from './email-address.ts';

export interface Email {
  readonly id: bigint;
  readonly address: string;
  readonly verified: boolean;
  readonly primary: boolean;
}

export interface AddedEmails {
  readonly added: readonly Email[];
  readonly present: readonly Email[];
}

export interface EmailStore {
  list(accountId: bigint): Promise<Email[]>;
  /**
   * All or none; returns what is already in use, or what the account has now. Throws if there is no room, or too many
   * emails would be sent.
   */
  add(
    accountId: bigint,
    addresses: readonly string[],
    verified: boolean,
    sending: Sending | undefined,
    once?: Once<readonly Email[]>,
  ): Promise<AddedEmails | { used: string }>;
  /** All or none. `decide` gets the addresses of the account and returns which ones to remove. */
  remove(accountId: bigint, decide: (present: readonly Email[]) => readonly bigint[]): Promise<void>;
  verify(id: bigint, address: string): Promise<boolean>;
}

export interface EmailPolicy {
  /** New addresses must be confirmed by email. */
  readonly confirm: boolean;
  /** How many confirmation emails a user can cause in an hour. */
  readonly confirmationsPerHour: number;
  isDomainAllowed(address: string): boolean;
}

/** Creates and reads the signed text in a confirmation link. */
export interface ConfirmationLinks {
  make(email: Pick<Email, 'id' | 'address'>, now: Date): string;
  read(text: string, now: Date): { id: bigint; address: string } | undefined;
  /** The address of this server, for the recipient of an email. */
  server(): string;
}

/** The user whose addresses they are. */
export interface Owner {
  readonly id: bigint;
  readonly login: string;
}

export type Emails = ReturnType<typeof createEmails>;

const MAX_ADDRESSES = 100;

export function createEmails(store: EmailStore, policy: EmailPolicy, links: ConfirmationLinks, mailer: Mailer) {
  return { list: store.list, add, addUnverified, askToConfirmPrimary, remove, confirm };

  async function add(
    owner: Owner,
    addresses: readonly string[],
    now: Date,
    once?: Once<readonly Email[]>,
  ): Promise<readonly Email[]> {
    const foreign = addresses.find((address) => isAddress(address) && !policy.isDomainAllowed(address));
    if (foreign !== undefined) throw fault(`Email address has a domain that is not allowed: ${foreign}`);
    const sending = policy.confirm ? { perHour: policy.confirmationsPerHour, now } : undefined;
    const { added, present } = await addAs(owner.id, addresses, !policy.confirm, sending, once);
    if (policy.confirm) await Promise.all(added.map((email) => askToConfirm(owner, email, now)));
    return present;
  }

  /**
   * For the operator of the server: any domain is allowed, the address is not verified, and no confirmation email is sent.
   */
  async function addUnverified(accountId: bigint, address: string): Promise<void> {
    await addAs(accountId, [address], false);
  }

  async function addAs(
    accountId: bigint,
    addresses: readonly string[],
    verified: boolean,
    sending?: Sending,
    once?: Once<readonly Email[]>,
  ): Promise<AddedEmails> {
    if (addresses.length === 0) throw fault('Email list empty');
    if (addresses.length > MAX_ADDRESSES)
      throw fault(`at most ${MAX_ADDRESSES} email addresses can be added in one request`);
    for (const address of addresses) {
      if (!isAddress(address)) throw fault(`Email address ${JSON.stringify(address.slice(0, 260))} invalid`);
    }
    const twice = addresses.find((one, place) => addresses.slice(0, place).some((other) => isSameAddress(one, other)));
    if (twice) throw fault(`Email address is given twice: ${twice}`);
    const outcome = await store.add(accountId, addresses, verified, sending, once);
    if ('used' in outcome) throw fault(`Email address has been used: ${outcome.used}`);
    return outcome;
  }

  async function remove(accountId: bigint, addresses: readonly string[]): Promise<void> {
    if (addresses.length === 0) return;
    if (addresses.length > MAX_ADDRESSES)
      throw fault(`at most ${MAX_ADDRESSES} email addresses can be removed in one request`);
    await store.remove(accountId, (present) =>
      addresses.map((address) => {
        const email = present.find((one) => isSameAddress(one.address, address));
        if (!email) throw new AppError('notFound', `Email address does not exist: ${address.slice(0, 260)}`);
        if (email.primary) throw fault('the primary email address cannot be deleted');
        return email.id;
      }),
    );
  }

  async function confirm(text: string, now: Date): Promise<void> {
    const email = links.read(text, now);
    if (!email || !(await store.verify(email.id, email.address))) {
      throw new AppError('notFound', 'the link is invalid or has expired');
    }
  }

  /** For an account that was created with an address that is not proven. */
  async function askToConfirmPrimary(owner: Owner, now: Date): Promise<void> {
    const primary = (await store.list(owner.id)).find((email) => email.primary);
    if (primary && !primary.verified) await askToConfirm(owner, primary, now);
  }

  /** An email that cannot be sent does not undo the address: the user can remove the address and add it again. */
  async function askToConfirm({ login }: Owner, email: Email, now: Date): Promise<void> {
    await mailer.send({
      to: email.address,
      subject: 'Confirm your email address',
      body: [
        `The user ${login} has added ${email.address} to their account.`,
        'If this is you, please confirm that the address is yours.',
        { label: 'Confirm this address', link: links.make(email, now) },
        'The link is valid for a day.',
      ],
      reason: `This email was sent because the user ${login} of ${links.server()} added this address. If you do not know this account, ignore this email: the address stays unconfirmed.`,
    });
  }
}

function fault(message: string): AppError {
  return new AppError('malformed', message, { errors: [{ field: 'emails', message }] });
}
