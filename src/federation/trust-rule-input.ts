import { invalidField } from '../base/errors.ts';
import { isStorable, readLineField } from '../base/fields.ts';
import { readPublicKeys } from './public-keys.ts';
import type { JsonWebKeySet, TrustRuleDraft } from './trust-rule.ts';

/** A trust rule as the request says it. Undefined fields get their defaults. */
export interface TrustRuleInput {
  readonly name: string;
  readonly issuer: string;
  readonly audience: string | undefined;
  readonly jwks: unknown;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly scopes: readonly string[] | undefined;
  readonly lifetime: string | undefined;
  readonly singleUse: boolean | undefined;
}

export interface TrustTerms {
  readonly baseUrl: string;
  /** Whether the operator has allowed networks where issuers may be called without TLS. */
  readonly allowsPlainHttp: boolean;
}

export const MAX_CLAIMS = 20;
export const MIN_LIFETIME_S = 60;
export const MAX_LIFETIME_S = 3600;
const MAX_TEXT = 500;
const MAX_NAME = 255;
const MAX_JWKS_BYTES = 64 * 1024;
/** What every token has, or what says nothing about who it is for. */
const NOT_BINDING = new Set(['iss', 'aud', 'exp', 'nbf', 'iat', 'jti']);
/** A prefix ends where a name ends, so that `repo:acme*` cannot match `repo:acme-evil/x`. */
const PREFIX = /[/:\-_.@]\*$/;
const DURATION = /^P(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?$/;

/** Everything but the scopes and limits, which depend on the caller. */
export function readTrustRule(
  input: TrustRuleInput,
  terms: TrustTerms,
): Omit<TrustRuleDraft, 'scopes' | 'limits' | 'singleUse'> & { readonly singleUse: boolean } {
  const jwks = readJwks(input.jwks);
  return {
    name: readLineField('name', input.name, MAX_NAME, 1),
    issuer: readIssuer(input.issuer, jwks !== undefined, terms),
    audience: readAudience(input.audience, terms),
    jwks,
    claims: readClaims(input.claims),
    lifetimeSeconds: input.lifetime === undefined ? MAX_LIFETIME_S : readLifetime(input.lifetime),
    singleUse: input.singleUse ?? true,
  };
}

/** Compared character for character with what tokens say, so it is kept as it was given. */
function readIssuer(text: string, hasKeys: boolean, { baseUrl, allowsPlainHttp }: TrustTerms): string {
  const issuer = readExact('issuer', text);
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (url !== undefined && URL.canParse(baseUrl) && url.origin === new URL(baseUrl).origin) {
    throw invalidField('issuer', 'issuer must not be this server: its tokens are not for signing in here');
  }
  // Nothing is fetched from an issuer whose keys are in the rule, so it can be any text but an address without TLS.
  if (hasKeys && (url?.protocol !== 'http:' || allowsPlainHttp)) return issuer;
  const isPlain = url && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (isPlain && (url.protocol === 'https:' || (url.protocol === 'http:' && allowsPlainHttp))) return issuer;
  if (hasKeys) throw invalidField('issuer', 'issuer must not be an http URL: use the https URL of the issuer');
  const advice = 'or give its public keys in jwks';
  throw invalidField('issuer', `issuer must be an https URL without a user, a query or a fragment, ${advice}`);
}

/** Every pod of a cluster has a token whose audience is that of the cluster. */
function readAudience(given: string | undefined, { baseUrl }: TrustTerms): string {
  const audience = readExact('audience', given ?? baseUrl);
  if (!audience.startsWith(`${baseUrl}/clusters/`)) return audience;
  throw invalidField('audience', 'audience must not be that of a cluster: every pod has tokens for it');
}

function readExact(field: string, text: string): string {
  const isExact = text.length >= 1 && text.length <= MAX_TEXT && text.trim() === text && isStorable(text);
  if (isExact && !/[\p{Cc}\u2028\u2029]/u.test(text)) return text;
  throw invalidField(field, `${field} must have 1 to ${MAX_TEXT} characters, without spaces around them`);
}

function readClaims(given: Readonly<Record<string, unknown>>): Record<string, string> {
  const entries = Object.entries(given);
  if (entries.length > MAX_CLAIMS) throw invalidField('claims', `claims must have at most ${MAX_CLAIMS} entries`);
  const claims = entries.map(([name, value]): [string, string] => [readClaimName(name), readClaimValue(name, value)]);
  if (!claims.some(([name]) => !NOT_BINDING.has(topLevel(name)))) {
    const message =
      'claims must name at least one claim that says who the token is for, such as repository_id or sub: ' +
      'every caller of the issuer has iss, aud, exp, nbf, iat and jti';
    throw invalidField('claims', message, 'no_binding_claim');
  }
  return Object.fromEntries(claims);
}

/** The claim itself for `iss` and `/iss`, and the outermost one for `/kubernetes.io/namespace`. */
function topLevel(name: string): string {
  return name.startsWith('/') ? (pointerParts(name)[0] ?? '') : name;
}

/** The parts of a JSON pointer (RFC 6901). */
export function pointerParts(pointer: string): string[] {
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function readClaimName(name: string): string {
  const isFit = name !== '' && name !== '/' && name.length <= MAX_TEXT && isStorable(name) && name !== '__proto__';
  if (isFit && !(name.startsWith('/') && /~(?![01])/.test(name))) return name;
  throw invalidField('claims', `not the name of a claim: ${JSON.stringify(name.slice(0, 60))}`);
}

function readClaimValue(name: string, value: unknown): string {
  const shown = JSON.stringify(name.slice(0, 60));
  if (typeof value !== 'string') {
    throw invalidField('claims', `the value of ${shown} must be text, also for a number: "123"`);
  }
  if (value === '' || value.length > MAX_TEXT || !isStorable(value)) {
    throw invalidField('claims', `the value of ${shown} must have 1 to ${MAX_TEXT} characters`);
  }
  const isPattern = value.includes('*');
  if (isPattern && (value.indexOf('*') !== value.length - 1 || !PREFIX.test(value))) {
    const message = `the value of ${shown} can have a * only at its end, after one of / : - _ . @`;
    throw invalidField('claims', message);
  }
  return value;
}

function readJwks(given: unknown): JsonWebKeySet | undefined {
  if (given === undefined || given === null) return undefined;
  const { keys } = typeof given === 'object' ? (given as { readonly keys?: unknown }) : {};
  if (!Array.isArray(keys)) throw invalidField('jwks', 'jwks must be a JSON Web Key Set: {"keys": […]}');
  if (Buffer.byteLength(JSON.stringify(given)) > MAX_JWKS_BYTES) {
    throw invalidField('jwks', `jwks must have at most ${MAX_JWKS_BYTES / 1024} KiB`);
  }
  const faults = readPublicKeys(keys).flatMap((key) => ('fault' in key ? [key.fault] : []));
  if (keys.length === 0) throw invalidField('jwks', 'jwks must have at least one key');
  if (faults[0] !== undefined) throw invalidField('jwks', `jwks has a key that cannot be used: ${faults[0]}`);
  return { keys };
}

/** A subset of ISO 8601: days, hours, minutes and seconds. */
function readLifetime(text: string): number {
  const [whole, days = 0, hours = 0, minutes = 0, seconds = 0] = DURATION.exec(text) ?? [];
  const isSaid = whole !== undefined && /\d/.test(whole) && !whole.endsWith('T');
  const total = Number(days) * 86_400 + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  if (isSaid && total >= MIN_LIFETIME_S && total <= MAX_LIFETIME_S) return total;
  throw invalidField('lifetime', 'lifetime must be from PT1M to PT1H');
}

export function lifetimeText(total: number): string {
  const [hours, minutes, seconds] = [Math.floor(total / 3600), Math.floor((total % 3600) / 60), total % 60];
  return `PT${hours > 0 ? `${hours}H` : ''}${minutes > 0 ? `${minutes}M` : ''}${seconds > 0 ? `${seconds}S` : ''}`;
}
