import Type from 'typebox';
import { Int64, maybe, named, orNull, Timestamp, timestamp } from '../http/wire/schemas.ts';
import type { ProviderState } from './checks/provider-state.ts';
import type { FoundMapping } from './groups/group-sync.ts';
import { LINKING, type Provider } from './provider.ts';

/** What each field is for, in requests and responses. */
const WORDS = {
  name: 'The name in addresses: lower-case letters, digits and "-". It never changes.',
  displayName: 'What the button on the sign-in page says.',
  issuer: 'URL of the issuer, exactly as the provider writes it.',
  clientId: 'The ID that the provider has given this server.',
  scopes: 'Scopes to ask for. openid is always among them.',
  allowedDomains: 'If set, only addresses of these domains can be linked or get an account. * matches any text.',
  createAccounts: 'Create an account at the first sign-in of a person who has none.',
  linking:
    'What to do if an account has the same verified address: nothing (off), ask its owner to confirm (consent), or link ' +
    'it (automatic). Accounts of site administrators are never linked automatically.',
  trustEmail: 'Treat addresses as verified if the provider does not say whether they are.',
  trustSecondFactor: 'The provider asks for a second factor, so this server does not have to.',
  groupClaim: 'The claim that lists groups, such as groups or realm_access.roles. Empty: groups are ignored.',
  groupMappings: 'Which group means which team, applied at each sign-in.',
  enabled: 'Whether people can sign in with it.',
  sessionHours: 'How long a session lasts that is opened with it. Null: as SESSION_HOURS says.',
  sessionIdleMinutes: 'After how long without use a session ends. 0: never. Null: as SESSION_IDLE_MINUTES says.',
  recheckMinutes:
    'How soon a session ends whose account at the provider is disabled or deleted. 0: it does not. ' +
    'Null: as PROVIDER_RECHECK_MINUTES says.',
  allowRemember: 'Whether a session lasts longer if its user ticks "Keep me signed in".',
} as const;
const moment = (description: string) => Type.Union([Timestamp, Type.Null()], { description });
const described = (description: string) => ({ description });

export const Mapping = named(
  'GroupMapping',
  Type.Object({
    group: Type.String({ description: 'The group as the claim names it.' }),
    organization: Type.String({ description: 'Name of the organization.' }),
    team: Type.String({ description: 'Name of the team.' }),
  }),
);

const FIELDS = {
  display_name: Type.String(described(WORDS.displayName)),
  issuer: Type.String(described(WORDS.issuer)),
  client_id: Type.String(described(WORDS.clientId)),
  scopes: Type.Array(Type.String(), described(WORDS.scopes)),
  allowed_domains: Type.Array(Type.String(), described(WORDS.allowedDomains)),
  create_accounts: Type.Boolean(described(WORDS.createAccounts)),
  linking: Type.Enum([...LINKING], described(WORDS.linking)),
  trust_email: Type.Boolean(described(WORDS.trustEmail)),
  trust_second_factor: Type.Boolean(described(WORDS.trustSecondFactor)),
  group_claim: Type.String(described(WORDS.groupClaim)),
  group_mappings: Type.Array(Mapping, described(WORDS.groupMappings)),
  enabled: Type.Boolean(described(WORDS.enabled)),
  session_hours: orNull(Type.Integer(described(WORDS.sessionHours))),
  session_idle_minutes: orNull(Type.Integer(described(WORDS.sessionIdleMinutes))),
  recheck_minutes: orNull(Type.Integer(described(WORDS.recheckMinutes))),
  allow_remember: Type.Boolean(described(WORDS.allowRemember)),
};

export const ProviderInfo = named(
  'Provider',
  Type.Object({
    id: Int64,
    name: Type.String(described(WORDS.name)),
    ...FIELDS,
    has_client_secret: Type.Boolean({ description: 'Whether a client secret is stored. It is never shown.' }),
    origin: Type.Enum(['settings', 'database'], {
      description: 'settings: it comes from OIDC_PROVIDERS, and cannot be changed here.',
    }),
    missing_teams: Type.Array(Type.String(), {
      description: 'Teams that group_mappings name, and that do not exist, such as acme/Operators.',
    }),
    redirect_uri: Type.String({ description: 'The redirect URI to register at the provider.' }),
    backchannel_logout_uri: Type.String({ description: 'The back-channel logout URI to register at the provider.' }),
    post_logout_redirect_uri: Type.String({ description: 'The post-logout redirect URI to register at the provider.' }),
    last_logout_notice_at: moment('When a logout notice of the provider was last accepted. Null: none yet.'),
    last_fault_at: moment(
      'When a sign-in, a logout notice or a check of a session last failed because of the provider.',
    ),
    last_fault: orNull(Type.String({ description: 'What it failed with, in words of the provider if it has any.' })),
    created_at: Type.Union([Timestamp, Type.Null()]),
    updated_at: Type.Union([Timestamp, Type.Null()]),
  }),
);

const INPUT = {
  display_name: maybe(Type.String({ maxLength: 100, ...described(WORDS.displayName) })),
  scopes: maybe(Type.Array(Type.String(), { maxItems: 100, ...described(WORDS.scopes) })),
  allowed_domains: maybe(Type.Array(Type.String(), { maxItems: 100, ...described(WORDS.allowedDomains) })),
  create_accounts: maybe(Type.Boolean(described(WORDS.createAccounts))),
  linking: Type.Optional(Type.Enum([...LINKING], described(WORDS.linking))),
  trust_email: maybe(Type.Boolean(described(WORDS.trustEmail))),
  trust_second_factor: maybe(Type.Boolean(described(WORDS.trustSecondFactor))),
  group_claim: maybe(Type.String({ maxLength: 300, ...described(WORDS.groupClaim) })),
  group_mappings: maybe(Type.Array(Mapping, { maxItems: 1000, ...described(WORDS.groupMappings) })),
  enabled: maybe(Type.Boolean(described(WORDS.enabled))),
  session_hours: Type.Optional(orNull(Type.Integer(described(WORDS.sessionHours)))),
  session_idle_minutes: Type.Optional(orNull(Type.Integer(described(WORDS.sessionIdleMinutes)))),
  recheck_minutes: Type.Optional(orNull(Type.Integer(described(WORDS.recheckMinutes)))),
  allow_remember: maybe(Type.Boolean(described(WORDS.allowRemember))),
  client_secret: Type.Optional(
    orNull(Type.String({ maxLength: 2000, description: 'Stored sealed, and never shown. Null removes it.' })),
  ),
};
const [issuer, clientId] = [Type.String(described(WORDS.issuer)), Type.String(described(WORDS.clientId))];

export const NewProviderBody = named(
  'NewProvider',
  Type.Object({ name: Type.String(described(WORDS.name)), issuer, client_id: clientId, ...INPUT }),
);
export const EditProviderBody = named(
  'EditProvider',
  Type.Object({ issuer: maybe(issuer), client_id: maybe(clientId), ...INPUT }),
);

export interface ProviderAddresses {
  readonly redirectUri: (name: string) => string;
  readonly logoutUri: (name: string) => string;
  readonly returnTo: () => string;
}

export function presentProvider(
  provider: Provider,
  found: readonly FoundMapping[],
  { logoutNoticeAt, faultAt, fault }: ProviderState,
  addresses: ProviderAddresses,
) {
  const missing = found.filter(({ teamId }) => teamId === undefined);
  return {
    id: provider.id,
    name: provider.name,
    display_name: provider.displayName,
    issuer: provider.issuer,
    client_id: provider.clientId,
    has_client_secret: provider.hasSecret,
    scopes: [...provider.scopes],
    allowed_domains: [...provider.allowedDomains],
    create_accounts: provider.createAccounts,
    linking: provider.linking,
    trust_email: provider.trustEmail,
    trust_second_factor: provider.trustSecondFactor,
    group_claim: provider.groupClaim,
    group_mappings: provider.groupMappings.map(({ group, organization, team }) => ({ group, organization, team })),
    enabled: provider.enabled,
    session_hours: provider.sessionHours,
    session_idle_minutes: provider.sessionIdleMinutes,
    recheck_minutes: provider.recheckMinutes,
    allow_remember: provider.allowRemember,
    origin: provider.origin,
    missing_teams: [...new Set(missing.map(({ organization, team }) => `${organization}/${team}`))],
    redirect_uri: addresses.redirectUri(provider.name),
    backchannel_logout_uri: addresses.logoutUri(provider.name),
    post_logout_redirect_uri: addresses.returnTo(),
    last_logout_notice_at: logoutNoticeAt && timestamp(logoutNoticeAt),
    last_fault_at: faultAt && timestamp(faultAt),
    last_fault: fault,
    created_at: provider.createdAt && timestamp(provider.createdAt),
    updated_at: provider.updatedAt && timestamp(provider.updatedAt),
  };
}
