import { invalidField } from '../base/errors.ts';
import { readLineField, readSet } from '../base/fields.ts';

/**
 * What happens when a user who is not linked yet has a verified address that a local account has verified, too.
 * `consent`: they sign in to that account and confirm. `automatic`: they are linked, unless it is a site administrator.
 */
export const LINKING = ['off', 'consent', 'automatic'] as const;
export type Linking = (typeof LINKING)[number];

/** A user who is in the group at the provider is in the team here. */
export interface GroupMapping {
  readonly group: string;
  readonly organization: string;
  readonly team: string;
}

/** What an administrator or the settings say about a provider. */
export interface ProviderFields {
  readonly displayName: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Domains of addresses that can be linked or created. Empty: any. */
  readonly allowedDomains: readonly string[];
  readonly createAccounts: boolean;
  readonly linking: Linking;
  /** The provider has verified every address that it tells, also if it does not say so. */
  readonly trustEmail: boolean;
  readonly trustSecondFactor: boolean;
  /** The claim that lists the groups of a person. Empty: groups are ignored. */
  readonly groupClaim: string;
  readonly groupMappings: readonly GroupMapping[];
  readonly enabled: boolean;
  /** How long a session lasts that is opened with it. Null, here and below: as the settings say. */
  readonly sessionHours: number | null;
  readonly sessionIdleMinutes: number | null;
  /** How soon sessions end whose account at the provider is disabled or deleted. 0: they do not. */
  readonly recheckMinutes: number | null;
  /** Whether "Keep me signed in" counts. */
  readonly allowRemember: boolean;
}

export interface Provider extends ProviderFields {
  /** 0 if it comes from the settings. */
  readonly id: bigint;
  /** The name in addresses. It never changes. */
  readonly name: string;
  readonly origin: 'settings' | 'database';
  readonly version: number;
  readonly hasSecret: boolean;
  readonly createdAt: Date | null;
  readonly updatedAt: Date | null;
}

export type ProviderInput = { readonly [Key in keyof ProviderFields]?: ProviderFields[Key] | undefined } & {
  /** Null removes it. */
  readonly clientSecret?: string | null | undefined;
};

export type NewProvider = ProviderInput & { readonly name: string; readonly issuer: string; readonly clientId: string };

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
/** They are parts of addresses next to those of providers. */
const RESERVED = new Set(['factor', 'passkey', 'recovery', 'device', 'link']);
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;
const DOMAIN = /^[a-z0-9*](?:[a-z0-9.*-]{0,252}[a-z0-9])?$/;
const MAX_SECRET = 1024;
const MAX_LIST = 50;
const MAX_MAPPINGS = 1000;
const MINUTES = [0, 525_600] as const;

const DEFAULTS: Omit<ProviderFields, 'issuer' | 'clientId' | 'displayName'> = {
  scopes: ['openid', 'email', 'profile'],
  allowedDomains: [],
  createAccounts: false,
  linking: 'consent',
  trustEmail: false,
  trustSecondFactor: false,
  groupClaim: '',
  groupMappings: [],
  enabled: true,
  sessionHours: null,
  sessionIdleMinutes: null,
  recheckMinutes: null,
  allowRemember: false,
};

export function readProviderName(name: string): string {
  if (NAME.test(name) && !RESERVED.has(name)) return name;
  const rule = 'lower-case letters, digits and "-", with a letter or digit at both ends';
  throw invalidField('name', `name must have 1 to 40 characters: ${rule}; ${[...RESERVED].join(', ')} are reserved`);
}

export function newFields(input: NewProvider): ProviderFields {
  const { name, issuer, clientId } = input;
  return changedFields({ ...DEFAULTS, displayName: name, issuer, clientId }, input);
}

/** A field that is left out stays as it is. */
export function changedFields(current: ProviderFields, input: ProviderInput): ProviderFields {
  const fields: ProviderFields = {
    displayName: readLineField('display_name', input.displayName ?? current.displayName, 60, 1),
    issuer: readIssuer(input.issuer ?? current.issuer),
    clientId: readLineField('client_id', input.clientId ?? current.clientId, 500, 1),
    scopes: readScopes(input.scopes ?? current.scopes),
    allowedDomains: readDomains(input.allowedDomains ?? current.allowedDomains),
    createAccounts: input.createAccounts ?? current.createAccounts,
    linking: input.linking ?? current.linking,
    trustEmail: input.trustEmail ?? current.trustEmail,
    trustSecondFactor: input.trustSecondFactor ?? current.trustSecondFactor,
    groupClaim: readLineField('group_claim', input.groupClaim ?? current.groupClaim, 200),
    groupMappings: readMappings(input.groupMappings ?? current.groupMappings),
    enabled: input.enabled ?? current.enabled,
    sessionHours: readCount('session_hours', input.sessionHours, current.sessionHours, [1, 8760]),
    sessionIdleMinutes: readCount(
      'session_idle_minutes',
      input.sessionIdleMinutes,
      current.sessionIdleMinutes,
      MINUTES,
    ),
    recheckMinutes: readCount('recheck_minutes', input.recheckMinutes, current.recheckMinutes, MINUTES),
    allowRemember: input.allowRemember ?? current.allowRemember,
  };
  if (!LINKING.includes(fields.linking)) throw invalidField('linking', `linking must be one of ${LINKING.join(', ')}`);
  if (fields.groupMappings.length > 0 && fields.groupClaim === '') {
    throw invalidField('group_claim', 'group_claim is required, because there are group_mappings');
  }
  return fields;
}

/** Null is a value: as the settings say. */
function readCount(
  field: string,
  given: number | null | undefined,
  current: number | null,
  [min, max]: readonly [number, number],
): number | null {
  const value = given === undefined ? current : given;
  if (value === null || (Number.isInteger(value) && value >= min && value <= max)) return value;
  throw invalidField(field, `${field} must be a whole number from ${min} to ${max}, or null`);
}

export function readClientSecret(secret: string): string {
  if (secret.length >= 1 && secret.length <= MAX_SECRET) return secret;
  throw invalidField('client_secret', `client_secret must have 1 to ${MAX_SECRET} characters`);
}

/** Compared character for character with what the provider says about itself, so it is kept as it was given. */
function readIssuer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (isPlain && (url.protocol === 'https:' || url.protocol === 'http:') && text.length <= 500) return text;
  throw invalidField('issuer', 'issuer must be an https URL without a user, a query or a fragment');
}

function readScopes(scopes: readonly string[]): string[] {
  if (scopes.length > MAX_LIST) throw invalidField('scopes', `scopes must have at most ${MAX_LIST} items`);
  const list = readSet(scopes, (scope) => {
    if (!SCOPE.test(scope)) throw invalidField('scopes', `not a scope: ${JSON.stringify(scope.slice(0, 60))}`);
    return scope;
  });
  return list.includes('openid') ? list : ['openid', ...list];
}

function readDomains(domains: readonly string[]): string[] {
  if (domains.length > MAX_LIST) {
    throw invalidField('allowed_domains', `allowed_domains must have at most ${MAX_LIST} items`);
  }
  return readSet(domains, (domain) => {
    const lower = domain.toLowerCase();
    if (DOMAIN.test(lower)) return lower;
    throw invalidField('allowed_domains', `not a domain: ${JSON.stringify(domain.slice(0, 60))}`);
  });
}

function readMappings(mappings: readonly GroupMapping[]): GroupMapping[] {
  if (mappings.length > MAX_MAPPINGS) {
    throw invalidField('group_mappings', `group_mappings must have at most ${MAX_MAPPINGS} items`);
  }
  const read = mappings.map(({ group, organization, team }) => ({
    group: readLineField('group_mappings.group', group, 500, 1),
    organization: readLineField('group_mappings.organization', organization, 40, 1),
    team: readLineField('group_mappings.team', team, 100, 1),
  }));
  return [...new Map(read.map((one) => [keyOf(one), one])).values()];
}

function keyOf({ group, organization, team }: GroupMapping): string {
  return JSON.stringify([group, organization.toLowerCase(), team.toLowerCase()]);
}
