import { createHash, randomBytes } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import type { SealedTexts } from '../base/sealed-text.ts';
import type { SessionTerms } from '../identity/sessions/session-policy.ts';
import type { Browser, Session, SessionProvider } from '../identity/sessions/sessions.ts';
import type { HalfSignedIn } from '../identity/sign-in-ticket.ts';
import type { Opened, ProviderSignIn as ProvenSignIn } from '../users/sign-in.ts';
import type { GroupSync } from './groups/group-sync.ts';
import type { Asking, OidcClient, ProviderTokens, SignInChecks } from './oidc.ts';
import type { Provider } from './provider.ts';
import type { ProviderAccounts } from './provider-accounts.ts';
import type { ProviderIdentity } from './provider-identity.ts';
import type { KnownProvider, Providers } from './providers.ts';
import { signInFault } from './sign-in-fault.ts';

/** What a browser keeps between the request to a provider and its answer. */
export interface PendingCookie {
  readonly name: string;
  readonly value: string;
  readonly seconds: number;
}

export interface Begin {
  readonly provider: string;
  readonly returnTo: string | undefined;
  readonly remember: boolean;
  readonly asking?: Asking | undefined;
  /** The account that a signed-in user links, instead of signing in. */
  readonly linkTo?: bigint;
  /** The code of the invitation whose page the user came from. */
  readonly invitation?: string | undefined;
}

export interface Finish {
  readonly provider: string;
  /** The query of the address to which the provider has sent the browser. */
  readonly query: string;
  readonly cookie: (name: string) => string | undefined;
  readonly browser: Browser;
  /** The account of the session that the browser has, if it has one. */
  readonly signedInAs: () => Promise<bigint | undefined>;
  readonly requestId: string;
}

export type Finished =
  | { readonly kind: 'signed in'; readonly session: Session; readonly returnTo: string }
  /** The provider would have had to ask, and was not to. */
  | { readonly kind: 'not signed in'; readonly returnTo: string }
  | { readonly kind: 'half signed in'; readonly half: HalfSignedIn; readonly returnTo: string }
  | { readonly kind: 'linked'; readonly returnTo: string }
  | { readonly kind: 'ask'; readonly ticket: string; readonly seconds: number };

interface Pending {
  readonly provider: string;
  readonly checks: SignInChecks;
  readonly returnTo: string;
  readonly remember: boolean;
  readonly linkTo: string | null;
  /** The provider was asked to authenticate the user again. */
  readonly again?: boolean;
  readonly isSilent: boolean;
  readonly invitation?: string | undefined;
}

interface ProviderSignInOptions {
  readonly providers: Pick<Providers, 'known'>;
  readonly client: Pick<OidcClient, 'authorizationUrl' | 'identify'>;
  readonly accounts: ProviderAccounts;
  readonly syncGroups: GroupSync;
  /** False if a state was used before, on any replica. */
  readonly useOnce: (hash: Buffer, expiresAt: Date) => Promise<boolean>;
  readonly sealed: SealedTexts;
  /** Seals a token of a session. */
  readonly sealToken: SealToken;
  readonly termsOf: (provider: Provider) => SessionTerms;
  /** The one way to open a session, unless a second factor is needed. */
  readonly openSession: (request: ProvenSignIn, now: Date) => Promise<Opened | HalfSignedIn>;
}

/** Tokens of providers are sealed for their account, and for what they are. */
export type SealToken = (
  accountId: bigint,
  kind: 'id token' | 'refresh token',
  subject: string,
  text: string,
) => Promise<Buffer>;

export type ProviderSignIn = ReturnType<typeof createProviderSignIn>;

const PENDING_MS = 10 * 60_000;
const HOME = '/';
const MAX_RETURN = 1000;
/**
 * Without an ID token, people can still sign out at the provider, but have to confirm it there. Without a refresh token,
 * their browser asks the provider.
 */
const MAX_TOKEN = 8192;

/**
 * Signing in at a provider, with the authorization code flow.
 *
 * 1. What belongs to a request is sealed in a cookie, under a name of its own, so that only the browser that has begun
 *    can finish, on any replica, in as many tabs as it likes.
 * 2. A request can be finished once, within ten minutes, also if it fails: its state is marked as used first.
 * 3. Everything that creates something does so in one transaction. Nothing is created for a user who is rejected.
 */
export function createProviderSignIn(parts: ProviderSignInOptions) {
  const { providers, client, accounts, syncGroups, useOnce, sealed, sealToken, termsOf, openSession } = parts;
  return { begin, finish };

  async function begin(request: Begin, now: Date): Promise<{ readonly url: string; readonly cookie: PendingCookie }> {
    const known = await providers.known(request.provider);
    const checks = { state: random(), nonce: random(), codeVerifier: random() };
    const url = await client.authorizationUrl(known, { ...checks, asking: request.asking });
    const { remember, linkTo } = request;
    const pending: Pending = {
      provider: request.provider,
      checks,
      returnTo: localPath(request.returnTo),
      remember,
      linkTo: linkTo === undefined ? null : String(linkTo),
      ...(request.asking === 'again' && { again: true }),
      isSilent: request.asking === 'silent',
      ...(request.invitation !== undefined && { invitation: request.invitation }),
    };
    const value = sealed.make(JSON.stringify(pending), new Date(now.getTime() + PENDING_MS));
    return { url, cookie: { name: cookieName(checks.state), value, seconds: PENDING_MS / 1000 } };
  }

  async function finish(request: Finish, now: Date): Promise<Finished> {
    const known = await providers.known(request.provider);
    const pending = await spendPending(request, now);
    if (!pending.isSilent) return await complete(known, pending, request, now);
    try {
      return await complete(known, pending, request, now);
    } catch (error) {
      // The sign-in page says what else there is. Failures of ours are not the answer of the provider.
      if (!(error instanceof AppError) || error.kind === 'internal') throw error;
      return { kind: 'not signed in', returnTo: pending.returnTo };
    }
  }

  async function complete(known: KnownProvider, pending: Pending, request: Finish, now: Date): Promise<Finished> {
    const identity = await client.identify(known, request.query, pending.checks);
    const actor = { name: `provider ${known.provider.name}`, requestId: request.requestId };
    if (pending.linkTo !== null) {
      const accountId = BigInt(pending.linkTo);
      if ((await request.signedInAs()) !== accountId) {
        throw signInFault('sign_in_expired', 'you have signed out, or signed in as another user, since you began');
      }
      await accounts.link(known.provider, identity, accountId, actor);
      return { kind: 'linked', returnTo: pending.returnTo };
    }
    const found = await accounts.find(known.provider, identity, actor, pending.invitation);
    if (found.kind === 'ask') {
      const ticket = { ...found.ticket, returnTo: pending.returnTo };
      const expiresAt = new Date(now.getTime() + PENDING_MS);
      return { kind: 'ask', ticket: sealed.make(JSON.stringify(ticket), expiresAt), seconds: PENDING_MS / 1000 };
    }
    const { accountId, isByAddress } = found;
    await syncGroups(known.provider, accountId, identity.groups, actor);
    const opened = await openSession(
      {
        accountId,
        provider: await sessionProvider(known, identity, accountId),
        hasSecondFactor: known.provider.trustSecondFactor,
        isByAddress,
        // Some providers never say it. Without this, their users could not even add a second factor.
        askedAt: identity.askedAt ?? (pending.again ? now : undefined),
        remember: pending.remember,
        browser: request.browser,
      },
      now,
    );
    const { returnTo } = pending;
    if ('ticket' in opened) return { kind: 'half signed in', half: opened, returnTo };
    return { kind: 'signed in', session: opened.session, returnTo };
  }

  async function sessionProvider(
    { provider }: KnownProvider,
    identity: ProviderIdentity & ProviderTokens,
    accountId: bigint,
  ): Promise<SessionProvider> {
    const { issuer, subject, sid, idToken, refreshToken, refreshMs } = identity;
    const terms = termsOf(provider);
    const seal = async (kind: Parameters<SealToken>[1], text: string | undefined) =>
      text !== undefined && text.length <= MAX_TOKEN ? await sealToken(accountId, kind, subject, text) : undefined;
    const sealedIdToken = await seal('id token', idToken);
    const sealedRefreshToken = terms.recheckMs > 0 ? await seal('refresh token', refreshToken) : undefined;
    const canBeAsked = sealedRefreshToken !== undefined;
    const tokens = { sealedIdToken, sealedRefreshToken, refreshMs, canBeAsked };
    return { provider: provider.name, issuer, subject, sid, terms, ...tokens };
  }

  /** Also ends a request whose answer turns out to be wrong. */
  async function spendPending({ provider, query, cookie }: Finish, now: Date): Promise<Pending> {
    const state = new URLSearchParams(query).get('state') ?? '';
    const text = /^[\w-]{43}$/.test(state) ? cookie(cookieName(state)) : undefined;
    const content = text === undefined ? undefined : sealed.read(text, now);
    const pending = content === undefined ? undefined : (JSON.parse(content) as Pending);
    if (!pending || pending.checks.state !== state) {
      throw signInFault(
        'sign_in_expired',
        'this sign-in was not begun in this browser, or more than ten minutes ago: please begin again',
      );
    }
    if (pending.provider !== provider) {
      throw signInFault('sign_in_rejected', 'the answer came from another provider than the one that was asked');
    }
    const hash = createHash('sha256').update(`state ${state}`).digest();
    if (!(await useOnce(hash, new Date(now.getTime() + PENDING_MS)))) {
      throw signInFault('sign_in_expired', 'this sign-in was finished already: please begin again');
    }
    return pending;
  }
}

/** The part of a state that tells the tabs of a browser apart. */
export function cookieName(state: string): string {
  return `atrium_signin_${state.slice(0, 10)}`;
}

/** Only a path of this server: a user who signs in must not end up elsewhere. */
export function localPath(text: string | undefined): string {
  if (text === undefined || text.length > MAX_RETURN || !text.startsWith('/')) return HOME;
  const here = 'http://atrium.invalid';
  const url = URL.parse(text, here);
  // Browsers read "/\\example.com" and "/\t/example.com" as another host, and so does the parser.
  if (url?.origin !== here) return HOME;
  const path = `${url.pathname}${url.search}${url.hash}`;
  // What is encoded gets longer, and a cookie has to keep it.
  return path.startsWith('//') || path.length > MAX_RETURN ? HOME : path;
}

function random(): string {
  return randomBytes(32).toString('base64url');
}

/** A sealed text that is missing, too old, or not ours. */
export function linkRequestGone(): AppError {
  return new AppError('notFound', 'there is nothing to link, or it was more than ten minutes ago: sign in again', {
    reason: 'link_request_not_found',
  });
}
