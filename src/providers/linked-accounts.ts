import { AppError } from '../base/errors.ts';
import type { SealedTexts } from '../base/sealed-text.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Person } from '../identity/callers.ts';
import type { LinkTicket, ProviderAccountStore } from './provider-accounts.ts';
import { linkRequestGone } from './provider-sign-in.ts';
import type { Providers } from './providers.ts';
import { signInFault } from './sign-in-fault.ts';

/** A link as its user sees it. */
export interface LinkedAccount {
  readonly id: bigint;
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  readonly email: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
}

export type Unlinking = 'done' | 'not found' | 'last way';

/** Who unlinks: the user, who must keep a way to sign in, or an administrator, who can give them another. */
export interface UnlinkRules {
  /** A password is a way to sign in. */
  readonly passwordsCount: boolean;
  /** If no way is left, the next sign-in with the same address is linked until then. Undefined: one must be left. */
  readonly relinkUntil: Date | undefined;
}

export interface LinkedAccountStore {
  list(accountId: bigint): Promise<LinkedAccount[]>;
  /** Ends the sessions that were opened with it. */
  remove(accountId: bigint, id: bigint, rules: UnlinkRules, actor: Actor): Promise<Unlinking>;
  /** Until then, the next sign-in that tells the primary address of the account is linked. */
  allowRelink(accountId: bigint, until: Date, actor: Actor): Promise<void>;
}

export interface LinkRequest extends LinkTicket {
  readonly returnTo: string;
}

interface LinkedAccountsOptions {
  readonly store: LinkedAccountStore;
  readonly accounts: Pick<ProviderAccountStore, 'link'>;
  readonly providers: Pick<Providers, 'known'>;
  readonly sealed: SealedTexts;
  /** Passwords are a way to sign in. */
  readonly passwordsCount: boolean;
}

export type LinkedAccounts = ReturnType<typeof createLinkedAccounts>;

/** The accounts at providers that users have linked to theirs. */
export function createLinkedAccounts({ store, accounts, providers, sealed, passwordsCount }: LinkedAccountsOptions) {
  return { list: store.list, remove, removeFor, allowRelink, requested, accept };

  /** What a provider has proven, and what the user has to confirm. */
  function requested(ticket: string | undefined, now: Date): LinkRequest {
    const content = ticket === undefined ? undefined : sealed.read(ticket, now);
    const read = content === undefined ? undefined : (JSON.parse(content) as Partial<LinkRequest>);
    if (read?.accountId === undefined) throw linkRequestGone();
    return read as LinkRequest;
  }

  /** The user who confirms has signed in to the account that is to be linked. */
  async function accept(ticket: string | undefined, person: Person, actor: Actor, now: Date): Promise<LinkRequest> {
    const request = requested(ticket, now);
    if (String(person.id) !== request.accountId) {
      throw new AppError('forbidden', `sign in as ${request.login} to link this account; you are ${person.login}`);
    }
    const { provider, issuer, subject, email } = request;
    // An administrator may have changed their mind since the provider was asked.
    if ((await providers.known(provider)).provider.linking === 'off') {
      throw signInFault('linking_off', 'accounts of this provider must not be linked');
    }
    if ((await accounts.link({ provider, issuer, subject, email }, person.id, actor)) !== person.id) {
      throw signInFault('already_linked', 'this account is linked to another user');
    }
    return request;
  }

  async function remove(accountId: bigint, id: bigint, actor: Actor): Promise<void> {
    const outcome = await store.remove(accountId, id, { passwordsCount, relinkUntil: undefined }, actor);
    if (outcome === 'not found') throw linkNotFound();
    if (outcome === 'last way') {
      const message = 'this is the last way to sign in: set a password or link another account first';
      throw new AppError('conflict', message, { reason: 'last_sign_in' });
    }
  }

  /** By an administrator: also the last way to sign in, because the account at the provider may be gone. */
  async function removeFor(accountId: bigint, id: bigint, actor: Actor, now: Date): Promise<void> {
    const rules = { passwordsCount, relinkUntil: relinkUntil(now) };
    if ((await store.remove(accountId, id, rules, actor)) === 'not found') throw linkNotFound();
  }

  /** For a user who cannot sign in to confirm a link. */
  async function allowRelink(accountId: bigint, actor: Actor, now: Date): Promise<Date> {
    const until = relinkUntil(now);
    await store.allowRelink(accountId, until, actor);
    return until;
  }
}

const RELINK_MS = 7 * 86_400_000;

function relinkUntil(now: Date): Date {
  return new Date(now.getTime() + RELINK_MS);
}

function linkNotFound(): AppError {
  return new AppError('notFound', 'there is no such linked account', { reason: 'linked_account_not_found' });
}
