import { AppError } from '../base/errors.ts';
import { type Callers, type Person, rejectUnusable, wrongCredential } from '../identity/callers.ts';
import { scopesAllow } from '../identity/scopes.ts';
import { signInMethods } from '../identity/sessions/proof-kinds.ts';
import type { Browser, Opening, Session, SessionProvider, Sessions } from '../identity/sessions/sessions.ts';
import type { HalfSignedIn, SignInTickets } from '../identity/sign-in-ticket.ts';
import type { Users } from './users.ts';

export interface SignInRequest {
  readonly username: string;
  readonly password: string;
  readonly remember: boolean;
  readonly browser: Browser;
}

export interface TokenSignIn {
  readonly token: string;
  readonly remember: boolean;
  readonly browser: Browser;
}

/** A user whom a provider has proven to be the owner of an account. */
export interface ProviderSignIn {
  readonly accountId: bigint;
  readonly provider: SessionProvider;
  /** The administrator trusts the provider to have asked for a second factor. */
  readonly hasSecondFactor: boolean;
  /** The account was found by an address, and its user has not used a second factor since. */
  readonly isByAddress: boolean;
  /** When the provider last authenticated the user. Undefined if it does not say so. */
  readonly askedAt: Date | undefined;
  readonly remember: boolean;
  readonly browser: Browser;
}

export interface Opened {
  readonly person: Person;
  readonly session: Session;
}

const NEVER = new Date(0);

export type SignIn = ReturnType<typeof createSignIn>;

/** Browser sessions: opened with a password, a token or a provider, and ended permanently by signing out. */
export function createSignIn(
  callers: Pick<Callers, 'byPassword' | 'byToken' | 'personWithId'>,
  users: Pick<Users, 'signedIn'>,
  sessions: Pick<Sessions, 'open' | 'close' | 'park'>,
  tickets: Pick<SignInTickets, 'make'>,
) {
  return { open, openWithToken, openWithProvider, enter, close: sessions.close, closeReplaced };

  /** The session that a browser had before it signed in again. No cookie leads to it any more, so it ends. */
  async function closeReplaced(text: string | undefined): Promise<void> {
    if (text !== undefined) await sessions.close(text);
  }

  async function open(request: SignInRequest, now: Date): Promise<Opened | HalfSignedIn> {
    const person = await callers.byPassword(request.username, request.password, request.browser.ip);
    rejectUnusable(person);
    const { remember, browser } = request;
    if (person.secondFactors.length > 0) return tickets.make(person, 'password', remember, now);
    return await enter(person, remember, { passwordHash: person.passwordHash ?? '', browser }, now);
  }

  async function openWithProvider(request: ProviderSignIn, now: Date): Promise<Opened | HalfSignedIn> {
    const { accountId, provider, askedAt, remember, browser } = request;
    const person = await callers.personWithId(accountId);
    if (!person) throw wrongCredential();
    rejectUnusable(person);
    const hasFactors = person.secondFactors.length > 0;
    // The operator of the provider could claim the address of any user, and with it get past the factor that is here.
    const hasSecondFactor = request.hasSecondFactor && !(hasFactors && request.isByAddress);
    if (hasFactors && !hasSecondFactor) {
      const half = tickets.make(person, provider, remember, now);
      await sessions.park({ hash: half.parked, accountId, provider, expiresAt: half.expiresAt });
      return half;
    }
    const method = hasSecondFactor ? 'trusted_provider' : 'provider';
    // A user who comes back to a browser that is still signed in at the provider has proven nothing, and a provider that
    // does not say when it last asked may not have asked at all.
    const provenAt = askedAt === undefined ? NEVER : askedAt < now ? askedAt : now;
    return await enter(person, remember, { provider, method, provenAt, browser }, now);
  }

  /** Where every sign-in ends, after its second step if there is one: opens the session. */
  async function enter(person: Person, remember: boolean, opening: Opening, now: Date): Promise<Opened> {
    rejectUnusable(person);
    const session = await sessions.open(person.id, remember, now, opening);
    await users.signedIn(person.id, now);
    return { person: { ...person, lastLoginAt: now }, session };
  }

  /** A session may do everything, so a token that may do less cannot open one. */
  async function openWithToken({ token: text, remember, browser }: TokenSignIn, now: Date): Promise<Opened> {
    const { person, tokenId, robot, scopes, limits, expiresAt } = await callers.byToken(text, now);
    if (robot !== null) throw new AppError('forbidden', 'robot accounts cannot sign in', { reason: 'not_for_robots' });
    rejectUnusable(person);
    if (!scopesAllow(scopes, 'all')) {
      throw new AppError(
        'forbidden',
        `signing in requires a token with the scope all, token scope=${scopes.join(',')}`,
      );
    }
    if (limits) {
      throw new AppError('forbidden', 'signing in requires a token without limits', { reason: 'token_limited' });
    }
    return await enter(person, remember, { token: { id: tokenId, expiresAt }, browser }, now);
  }
}

/** The answer to a first factor that is right, if it is not enough. */
export function secondFactorNeeded({ factors }: HalfSignedIn): AppError {
  return new AppError('unauthenticated', 'a second factor is needed: finish with POST /user/signin/factor', {
    reason: 'second_factor_required',
    secondFactor: signInMethods(factors),
  });
}

/** Clients of this API family get a 404 if the name or the password is wrong, and so do those that send a token. */
export function asUnknown(what: 'user' | 'token', error: unknown): unknown {
  if (!(error instanceof AppError && error.kind === 'unauthenticated')) return error;
  return what === 'user'
    ? new AppError('notFound', 'user does not exist, or the password is wrong', { reason: 'user_not_found' })
    : new AppError('notFound', 'the token does not exist, or it has expired', { reason: 'token_not_found' });
}
