import { createHash, randomBytes } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import type { SignedTexts } from '../base/signed-text.ts';
import type { Person } from './callers.ts';
import type { FactorKind } from './sessions/proof-kinds.ts';
import type { SessionProvider } from './sessions/sessions.ts';

/** What the first factor was: the password, or the word of a provider. */
export type FirstFactor = 'password' | KnownProvider;

/** Without its tokens, which are too long for a cookie. They wait in the database. */
type KnownProvider = Omit<SessionProvider, 'sealedIdToken' | 'sealedRefreshToken'>;

/** A sign-in whose first factor was right, and whose second one is still missing. */
export interface Ticket {
  readonly login: string;
  readonly accountId: bigint;
  readonly first: FirstFactor;
  readonly remember: boolean;
  /** No two tickets have the same, and it works once. */
  readonly id: string;
  readonly expiresAt: Date;
}

/** The first factor is right, and a second one is needed. */
export interface HalfSignedIn {
  readonly ticket: string;
  /** Where the tokens of the provider wait, if it was the first factor. */
  readonly parked: Buffer;
  readonly expiresAt: Date;
  readonly factors: readonly FactorKind[];
}

interface Content {
  readonly login: string;
  readonly account: string;
  readonly first: FirstFactor;
  readonly remember: boolean;
  readonly password: string;
  readonly id: string;
  readonly end: number;
}

export type SignInTickets = ReturnType<typeof createSignInTickets>;

const LIFE_MS = 5 * 60_000;

/**
 * What a browser keeps between the two steps of a sign-in. It is not a session: it opens nothing but the second step.
 * It ends with the password that it was given for.
 */
export function createSignInTickets(texts: SignedTexts) {
  return { make, read };

  function make(person: Person, first: FirstFactor, remember: boolean, now: Date): HalfSignedIn {
    const expiresAt = new Date(now.getTime() + LIFE_MS);
    const { login, id } = person;
    const content: Content = {
      ...{ login, account: String(id), first: withoutTokens(first), remember, password: fingerprint(person) },
      id: randomBytes(16).toString('base64url'),
      end: expiresAt.getTime(),
    };
    const ticket = texts.make(JSON.stringify(content), expiresAt);
    return { ticket, parked: parkedAs(content.id), expiresAt, factors: person.secondFactors };
  }

  /** Throws if the text is not a ticket, or if it has expired. */
  function read(text: string | undefined, now: Date): Ticket & { fits(person: Person | undefined): person is Person } {
    const content = text === undefined ? undefined : texts.read(text, now);
    if (content === undefined) throw signInExpired();
    const { login, account, first, remember, password, id, end } = JSON.parse(content) as Content;
    const accountId = BigInt(account);
    return {
      ...{ login, accountId, first, remember, id, expiresAt: new Date(end) },
      fits: (person): person is Person => person?.id === accountId && fingerprint(person) === password,
    };
  }
}

function withoutTokens(first: FirstFactor): FirstFactor {
  if (first === 'password') return first;
  const { provider, issuer, subject, sid, canBeAsked, refreshMs, terms } = first;
  return { provider, issuer, subject, sid, canBeAsked, refreshMs, terms };
}

/** Where the tokens wait that belong to the ticket with this ID. */
export function parkedAs(id: string): Buffer {
  return createHash('sha256').update(`parked ${id}`).digest();
}

/** The name may belong to another user by now, or the password may have changed. */
export function signInExpired(): AppError {
  const message = 'the sign-in has expired or was finished already: sign in again';
  return new AppError('unauthenticated', message, { reason: 'sign_in_expired' });
}

/** Changes with the password. The hash itself must not leave the server, not even sealed. */
function fingerprint({ passwordHash }: Person): string {
  return createHash('sha256')
    .update(`sign-in ${passwordHash ?? ''}`)
    .digest('base64url');
}
