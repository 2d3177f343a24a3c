import { AppError } from '../base/errors.ts';
import { type Callers, type Person, refuseUnusable } from '../identity/callers.ts';
import { scopesAllow } from '../identity/scopes.ts';
import type { Browser, Session, SessionProvider, Sessions } from '../identity/sessions.ts';
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

/** Somebody whom a provider has proven to be the owner of an account. */
export interface ProviderSignIn {
  readonly accountId: bigint;
  readonly provider: SessionProvider;
  /** The administrator trusts the provider to have asked for a second factor. */
  readonly hasSecondFactor: boolean;
  readonly remember: boolean;
  readonly browser: Browser;
}

interface Opened {
  readonly person: Person;
  readonly session: Session;
}

export type SignIn = ReturnType<typeof createSignIn>;

/** Browser sessions: opened with a password, a token or a provider, and ended permanently by signing out. */
export function createSignIn(
  callers: Pick<Callers, 'byPassword' | 'byToken'>,
  users: Pick<Users, 'signedIn'>,
  sessions: Sessions,
) {
  return { open, openWithToken, openWithProvider, close: sessions.close };

  async function open(request: SignInRequest, now: Date): Promise<Opened> {
    const person = await callers.byPassword(request.username, request.password, request.browser.ip);
    refuseUnusable(person);
    const opening = { passwordHash: person.passwordHash ?? '', browser: request.browser };
    return await signedIn(person, await sessions.open(person.id, request.remember, now, opening), now);
  }

  /** A session may do everything, so a token that may do less cannot open one. */
  async function openWithToken({ token: text, remember, browser }: TokenSignIn, now: Date): Promise<Opened> {
    const { person, tokenId, robotId, scopes, limits, expiresAt } = await callers.byToken(text, now);
    if (robotId !== null) throw new AppError('forbidden', 'robot accounts cannot sign in');
    refuseUnusable(person);
    if (!scopesAllow(scopes, 'all')) {
      throw new AppError(
        'forbidden',
        `signing in requires a token with the scope all, token scope=${scopes.join(',')}`,
      );
    }
    if (limits) {
      throw new AppError('forbidden', 'signing in requires a token without limits', { reason: 'token_limited' });
    }
    const opening = { token: { id: tokenId, expiresAt }, browser };
    return await signedIn(person, await sessions.open(person.id, remember, now, opening), now);
  }

  /** Whether the account may be used at all was decided when it was found. Every request decides that again. */
  async function openWithProvider(request: ProviderSignIn, now: Date): Promise<Session> {
    const { accountId, provider, remember, browser } = request;
    const session = await sessions.open(accountId, remember, now, { provider, browser });
    await users.signedIn(accountId, now);
    return session;
  }

  async function signedIn(person: Person, session: Session, now: Date): Promise<Opened> {
    await users.signedIn(person.id, now);
    return { person: { ...person, lastLoginAt: now }, session };
  }
}

/** Clients of this API family get a 404 if the name or the password is wrong, and so do those that send a token. */
export function asUnknown(what: 'user' | 'token', error: unknown): unknown {
  if (!(error instanceof AppError && error.kind === 'unauthenticated')) return error;
  return what === 'user'
    ? new AppError('notFound', 'user does not exist, or the password is wrong', { reason: 'user_not_found' })
    : new AppError('notFound', 'the token does not exist, or it has expired', { reason: 'token_not_found' });
}
