import { AppError } from '../base/errors.ts';
import { type Callers, type Person, refuseUnusable } from '../identity/callers.ts';
import type { Session, Sessions } from '../identity/sessions.ts';
import type { Users } from './users.ts';

export interface SignInRequest {
  readonly username: string;
  readonly password: string;
  readonly remember: boolean;
  /** Where the request came from. */
  readonly address: string;
}

export type SignIn = ReturnType<typeof createSignIn>;

/** Browser sessions: opened with a password, and ended permanently by signing out. */
export function createSignIn(callers: Pick<Callers, 'byPassword'>, users: Pick<Users, 'signedIn'>, sessions: Sessions) {
  return { open, close: sessions.close };

  async function open(request: SignInRequest, now: Date): Promise<{ person: Person; session: Session }> {
    const person = await callers.byPassword(request.username, request.password, request.address);
    refuseUnusable(person);
    const session = await sessions.open(person.id, request.remember, now, person.passwordHash ?? '');
    await users.signedIn(person.id, now);
    return { person: { ...person, lastLoginAt: now }, session };
  }
}

/** Clients of this API family get a 404 if the name or the password is wrong. */
export function asUnknownUser(error: unknown): unknown {
  const isWrong = error instanceof AppError && error.kind === 'unauthenticated';
  return isWrong
    ? new AppError('notFound', 'user does not exist, or the password is wrong', { reason: 'user_not_found' })
    : error;
}
