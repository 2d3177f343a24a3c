import { AppError, invalidField } from '../../base/errors.ts';
import type { Actor } from '../../changes/audit-entry.ts';
import { type Person, passwordsOff, wrongCredential } from '../callers.ts';
import type { SessionMethod } from '../sessions/proof-kinds.ts';
import { reauthenticationNeeded } from '../sessions/reauthentication.ts';
import { requirePassword } from './new-password.ts';
import { hashPassword, verifyAbsentPassword, verifyPassword } from './passwords.ts';

/** What a request says about how its caller was identified. */
export interface Proof {
  readonly via: 'token' | 'password' | 'session';
  /** The session of the request. It survives the change. */
  readonly session?: { readonly id: bigint; readonly provenAt: Date; readonly method: SessionMethod } | undefined;
}

export interface PasswordRequest {
  readonly person: Person;
  readonly proof: Proof;
  readonly current: string | undefined;
  readonly wanted: string;
  /** Where the request came from. */
  readonly address: string;
  readonly actor: Actor;
}

export interface PasswordDraft {
  readonly accountId: bigint;
  readonly passwordHash: string;
  /** What the current password was compared with; null if there was none. */
  readonly expected: string | null;
  readonly keptSession: bigint | undefined;
  /** Whether the user has proven who they are. */
  readonly isProven: boolean;
}

export interface PasswordChangeStore {
  /**
   * Rejects if the password changed meanwhile, and a first password of a user who has proven nothing, but could
   * have at a provider. Ends all sessions but the kept one.
   */
  change(draft: PasswordDraft, actor: Actor): Promise<'done' | 'changed meanwhile' | 'unproven'>;
}

/** Wraps an attempt to prove a password, and counts failures. */
type Guard = <T>(login: string, address: string, attempt: () => Promise<T>) => Promise<T>;

export type PasswordChange = ReturnType<typeof createPasswordChange>;

const FRESH_MS = 10 * 60_000;

/** How users set their own password. A session left open on a shared machine cannot set one. */
export function createPasswordChange(store: PasswordChangeStore, guarded: Guard, hasPasswords = true) {
  return async function change(request: PasswordRequest, now: Date): Promise<void> {
    if (!hasPasswords) throw passwordsOff();
    const { person, proof, current, wanted, address, actor } = request;
    requirePassword(wanted, 'new');
    // A caller who knows only the password must not be able to lock out the user with a new one.
    if (person.secondFactors.length > 0 && !isProven(proof, now)) throw reauthenticationNeeded();
    if (current !== undefined) await prove(person, current, address);
    else if (person.passwordHash !== null && !isProven(proof, now)) throw currentNeeded(proof);
    const expected = person.passwordHash;
    const draft = { accountId: person.id, passwordHash: await hashPassword(wanted), expected };
    const state = { keptSession: proof.session?.id, isProven: current !== undefined || isProven(proof, now) };
    const outcome = await store.change({ ...draft, ...state }, actor);
    if (outcome === 'unproven') throw signInFirst();
    if (outcome === 'changed meanwhile') {
      throw new AppError('conflict', 'the password was changed at the same moment: try again');
    }
  };

  async function prove({ login, passwordHash }: Person, current: string, address: string): Promise<void> {
    try {
      await guarded(login, address, async () => {
        const isRight = passwordHash
          ? await verifyPassword(current, passwordHash, address)
          : await verifyAbsentPassword(current, address);
        if (!isRight) throw wrongCredential();
      });
    } catch (error) {
      if (!(error instanceof AppError && error.kind === 'unauthenticated')) throw error;
      throw invalidField('current', 'the current password is wrong', 'wrong_password');
    }
  }
}

/**
 * Whether the user was there just now: with the request, or in its session. A session that was opened with a token
 * proves only the token, and a token must not become a password. The clock of another replica, which opened the
 * session, may be ahead.
 */
function isProven({ via, session }: Proof, now: Date): boolean {
  if (via === 'password') return true;
  if (via === 'token' || session === undefined || session.method === 'token') return false;
  return Math.abs(now.getTime() - session.provenAt.getTime()) < FRESH_MS;
}

/** A user who has signed in with a provider can do so again. A token that they have created must not become a password. */
function signInFirst(): AppError {
  const message = 'sign in with your provider again to set a first password';
  return new AppError('forbidden', message, { reason: 'reauthentication_required' });
}

function currentNeeded({ via, session }: Proof): AppError {
  const isOld = via === 'session' && session?.method !== 'token';
  const why = isOld ? 'you signed in more than 10 minutes ago' : 'a token does not prove that you know it';
  return invalidField('current', `the current password is required, because ${why}`, 'wrong_password');
}
