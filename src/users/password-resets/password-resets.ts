import { AppError } from '../../base/errors.ts';
import type { EmailMessage } from '../../base/mail/email-message.ts';
import type { Actor } from '../../changes/audit-entry.ts';
import type { Once } from '../../changes/write.ts';
import { passwordsOff } from '../../identity/callers.ts';
import { hashNewPassword, requirePassword } from '../../identity/passwords/new-password.ts';
import { isAddress } from '../emails/email-address.ts';
import { codeExpired, codeNotFound, type EmailCodes } from '../emails/email-code.ts';
import { administratorEmail, changedEmail, linkEmail, providerEmail } from './reset-emails.ts';

/** An account as far as a new password is concerned. */
export interface ResetAccount {
  readonly id: bigint;
  readonly login: string;
  readonly isAdmin: boolean;
  readonly canSignIn: boolean;
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  /** An identity provider owns the account by SCIM. */
  readonly isProvisioned: boolean;
  /** The providers of its linked accounts. */
  readonly providers: readonly string[];
  readonly primaryAddress: string | undefined;
}

/** The account that has an address, and the address as it is stored. */
export interface AddressedAccount {
  readonly account: ResetAccount;
  readonly emailId: bigint;
  readonly address: string;
}

export interface CodeDraft {
  readonly accountId: bigint;
  readonly hash: Buffer;
  /** The address that the code is sent to; undefined for a link of a site administrator. */
  readonly emailId: bigint | undefined;
}

/** The account of a code that is still open. */
export interface OpenCode {
  readonly account: ResetAccount;
  readonly isEmailed: boolean;
}

export interface PasswordLink {
  readonly link: string;
  readonly expiresAt: Date;
}

export interface PasswordResetStore {
  /**
   * The account with this primary address, or with this address if a link that was sent to it has been opened. Takes the
   * turn of the address, whether there is an account or not; undefined if it is not its turn.
   */
  takeTurn(address: string): Promise<AddressedAccount | undefined>;
  accountNamed(name: string): Promise<ResetAccount | undefined>;
  /** Ends the earlier codes of the account. Undefined if the account or the address is gone. */
  createCode(draft: CodeDraft, actor: Actor, made?: Once<PasswordLink>, show?: Show): Promise<Date | undefined>;
  find(hash: Buffer): Promise<OpenCode | 'ended' | undefined>;
  /** Uses the code, sets the password and ends all sessions. `decide` sees the account while nothing can change it. */
  reset(
    hash: Buffer,
    passwordHash: string,
    decide: (code: OpenCode) => void,
    requestId: string,
  ): Promise<ResetAccount | 'ended' | undefined>;
}

/** What is kept as the answer of a request that can be repeated. */
export type Show = (expiresAt: Date) => PasswordLink;

interface PasswordResetParts {
  readonly store: PasswordResetStore;
  readonly codes: EmailCodes;
  readonly send: (message: EmailMessage) => Promise<void>;
  readonly baseUrl: () => string;
  readonly hasPasswords: boolean;
}

export type PasswordResets = ReturnType<typeof createPasswordResets>;

/** How users who cannot sign in get a new password: with a link in an email, or from a site administrator. */
export function createPasswordResets({ store, codes, send, baseUrl, hasPasswords }: PasswordResetParts) {
  return { requireOn, forgot, reset, link, changed };

  function requireOn(): void {
    if (!hasPasswords) throw passwordsOff();
  }

  /** Runs after the answer, so it may take as long as it takes. `actor` is the server. */
  async function forgot(address: string, actor: Actor): Promise<void> {
    if (!isAddress(address)) return;
    const found = await store.takeTurn(address);
    if (!found?.account.canSignIn) return;
    const { account, emailId, address: to } = found;
    const about = { to, login: account.login, server: baseUrl() };
    if (signsInElsewhere(account)) return await send(providerEmail(about, account));
    if (!isRecoverableByEmail(account)) return await send(administratorEmail(about));
    const code = codes.mint();
    const expiresAt = await store.createCode({ accountId: account.id, hash: code.hash, emailId }, actor);
    if (expiresAt !== undefined) await send(linkEmail(about, linkOf(code.text)));
  }

  /** Returns the account, whose user is to hear of it. */
  async function reset(text: string, password: string, requestId: string): Promise<ResetAccount> {
    requireOn();
    const hash = codes.hashOf(text);
    const found = hash && (await store.find(hash));
    if (!hash || !found) throw codeNotFound();
    if (found === 'ended') throw linkEnded();
    requireUsable(found);
    requirePassword(password);
    const changed = await store.reset(hash, await hashNewPassword(password), requireUsable, requestId);
    if (changed === undefined || changed === 'ended') throw linkEnded();
    return changed;
  }

  async function changed({ login, primaryAddress }: ResetAccount): Promise<void> {
    if (primaryAddress !== undefined) await send(changedEmail({ to: primaryAddress, login, server: baseUrl() }));
  }

  /** For site administrators: the link is shown to them, and they hand it to the user. */
  async function link(name: string, actor: Actor, once?: Once<PasswordLink>): Promise<PasswordLink> {
    requireOn();
    const account = await store.accountNamed(name);
    if (!account) throw new AppError('notFound', 'user does not exist', { reason: 'user_not_found' });
    const { login } = account;
    if (signsInElsewhere(account)) {
      throw new AppError('conflict', `${login} signs in with a provider, so there is no password to set`, {
        reason: 'provider_sign_in',
      });
    }
    if (!account.canSignIn) throw new AppError('conflict', `${login} may not sign in: activate the account first`);
    const code = codes.mint();
    const show = (expiresAt: Date) => ({ link: linkOf(code.text), expiresAt });
    const draft = { accountId: account.id, hash: code.hash, emailId: undefined };
    const expiresAt = await store.createCode(draft, actor, once, show);
    if (expiresAt === undefined) throw new AppError('notFound', 'user does not exist', { reason: 'user_not_found' });
    return show(expiresAt);
  }

  /** After the number sign: browsers send it to no server, so it is in no log. */
  function linkOf(code: string): string {
    return `${baseUrl()}/signin/reset#code=${code}`;
  }
}

/** A password would bypass the provider, its second factor, and the end of the account there. */
function signsInElsewhere({ isProvisioned, hasPassword, providers }: ResetAccount): boolean {
  return isProvisioned || (!hasPassword && providers.length > 0);
}

/** A mailbox alone must not make anyone a site administrator. */
function isRecoverableByEmail({ isAdmin, hasSecondFactor }: ResetAccount): boolean {
  return !isAdmin || hasSecondFactor;
}

/** The account may have changed since the link was created. */
function requireUsable({ account, isEmailed }: OpenCode): void {
  const isAllowed = account.canSignIn && !signsInElsewhere(account) && (!isEmailed || isRecoverableByEmail(account));
  if (!isAllowed) throw linkEnded();
}

function linkEnded(): AppError {
  return codeExpired('ask for a new one on the sign-in page');
}
