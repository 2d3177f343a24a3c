import type { OutsideToken } from '../changes/audit-entry.ts';
import type { OutsideTokenText, UnreadableToken } from './outside-token-text.ts';
import { fits, type PublicKey } from './public-keys.ts';
import type { TrustRule } from './trust-rule.ts';
import { pointerParts } from './trust-rule-input.ts';

/** One thing that a rule asks of a token. */
export interface TokenCheck {
  readonly what: 'signature' | 'issuer' | 'audience' | 'expiry' | 'used' | 'claim';
  /** The name of the claim, with `claim`. */
  readonly claim?: string;
  readonly wanted: string;
  /** Null if the token does not have it. */
  readonly got: string | null;
  readonly holds: boolean;
}

export interface IssuerKeys {
  /** The keys of the issuer of a rule, or why there are none. They are read again for a `kid` that is not among them. */
  find(
    rule: Pick<TrustRule, 'id' | 'issuer' | 'jwks'>,
    kid: string | undefined,
  ): Promise<{ readonly keys: readonly PublicKey[] } | { readonly fault: string }>;
}

/** Whether a signature is that of a key. */
export type SignatureVerifier = (token: OutsideTokenText, key: PublicKey) => Promise<boolean>;

/** By how much the clock of an issuer may differ from ours. */
export const SKEW_S = 60;
/** A token that works longer is a stored secret. */
const MAX_LIFE_S = 24 * 3600;
/** The same for a token that works more than once. */
const MAX_REUSED_LIFE_S = 3600;
/** Trying one takes time, and a token without `kid` names none. */
const MAX_TRIED_KEYS = 20;
const MAX_SHOWN = 300;
const MAX_SUBJECT = 1000;

type Claims = Readonly<Record<string, unknown>>;

/** Everything that the token itself says. Its signature, and whether it was used, take longer to find out. */
export function checkClaims(rule: TrustRule, token: OutsideTokenText | UnreadableToken, now: Date): TokenCheck[] {
  const claims: Claims = 'fault' in token ? {} : token.claims;
  return [
    { what: 'issuer', wanted: rule.issuer, got: shown(claims.iss), holds: claims.iss === rule.issuer },
    { what: 'audience', wanted: rule.audience, got: shown(claims.aud), holds: isFor(claims.aud, rule.audience) },
    checkExpiry(rule, claims, now),
    ...Object.entries(rule.claims).map(([claim, wanted]): TokenCheck => {
      const value = valueAt(claims, claim);
      return { what: 'claim', claim, wanted, got: shown(value), holds: matches(value, wanted) };
    }),
  ];
}

function checkExpiry({ singleUse }: TrustRule, claims: Claims, now: Date): TokenCheck {
  const { exp, iat, nbf } = claims;
  const most = singleUse ? MAX_LIFE_S : MAX_REUSED_LIFE_S;
  const wanted = `valid now, and for at most ${most / 3600} ${most === 3600 ? 'hour' : 'hours'} in all`;
  const got = `iat ${momentText(iat)}, exp ${momentText(exp)}${nbf === undefined ? '' : `, nbf ${momentText(nbf)}`}`;
  const seconds = now.getTime() / 1000;
  const isDated = isMoment(exp) && isMoment(iat) && (nbf === undefined || isMoment(nbf));
  const holds =
    isDated &&
    exp > iat &&
    exp - iat <= most &&
    exp > seconds - (singleUse ? SKEW_S : 0) &&
    iat <= seconds + SKEW_S &&
    (nbf === undefined || nbf <= seconds + SKEW_S);
  return { what: 'expiry', wanted, got: exp === undefined && iat === undefined ? null : got, holds };
}

/** The key that the token is signed with, or why no key of the issuer fits. */
export async function findSigner(
  token: OutsideTokenText,
  found: Awaited<ReturnType<IssuerKeys['find']>>,
  verify: SignatureVerifier,
): Promise<PublicKey | { readonly fault: string }> {
  if ('fault' in found) return found;
  const { kid, algorithm } = token;
  const named = found.keys.filter((key) => kid === undefined || key.kid === kid);
  if (named.length === 0) {
    return { fault: kid === undefined ? 'the issuer has no keys' : `the issuer has no key ${shown(kid)}` };
  }
  const fitting = named.filter((key) => fits(key, algorithm)).slice(0, MAX_TRIED_KEYS);
  if (fitting.length === 0) return { fault: `the issuer has no such key for the algorithm ${algorithm}` };
  for (const key of fitting) if (await verify(token, key)) return key;
  return { fault: 'the signature is not that of a key of the issuer' };
}

/** What the audit log says about the token. Undefined if it cannot be said. */
export function outsideTokenOf(rule: TrustRule, { claims }: OutsideTokenText): OutsideToken | undefined {
  const { sub = null, jti = null } = claims;
  const isSayable = (value: unknown): value is string | null =>
    value === null ||
    (typeof value === 'string' && value.length <= MAX_SUBJECT && !value.includes('\0') && value.isWellFormed());
  if (!isSayable(sub) || !isSayable(jti)) return undefined;
  return { issuer: rule.issuer, subject: sub, rule: rule.id, jti };
}

/** When the token expires. For one whose expiry has been checked. */
export function expiryOf({ claims }: OutsideTokenText): Date {
  return new Date(Number(claims.exp) * 1000);
}

function isFor(audience: unknown, wanted: string): boolean {
  if (!Array.isArray(audience)) return audience === wanted;
  return audience.every((one) => typeof one === 'string') && audience.includes(wanted);
}

/** By its name, or by a JSON pointer to a nested one. */
function valueAt(claims: Claims, name: string): unknown {
  if (!name.startsWith('/')) return own(claims, name);
  let value: unknown = claims;
  for (const part of pointerParts(name)) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    value = own(value as Claims, part);
  }
  return value;
}

function own(object: Claims, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * Texts exactly, numbers and booleans by their JSON. A list or an object is never what a text says, and neither is a
 * number that is not exact here: several such IDs would be read as the same one.
 */
function matches(value: unknown, wanted: string): boolean {
  const isExact = typeof value === 'number' && (Number.isSafeInteger(value) || !Number.isInteger(value));
  const isPlain = typeof value === 'string' || typeof value === 'boolean' || isExact;
  if (!isPlain) return false;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return wanted.endsWith('*') ? text.startsWith(wanted.slice(0, -1)) : text === wanted;
}

function isMoment(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= 253_402_300_799;
}

function momentText(value: unknown): string {
  if (value === undefined) return 'missing';
  return isMoment(value) ? new Date(Math.floor(value) * 1000).toISOString().replace('.000Z', 'Z') : 'not a time';
}

function shown(value: unknown): string | null {
  if (value === undefined) return null;
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.toWellFormed().slice(0, MAX_SHOWN);
}
