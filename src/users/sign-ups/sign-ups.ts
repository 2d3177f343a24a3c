import { AppError } from '../../base/errors.ts';
import type { EmailMessage } from '../../base/mail/email-message.ts';
import { type Actor, SERVER } from '../../changes/audit-entry.ts';
import type { NameConflict } from '../../identity/account-names/account-names.ts';
import { passwordsOff } from '../../identity/callers.ts';
import { hashNewPassword } from '../../identity/passwords/new-password.ts';
import { codeExpired, codeNotFound, type EmailCodes } from '../emails/email-code.ts';
import { nameUnavailable, requireAddressField, requireNameField } from '../user-fields.ts';
import type { UserDraft, VersionedPerson } from '../users.ts';
import { signUpEmail, takenEmail } from './sign-up-emails.ts';

export interface NewAccount {
  readonly username: string;
  readonly password: string;
  readonly fullName: string;
}

export type SignUpOutcome = VersionedPerson | NameConflict | 'email taken' | 'ended';

export interface SignUpStore {
  /** Takes the turn of the address: `paused` if it had an email less than ten minutes ago. */
  takeTurn(address: string): Promise<'free' | 'taken' | 'paused'>;
  /** Ends the earlier codes of the address. */
  createCode(address: string, hash: Buffer): Promise<void>;
  /** The address of a code that is still open. */
  find(hash: Buffer): Promise<{ readonly address: string } | 'ended' | undefined>;
  /** Uses the code and creates the account, whose address is then confirmed. */
  create(hash: Buffer, draft: UserDraft, actor: Actor): Promise<SignUpOutcome>;
}

export interface SignUpPolicy {
  readonly isOpen: boolean;
  readonly hasPasswords: boolean;
  isDomainAllowed(address: string): boolean;
}

interface SignUpParts {
  readonly store: SignUpStore;
  readonly codes: EmailCodes;
  readonly policy: SignUpPolicy;
  readonly send: (message: EmailMessage) => Promise<void>;
  readonly baseUrl: () => string;
}

export type SignUps = ReturnType<typeof createSignUps>;

/** People with an address of certain domains create their accounts themselves, once they have shown that it is theirs. */
export function createSignUps({ store, codes, policy, send, baseUrl }: SignUpParts) {
  return { requireOpen, requireAddress, begin, confirm };

  function requireOpen(): void {
    if (!policy.hasPasswords) throw passwordsOff();
    if (policy.isOpen) return;
    throw new AppError('forbidden', 'accounts are created by invitation only: ask an administrator', {
      reason: 'registration_closed',
    });
  }

  function requireAddress(address: string): void {
    requireAddressField(address);
    if (policy.isDomainAllowed(address)) return;
    throw new AppError('forbidden', 'people with addresses of this domain cannot create accounts here', {
      reason: 'domain_not_allowed',
    });
  }

  /** Runs after the answer, so it may take as long as it takes. */
  async function begin(address: string): Promise<void> {
    const turn = await store.takeTurn(address);
    if (turn === 'paused') return;
    const about = { to: address, server: baseUrl() };
    if (turn === 'taken') return await send(takenEmail(about));
    const code = codes.mint();
    await store.createCode(address, code.hash);
    // After the number sign: browsers send it to no server, so it is in no log.
    await send(signUpEmail(about, `${baseUrl()}/signin/signup#code=${code.text}`));
  }

  async function confirm(
    text: string,
    { username, password, fullName }: NewAccount,
    requestId: string,
  ): Promise<VersionedPerson> {
    requireOpen();
    const hash = codes.hashOf(text);
    const found = hash && (await store.find(hash));
    if (!hash || !found) throw codeNotFound();
    if (found === 'ended') throw linkEnded();
    // The operator may have changed the domains meanwhile.
    requireAddress(found.address);
    requireNameField(username);
    const flags = { isAdmin: false, active: true, prohibitLogin: false };
    const passwordHash = await hashNewPassword(password);
    const draft = { name: username, fullName, email: found.address, passwordHash, ...flags };
    const outcome = await store.create(hash, draft, { ...SERVER, requestId });
    if (outcome === 'ended') throw linkEnded();
    if (outcome === 'email taken') {
      throw new AppError('conflict', 'another account has this address by now: sign in, or set a new password', {
        reason: 'email_taken',
      });
    }
    if (typeof outcome === 'string') throw nameUnavailable(username, outcome);
    return outcome;
  }
}

function linkEnded(): AppError {
  return codeExpired('begin again on the sign-in page');
}
