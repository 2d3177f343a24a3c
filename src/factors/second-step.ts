import { createHash } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { type Callers, type Person, passwordsOff, wrongCredential } from '../identity/callers.ts';
import { verifyAbsentPassword, verifyPassword } from '../identity/passwords/passwords.ts';
import type { SessionMethod } from '../identity/sessions/proof-kinds.ts';
import type { Browser } from '../identity/sessions/sessions.ts';
import { parkedAs, type SignInTickets, signInExpired, type Ticket } from '../identity/sign-in-ticket.ts';
import type { Opened, SignIn } from '../users/sign-in.ts';
import type { Challenge, UsedProof } from './challenges.ts';
import type { Factors } from './factors.ts';
import type { PasskeyAnswer, Passkeys } from './passkeys.ts';
import { type Totps, wrongCode } from './totp.ts';

/** What a user shows besides a password. */
export type Answer =
  | { readonly code: string }
  | { readonly recoveryCode: string }
  | { readonly passkey: PasskeyAnswer };

/** What the browser of a request shows, in cookies that no script sees. */
export interface Shown {
  readonly ticket?: string | undefined;
  readonly ceremony: string | undefined;
}

/** Counts failures for a name and an address, and slows down clients that guess. */
type Guard = <T>(login: string, address: string, attempt: () => Promise<T>) => Promise<T>;

interface SecondStepOptions {
  readonly callers: Pick<Callers, 'personSigningIn'>;
  readonly tickets: Pick<SignInTickets, 'read'>;
  readonly signIn: Pick<SignIn, 'enter'>;
  readonly factors: Pick<Factors, 'useRecoveryCode'>;
  readonly passkeys: Passkeys;
  readonly totps: Pick<Totps, 'check'>;
  /** False if the ticket was used before. */
  readonly useTicket: (proof: UsedProof) => Promise<boolean>;
  readonly hasPasswords: boolean;
  /** Whether people can sign in with the provider of this name. */
  readonly isProviderOpen: (name: string) => Promise<boolean>;
  readonly guarded: Guard;
  /** The same by address alone, for callers who gave no name. */
  readonly guardedPlace: <T>(address: string, attempt: () => Promise<T>) => Promise<T>;
}

type Offer = Promise<{ readonly options: object; readonly challenge: Challenge }>;

export type SecondStep = ReturnType<typeof createSecondStep>;

/**
 * How a sign-in ends that needs more than a password, or none at all.
 *
 * 1. The ticket of the first step is in a cookie of the browser that took it. It names its user, so no other user can finish
 *    the sign-in of another person, whatever they know of their own.
 * 2. The session is a new one in any case: none that the browser had before gets any rights.
 * 3. A ticket works once, and so does each code, recovery code and challenge.
 */
export function createSecondStep(parts: SecondStepOptions) {
  const { callers, tickets, signIn, factors, passkeys, totps, useTicket, hasPasswords } = parts;
  const { isProviderOpen, guarded, guardedPlace } = parts;
  return { offerPasskey, finish, openWithPasskey, offerToCaller, prove };

  /** With a ticket: a passkey of its user, for the second step. Without one: any passkey, instead of a password. */
  async function offerPasskey(ticketText: string | undefined, now: Date): Offer {
    if (ticketText === undefined) return await passkeys.request(SIGN_IN, undefined, true, now);
    const ticket = tickets.read(ticketText, now);
    return await passkeys.request(secondStepOf(ticket), ticket.accountId, false, now);
  }

  async function finish(answer: Answer, shown: Shown, from: Browser, requestId: string, now: Date): Promise<Opened> {
    const ticket = tickets.read(shown.ticket, now);
    const person = await callers.personSigningIn(ticket.login);
    if (!ticket.fits(person)) throw signInExpired();
    if (ticket.first !== 'password' && !(await isProviderOpen(ticket.first.provider))) throw signInExpired();
    const actor = { id: person.id, name: person.login, requestId };
    const bearer = { ...secondStepOf(ticket), browser: shown.ceremony };
    const method = await guarded(guardedName(person), from.ip, () =>
      check(person, answer, bearer, { isVerified: false, actor, now }),
    );
    const proof = { hash: createHash('sha256').update(`ticket ${ticket.id}`).digest(), expiresAt: ticket.expiresAt };
    if (!(await useTicket(proof))) throw signInExpired();
    const { first, remember } = ticket;
    const proven =
      first === 'password'
        ? { passwordHash: person.passwordHash ?? '' }
        : {
            provider: { ...first, sealedIdToken: undefined, sealedRefreshToken: undefined },
            parked: parkedAs(ticket.id),
          };
    const opened = await signIn
      .enter(person, remember, { ...proven, method, browser: from }, now)
      .catch((error: unknown) => {
        // The first factor is gone since it was checked.
        throw error instanceof AppError && error.kind === 'unauthenticated' ? signInExpired() : error;
      });
    return opened;
  }

  /** A passkey instead of a name and a password: a user who unlocks it has something and knows or is something. */
  async function openWithPasskey(
    answer: PasskeyAnswer,
    ceremony: string | undefined,
    { remember, from, now }: { readonly remember: boolean; readonly from: Browser; readonly now: Date },
  ): Promise<Opened> {
    const bearer = { ...SIGN_IN, browser: ceremony };
    const { accountId, login } = await guardedPlace(from.ip, () =>
      passkeys.check(answer, bearer, { isVerified: true }, now),
    );
    const person = await callers.personSigningIn(login);
    if (person?.id !== accountId) throw wrongCredential();
    return await signIn.enter(person, remember, { method: 'passkey', browser: from }, now);
  }

  /** For a user who is signed in, and has to prove again who they are. */
  async function offerToCaller({ id }: Person, sessionId: bigint, now: Date): Offer {
    return await passkeys.request(reauthenticationOf(sessionId), id, true, now);
  }

  /** Returns how they did. */
  async function prove(person: Person, given: Answer | { readonly password: string }, around: Around, now: Date) {
    if ('password' in given) {
      if (!hasPasswords) throw passwordsOff();
      // A stolen session and the password would be as good as the second factor, and could remove it.
      if (person.secondFactors.length > 0) throw factorNeeded(person);
      await guarded(person.login, around.address, async () => {
        const isRight = person.passwordHash
          ? await verifyPassword(given.password, person.passwordHash, around.address)
          : await verifyAbsentPassword(given.password, around.address);
        if (!isRight) throw wrongCredential();
      });
      return 'password' as const;
    }
    const bearer = { ...reauthenticationOf(around.sessionId), browser: around.ceremony };
    return await guarded(guardedName(person), around.address, () =>
      check(person, given, bearer, { isVerified: true, actor: around.actor, now }),
    );
  }

  async function check(
    person: Person,
    answer: Answer,
    bearer: Parameters<Passkeys['check']>[1],
    { isVerified, actor, now }: { readonly isVerified: boolean; readonly actor: Actor; readonly now: Date },
  ): Promise<SessionMethod> {
    if ('code' in answer) {
      await totps.check(person, answer.code, actor, now);
      return 'totp';
    }
    if ('recoveryCode' in answer) {
      if (!(await factors.useRecoveryCode(person, answer.recoveryCode, actor))) throw wrongCode();
      return 'recovery_code';
    }
    await passkeys.check(answer.passkey, bearer, { accountId: person.id, isVerified }, now);
    return 'passkey';
  }
}

interface Around {
  readonly sessionId: bigint;
  readonly ceremony: string | undefined;
  readonly address: string;
  readonly actor: Actor;
}

function factorNeeded({ secondFactors }: Person): AppError {
  const message = 'a password is not enough, because you have a second factor: use that';
  return new AppError('forbidden', message, { reason: 'second_factor_required', secondFactor: secondFactors });
}

const SIGN_IN = { purpose: 'sign in', subject: '' } as const;

function secondStepOf({ id }: Pick<Ticket, 'id'>) {
  return { purpose: 'second step', subject: id } as const;
}

function reauthenticationOf(sessionId: bigint) {
  return { purpose: 'reauthenticate', subject: String(sessionId) } as const;
}

/** Wrong codes do not use up the allowance that a client without the password can use up. No login name has a space. */
function guardedName({ login }: Person): string {
  return `second factor of ${login}`;
}
