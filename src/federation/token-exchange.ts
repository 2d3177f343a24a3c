import { hash } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import type { OutsideToken } from '../changes/audit-entry.ts';
import { SCOPES, scopesCover } from '../identity/scopes.ts';
import {
  checkClaims,
  expiryOf,
  findSigner,
  type IssuerKeys,
  outsideTokenOf,
  type SignatureVerifier,
  SKEW_S,
} from './outside-token.ts';
import { type OutsideTokenText, readOutsideToken } from './outside-token-text.ts';
import type { TrustRule } from './trust-rule.ts';

/** A robot as a token request names it. */
export interface NamedRobot {
  readonly id: bigint;
  readonly name: string;
  readonly organizationId: bigint;
}

/** What a token is issued for. */
export interface Exchange {
  readonly robot: NamedRobot;
  readonly rule: TrustRule;
  readonly outside: OutsideToken;
  readonly scopes: readonly string[];
  /** Empty if the outside token may be used again. */
  readonly spent: readonly Buffer[];
  /** From then on, the outside token is not accepted anyway. */
  readonly spentUntil: Date;
  /** The issued token ends by then at the latest. */
  readonly endsBy: Date | null;
  readonly requestId: string;
}

export interface ExchangedToken {
  readonly text: string;
  readonly scopes: readonly string[];
  readonly expiresIn: number;
}

export interface TokenExchangeStore {
  robotNamed(organization: string, robot: string): Promise<NamedRobot | undefined>;
  /** Ordered by ID. */
  rulesOf(robotId: bigint): Promise<TrustRule[]>;
  isSpent(hashes: readonly Buffer[]): Promise<boolean>;
  /** Undefined if the outside token was used, or the rule has changed. */
  issue(exchange: Exchange): Promise<ExchangedToken | undefined>;
}

export interface TokenRequest {
  /** The robot: `acme/deploy`. */
  readonly clientId: string;
  readonly token: string;
  /** Undefined: all that the rule gives. */
  readonly scopes: readonly string[] | undefined;
}

interface Parts {
  readonly store: TokenExchangeStore;
  readonly keys: IssuerKeys;
  readonly verify: SignatureVerifier;
}

export type TokenExchange = ReturnType<typeof createTokenExchange>;

const CLIENT = /^([^/\s]{1,100})\/([^/\s]{1,100})$/;

/**
 * Gives a robot a token for one of another issuer.
 *
 * 1. Only rules of the robot that the request names are tried, in the order of their IDs. The first that fits counts.
 * 2. Whatever is wrong is rejected alike, so that a guesser learns nothing: neither which robots there are, nor which rules.
 * 3. Only what a rule has accepted is spent.
 * 4. What a token says is checked before the keys of its issuer are fetched, so that fewer requests cause one.
 */
export function createTokenExchange({ store, keys, verify }: Parts) {
  return { exchange };

  async function exchange(request: TokenRequest, now: Date, requestId: string): Promise<ExchangedToken> {
    const [, organization = '', name = ''] = CLIENT.exec(request.clientId) ?? [];
    const token = readOutsideToken(request.token);
    const robot = organization === '' ? undefined : await store.robotNamed(organization, name);
    if (robot === undefined || 'fault' in token) throw notAccepted();
    const rules = await store.rulesOf(robot.id);
    const fitting = rules.filter((rule) => checkClaims(rule, token, now).every(({ holds }) => holds));
    // All at the same time: each may have to ask a slow issuer.
    const found = await Promise.all(fitting.map((rule) => keys.find(rule, token.kid)));
    for (const [place, rule] of fitting.entries()) {
      const signer = await findSigner(token, found[place] ?? { keys: [] }, verify);
      const outside = outsideTokenOf(rule, token);
      if ('fault' in signer || outside === undefined) continue;
      const spent = rule.singleUse ? spentBy(token, signer.fingerprint) : [];
      if (spent.length > 0 && (await store.isSpent(spent))) continue;
      const scopes = scopesWithin(rule, request.scopes);
      const expiresAt = expiryOf(token);
      const spentUntil = new Date(expiresAt.getTime() + SKEW_S * 1000);
      const endsBy = rule.singleUse ? null : expiresAt;
      const issued = await store.issue({ robot, rule, outside, scopes, spent, spentUntil, endsBy, requestId });
      if (issued) return issued;
    }
    throw notAccepted();
  }
}

/**
 * By what a token is known once it was used. Not by its text: the signature can be written in several ways. A `jti` is
 * that of the key that signed it, because two issuers can have the same name.
 */
export function spentBy({ signed, claims }: OutsideTokenText, fingerprint: string): Buffer[] {
  const of = (...parts: readonly string[]) => hash('sha256', JSON.stringify(['outside token', ...parts]), 'buffer');
  const whole = of('text', signed);
  return typeof claims.jti === 'string' ? [whole, of('jti', String(claims.iss), fingerprint, claims.jti)] : [whole];
}

function scopesWithin({ scopes }: TrustRule, wanted: readonly string[] | undefined): readonly string[] {
  if (wanted === undefined) return scopes;
  if (wanted.every((scope) => SCOPES.includes(scope)) && scopesCover(scopes, wanted)) return wanted;
  throw new AppError('invalid', 'the scope is beyond that of the trust rule', { oauthError: 'invalid_scope' });
}

function notAccepted(): AppError {
  return new AppError('unauthenticated', 'the token is not accepted for this client');
}
