import type { FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';
import { type Callers, type Person, personWithin, type TokenGrant } from '../../identity/callers.ts';
import { signInMethods } from '../../identity/sessions/proof-kinds.ts';
import type { SessionUsage } from '../../identity/sessions/session-usage.ts';
import type { TokenUsage } from '../../identity/tokens/token-usage.ts';
import type { Brake } from '../limits/brake.ts';
import { type Caller, isSafe, type SignedAccess } from './access.ts';
import type { Credential } from './credential.ts';

export interface IdentifyOptions {
  readonly callers: Callers;
  readonly tokenUsage: Pick<TokenUsage, 'note'>;
  readonly sessionUsage: Pick<SessionUsage, 'note'>;
  readonly brake: Brake;
  /** How long a sign-in counts as recent for sensitive actions. */
  readonly provenMs: number;
}

/** Finds out whose credential a request carries. Whether the route accepts this caller, admission.ts decides. */
export function createIdentify({ callers, tokenUsage, sessionUsage, brake, provenMs }: IdentifyOptions) {
  const callersOf = new WeakMap<TokenGrant, Caller>();
  return { identify, callerOfToken };

  async function identify(credential: Credential, request: FastifyRequest, access: SignedAccess): Promise<Caller> {
    const now = new Date();
    switch (credential.kind) {
      case 'none':
        throw new AppError('unauthenticated', 'token is required');
      case 'token': {
        const grant = await callers.byToken(credential.text, now, (look) => brake.token(request.ip, look));
        const caller = callerOfToken(grant);
        if (grant.robot !== null && access.robots === 'never') {
          request.identified = caller;
          // No scope would help, so this comes first.
          throw notForRobots();
        }
        tokenUsage.note(grant.tokenId, now);
        return caller;
      }
      case 'password': {
        const { login, password } = credential;
        const person = await brake.password(login, request.ip, () => callers.byPassword(login, password, request.ip));
        // Not before the password is right: a guesser does not learn that there is a second factor.
        if (person.secondFactors.length > 0) throw passwordIsNotEnough(person);
        return { person, via: 'password', credentialKey: `p${person.id}`, scopes: ['all'], until: null };
      }
      case 'session': {
        const grant = await callers.bySession(credential.text, now);
        // What a proxy asks changes nothing.
        const isSafeCall = isSafe(request.method) || access.isForProxies === true;
        if (!isSafeCall && credential.csrf !== grant.csrf) {
          throw new AppError('forbidden', 'the X-Csrf-Token header must repeat the value of the _csrf cookie');
        }
        const { person, csrf, token, sessionId, createdAt, expiresAt, method, provenAt } = grant;
        // A token is not the second factor that its owner has.
        const isHalf = method === 'token' && person.secondFactors.length > 0;
        const provenUntil = new Date(provenAt.getTime() + (isHalf ? 0 : provenMs));
        // A stream that a forgotten page keeps open is no use.
        if (!access.lasts) sessionUsage.note(sessionId, now);
        const session = { id: sessionId, createdAt, expiresAt, method, provenAt, provenUntil };
        const known = {
          person,
          via: 'session',
          credentialKey: `p${person.id}`,
          scopes: ['all'],
          csrf,
          session,
        } as const;
        return token === null ? { ...known, until: null } : { ...known, tokenId: token.id, until: token.expiresAt };
      }
    }
  }

  /** The same for all requests with this token, until something about it changes. */
  function callerOfToken(grant: TokenGrant): Caller {
    const known = callersOf.get(grant);
    if (known !== undefined) return known;
    const { robot, scopes, limits, tokenId, expiresAt: until, outside, delegate } = grant;
    const person = limits ? personWithin(grant.person, limits) : grant.person;
    const more = {
      ...(delegate !== undefined && { delegate }),
      ...(robot !== null && { robot, ...(outside && { outside }) }),
      ...(limits && { limits, owner: grant.person }),
    };
    const caller: Caller = { person, via: 'token', credentialKey: `t${tokenId}`, scopes, tokenId, until, ...more };
    callersOf.set(grant, caller);
    return caller;
  }
}

function notForRobots(): AppError {
  return new AppError('forbidden', 'robot accounts cannot call this route', { reason: 'not_for_robots' });
}

function passwordIsNotEnough({ login, secondFactors }: Person): AppError {
  const message = `the password of ${login} is not enough, because there is a second factor: use an access token`;
  return new AppError('unauthenticated', message, {
    reason: 'second_factor_required',
    secondFactor: signInMethods(secondFactors),
  });
}
