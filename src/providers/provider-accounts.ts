import { AppError } from '../base/errors.ts';
import { type Actor, SERVER } from '../changes/audit-entry.ts';
import { judgeName } from '../identity/account-names/account-names.ts';
import { rejectUnusable } from '../identity/callers.ts';
import { isAddress } from '../users/emails/email-address.ts';
import { createDomainRule } from '../users/emails/email-domains.ts';
import type { Provider } from './provider.ts';
import type { ProviderIdentity } from './provider-identity.ts';
import { signInFault } from './sign-in-fault.ts';

/** A local account, as far as a sign-in looks at it. */
export interface LocalAccount {
  readonly id: bigint;
  readonly login: string;
  readonly isAdmin: boolean;
  readonly active: boolean;
  readonly prohibitLogin: boolean;
}

/** The account that is linked. */
export interface LinkedOwner extends LocalAccount {
  readonly isByAddress: boolean;
}

/** The account that has an address. */
export interface AddressOwner extends LocalAccount {
  readonly isVerified: boolean;
  readonly isPrimary: boolean;
  /** An administrator has said that the next sign-in is linked without asking, and that still counts. */
  readonly isRelinked: boolean;
}

export interface LinkDraft {
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  readonly email: string;
  /** Linked because both sides have the address, and for no other reason. */
  readonly isByAddress?: boolean;
}

export interface AccountDraft {
  readonly email: string;
  readonly fullName: string;
  /** Names to try, the best first. */
  readonly names: readonly string[];
}

export interface ProviderAccountStore {
  linked(issuer: string, subject: string): Promise<LinkedOwner | undefined>;
  /** Notes that the link was used. */
  used(issuer: string, subject: string, at: Date): Promise<void>;
  addressOwner(address: string): Promise<AddressOwner | undefined>;
  /** The account that is linked now: this one, unless another was a moment before. */
  link(draft: LinkDraft, accountId: bigint, actor: Actor): Promise<bigint>;
  /** The account that is linked now, or what another request took at the same moment. */
  create(draft: AccountDraft, link: LinkDraft, actor: Actor): Promise<bigint | 'email taken' | 'names taken'>;
}

/** What a user has to confirm before an account is linked. */
export interface LinkTicket extends LinkDraft {
  readonly accountId: string;
  readonly login: string;
}

export type Found =
  /** With `isByAddress`, nothing but an address says that it is theirs: they have not used a second factor yet. */
  | { readonly kind: 'account'; readonly accountId: bigint; readonly isByAddress: boolean }
  | { readonly kind: 'ask'; readonly ticket: LinkTicket };

/** Who acts: the server, in the name of a provider. */
export type ProviderActor = Pick<Actor, 'name' | 'requestId'>;

export type ProviderAccounts = ReturnType<typeof createProviderAccounts>;

const MAX_NAME = 32;
const NAMES_TRIED = 200;
const MAX_TRIES = 3;

/**
 * Which account belongs to a user whom a provider has proven. They are known by issuer and subject alone: addresses change
 * their owners. An address matters once, at the first sign-in, and only if both sides have verified it.
 */
export function createProviderAccounts(
  store: ProviderAccountStore,
  isDomainAllowed: (address: string) => boolean,
  admitsInvited: (code: string, address: string) => Promise<boolean> = async () => false,
) {
  return { find, link };

  /** With the code of an invitation, a user with its address gets an account although the provider creates none. */
  async function find(
    provider: Provider,
    identity: ProviderIdentity,
    by: ProviderActor,
    invitation?: string,
  ): Promise<Found> {
    const { issuer, subject } = identity;
    const known = await knownAs(identity);
    if (known) return known;
    const draft = { provider: provider.name, issuer, subject, email: requireEmail(provider, identity) };
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const owner = await store.addressOwner(draft.email);
      // Another first sign-in of the same person may have created the owner since we looked.
      if (owner) return (await knownAs(identity)) ?? (await findOwner(provider, draft, owner, by));
      const created = await create(provider, draft, identity, by, invitation);
      if (created !== undefined) return { kind: 'account', accountId: created, isByAddress: false };
    }
    throw new AppError('unavailable', 'the account could not be created', { retryAfter: 1 });
  }

  async function knownAs({ issuer, subject }: ProviderIdentity): Promise<Found | undefined> {
    const known = await store.linked(issuer, subject);
    if (!known) return undefined;
    rejectUnusable(known);
    await store.used(issuer, subject, new Date());
    return { kind: 'account', accountId: known.id, isByAddress: known.isByAddress };
  }

  async function findOwner(
    provider: Provider,
    draft: LinkDraft,
    owner: AddressOwner,
    by: ProviderActor,
  ): Promise<Found> {
    if (!owner.isVerified) {
      throw signInFault('email_taken', `the address ${draft.email} belongs to an account that has not confirmed it`);
    }
    rejectUnusable(owner);
    if (provider.linking === 'off') {
      throw signInFault('linking_off', `an account with the address ${draft.email} exists, and must not be linked`);
    }
    // An administrator of the provider must not become an administrator here without knowing more than that. Users add
    // further addresses themselves, also those of other people if addresses need no confirmation.
    const isAutomatic = provider.linking === 'automatic' && !owner.isAdmin;
    if (owner.isPrimary && (isAutomatic || owner.isRelinked)) {
      const linked = await store.link({ ...draft, isByAddress: true }, owner.id, { ...SERVER, ...by });
      return { kind: 'account', accountId: linked, isByAddress: true };
    }
    return { kind: 'ask', ticket: { ...draft, accountId: String(owner.id), login: owner.login } };
  }

  /** Undefined if another request took the address or a name at the same moment. */
  async function create(
    provider: Provider,
    link: LinkDraft,
    identity: ProviderIdentity,
    by: ProviderActor,
    invitation: string | undefined,
  ) {
    const { email } = link;
    const isInvited = !provider.createAccounts && invitation !== undefined && (await admitsInvited(invitation, email));
    if (!provider.createAccounts && !isInvited) {
      throw signInFault(
        'account_not_found',
        `there is no account for ${email}: ask a site administrator to create one`,
      );
    }
    if (!isDomainAllowed(email)) throw domainRejected(email);
    const draft = { email, fullName: identity.fullName, names: namesFor(identity.username, email) };
    const outcome = await store.create(draft, link, { ...SERVER, ...by });
    return typeof outcome === 'string' ? undefined : outcome;
  }

  /** For a user who is signed in to the account, and who has begun this there. */
  async function link(provider: Provider, identity: ProviderIdentity, accountId: bigint, by: ProviderActor) {
    const { issuer, subject } = identity;
    const email = provider.allowedDomains.length > 0 ? requireEmail(provider, identity) : (identity.email ?? '');
    const draft = { provider: provider.name, issuer, subject, email };
    const linked = await store.link(draft, accountId, { ...SERVER, ...by });
    if (linked !== accountId) {
      throw signInFault('already_linked', `this account of ${provider.displayName} is linked to another user`);
    }
  }
}

function requireEmail({ displayName, allowedDomains }: Provider, { email, isEmailVerified }: ProviderIdentity): string {
  if (email === undefined || !isAddress(email)) {
    throw signInFault('email_unverified', `${displayName} did not send your email address, so no account can be found`);
  }
  if (!isEmailVerified) {
    throw signInFault('email_unverified', `${displayName} has not verified your email address ${email}`);
  }
  if (allowedDomains.length > 0 && !createDomainRule(allowedDomains, [])(email)) throw domainRejected(email);
  return email;
}

function domainRejected(email: string): AppError {
  return signInFault('domain_not_allowed', `addresses such as ${email} cannot be used to sign in here`);
}

/** The name at the provider, or that of the address, with a number if it is taken. */
export function namesFor(username: string | undefined, email: string): string[] {
  const base = [username?.split('@')[0], email.split('@')[0]]
    .map(plainName)
    .find((name) => judgeName(name) === 'VALID');
  const name = base ?? 'user';
  return [name, ...Array.from({ length: NAMES_TRIED }, (_, place) => `${name}-${place + 2}`)];
}

function plainName(text = ''): string {
  return text
    .normalize('NFKD')
    .replace(/[^\w.-]+/g, '-')
    .replace(/[-._]{2,}/g, '-')
    .replace(/^[-._]+/, '')
    .slice(0, MAX_NAME)
    .replace(/[-._]+$/, '');
}
