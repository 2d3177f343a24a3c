import { AppError } from '../base/errors.ts';
import type { SealedTexts } from '../base/sealed-text.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Person } from '../identity/callers.ts';
import type { LinkTicket, ProviderAccountStore } from './provider-accounts.ts';
import { signInFault } from './provider-refusal.ts';
import { linkRequestGone } from './provider-sign-in.ts';
import type { Providers } from './providers.ts';

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

export interface LinkedAccountStore {
  list(accountId: bigint): Promise<LinkedAccount[]>;
  /** Ends the sessions that were opened with it. `passwordsCount`: a password is a way to sign in. */
  remove(accountId: bigint, id: bigint, passwordsCount: boolean, actor: Actor): Promise<Unlinking>;
}

export interface LinkRequest extends LinkTicket {
  readonly returnTo: string;
}

interface Parts {
  readonly store: LinkedAccountStore;
  readonly accounts: Pick<ProviderAccountStore, 'link'>;
  readonly providers: Pick<Providers, 'known'>;
  readonly sealed: SealedTexts;
  /** Passwords are a way to sign in. */
  readonly passwordsCount: boolean;
}

export type LinkedAccounts = ReturnType<typeof createLinkedAccounts>;

/** The accounts at providers that users have linked to theirs. */
export function createLinkedAccounts({ store, accounts, providers, sealed, passwordsCount }: Parts) {
  return { list: store.list, remove, requested, accept };

  /** What a provider has proven, and what the user has to confirm. */
  function requested(ticket: string | undefined, now: Date): LinkRequest {
    const content = ticket === undefined ? undefined : sealed.read(ticket, now);
    const read = content === undefined ? undefined : (JSON.parse(content) as Partial<LinkRequest>);
    if (read?.accountId === undefined) throw linkRequestGone();
    return read as LinkRequest;
  }

  /** Whoever confirms has signed in to the account that is to be linked. */
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
    const outcome = await store.remove(accountId, id, passwordsCount, actor);
    if (outcome === 'not found') {
      throw new AppError('notFound', 'there is no such linked account', { reason: 'linked_account_not_found' });
    }
    if (outcome === 'last way') {
      const message = 'this is the last way to sign in: set a password or link another account first';
      throw new AppError('conflict', message, { reason: 'last_sign_in' });
    }
  }
}
