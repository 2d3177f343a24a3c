import { isStorable } from '../base/fields.ts';
import type { Provider } from './provider.ts';
import { signInFault } from './sign-in-fault.ts';

/** Who a user is at a provider, as the provider has proven just now. */
export interface ProviderIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  readonly fullName: string;
  /** What they are called there. */
  readonly username: string | undefined;
  /** Undefined if the provider says only that there are too many to list them. */
  readonly groups: readonly string[] | undefined;
  readonly sid: string | undefined;
  /** When the provider last asked who they are, if it says so. */
  readonly askedAt: Date | undefined;
  readonly idToken: string;
}

export type Claims = Readonly<Record<string, unknown>>;

type Fields = Pick<Provider, 'groupClaim' | 'trustEmail'>;

const MAX_GROUPS = 5000;
const MAX_TEXT = 500;

export function identityOf(provider: Fields, claims: Claims, idToken: string): ProviderIdentity {
  const { email_verified: verified } = claims;
  const says = verified === true || verified === 'true';
  return {
    issuer: String(claims.iss),
    subject: storable('sub', String(claims.sub)),
    email: textIn(claims, 'email'),
    isEmailVerified: says || (provider.trustEmail && verified === undefined),
    fullName: (textIn(claims, 'name') ?? '').replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 100),
    username: textIn(claims, 'preferred_username'),
    groups: groupsIn(claims, provider.groupClaim),
    sid: textIn(claims, 'sid'),
    askedAt: momentIn(claims, 'auth_time'),
    idToken,
  };
}

/** Whether everything that is needed is there already, so that the provider does not have to be asked for more. */
export function isComplete(provider: Fields, claims: Claims): boolean {
  const hasGroups = provider.groupClaim === '' || claimNamed(claims, provider.groupClaim) !== undefined;
  return textIn(claims, 'email') !== undefined && (hasGroups || isOverage(claims, provider.groupClaim));
}

/**
 * A claim that is missing means no groups: a user who has left all of them must not keep what they gave. Only if the
 * provider says that it left them out, nothing is known.
 */
function groupsIn(claims: Claims, claim: string): readonly string[] | undefined {
  if (claim === '') return [];
  if (isOverage(claims, claim)) return undefined;
  const value = claimNamed(claims, claim);
  const list = Array.isArray(value) ? value : value === undefined ? [] : [value];
  const groups = list.filter((one): one is string => typeof one === 'string' && one !== '').slice(0, MAX_GROUPS);
  return groups.map((group) => storable(claim, group));
}

/** A claim by its name, or by a path such as `realm_access.roles`. */
function claimNamed(claims: Claims, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return claims[claim];
  return claim.split('.').reduce<unknown>((value, part) => {
    const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, part);
    return isObject ? (value as Record<string, unknown>)[part] : undefined;
  }, claims);
}

/** Microsoft Entra sends no groups, but where to ask for them, for users who are in more than 200. */
function isOverage(claims: Claims, claim: string): boolean {
  const elsewhere = claims._claim_names;
  return typeof elsewhere === 'object' && elsewhere !== null && Object.hasOwn(elsewhere, claim);
}

/** In seconds, as JSON Web Tokens count time. */
function momentIn(claims: Claims, name: string): Date | undefined {
  const value = claims[name];
  return typeof value === 'number' && value >= 0 && value < 1e11 ? new Date(value * 1000) : undefined;
}

function textIn(claims: Claims, name: string): string | undefined {
  const value = claims[name];
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT ? storable(name, value) : undefined;
}

/** Two subjects that the database cannot tell apart must not become one account. */
export function storable(claim: string, text: string): string {
  if (isStorable(text)) return text;
  throw signInFault('sign_in_rejected', `the claim ${claim} contains NUL, or is not well-formed Unicode`);
}
