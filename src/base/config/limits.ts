import { AppError } from '../errors.ts';

/**
 * Every list that a caller can make longer is in this table once, with its maximum. The settings, their documentation,
 * the checks and the error messages follow from it.
 *
 * 1. Only growth is rejected. What already exceeds a limit, because the limit was lowered, keeps working.
 * 2. Limits apply to everyone, site administrators included: a script that runs wild often has their token.
 * 3. A limit is exact, however many requests arrive at the same time and at however many replicas: see changes/quotas.store.ts.
 */
interface Limit {
  readonly setting: `LIMIT_${string}`;
  readonly fallback: number;
  /** Completes the sentence "Maximum number of …", for the documentation. */
  readonly of: string;
  /** "this organization already has the maximum of 500 …". */
  readonly owner: string;
  readonly things: string;
  /** What the caller can do about it. */
  readonly remedy: string;
}

function limit<const Setting extends `LIMIT_${string}`>(
  setting: Setting,
  fallback: number,
  of: string,
  [owner, things, remedy]: readonly [string, string, string],
) {
  return { setting, fallback, of, owner, things, remedy } satisfies Limit;
}

const ORGANIZATION = 'this organization';
const USER = 'this user';
const DELETE = 'delete one first';
const MIB = 1024 * 1024;

export const LIMITS = {
  rolesPerOrganization: limit(
    'LIMIT_ROLES_PER_ORGANIZATION',
    500,
    'custom roles in an organization, also through an import.',
    [ORGANIZATION, 'roles', DELETE],
  ),
  assignmentsPerOrganization: limit(
    'LIMIT_ASSIGNMENTS_PER_ORGANIZATION',
    20_000,
    'assignments of roles in an organization.',
    [ORGANIZATION, 'assignments', 'remove one first'],
  ),
  assignmentsPerPrincipal: limit('LIMIT_ASSIGNMENTS_PER_PRINCIPAL', 1000, 'assignments to one team, user or robot.', [
    'this team, user or robot',
    'assignments',
    'remove one first',
  ]),
  openRequestsPerUser: limit('LIMIT_OPEN_REQUESTS_PER_USER', 20, 'open access requests of one user or robot.', [
    'this user or robot',
    'open access requests',
    'cancel one first',
  ]),
  openRequestsPerOrganization: limit(
    'LIMIT_OPEN_REQUESTS_PER_ORGANIZATION',
    1000,
    'open access requests in an organization.',
    [ORGANIZATION, 'open access requests', 'approvers must decide some first'],
  ),
  guardrailsPerOrganization: limit(
    'LIMIT_GUARDRAILS_PER_ORGANIZATION',
    100,
    'guardrails of an organization, also through an import.',
    [ORGANIZATION, 'guardrails', DELETE],
  ),
  reviewsPerOrganization: limit('LIMIT_REVIEWS_PER_ORGANIZATION', 1000, 'access reviews of an organization.', [
    ORGANIZATION,
    'access reviews',
    'their records are kept, so ask for a higher limit',
  ]),
  webhooksPerOrganization: limit(
    'LIMIT_WEBHOOKS_PER_ORGANIZATION',
    20,
    'webhooks of an organization, and of the whole deployment.',
    ['this organization or deployment', 'webhooks', DELETE],
  ),
  teamsPerRole: limit('LIMIT_TEAMS_PER_ROLE', 100, 'teams that a custom role is assigned to.', [
    'this role',
    'teams',
    'remove one first',
  ]),
  teamsPerOrganization: limit('LIMIT_TEAMS_PER_ORGANIZATION', 1000, 'teams in an organization.', [
    ORGANIZATION,
    'teams',
    DELETE,
  ]),
  membersPerOrganization: limit('LIMIT_MEMBERS_PER_ORGANIZATION', 50_000, 'members of an organization.', [
    ORGANIZATION,
    'members',
    'remove one first',
  ]),
  invitationsPerOrganization: limit('LIMIT_INVITATIONS_PER_ORGANIZATION', 500, 'open invitations to an organization.', [
    ORGANIZATION,
    'open invitations',
    'revoke one first',
  ]),
  membersPerTeam: limit('LIMIT_MEMBERS_PER_TEAM', 50_000, 'members of a team.', [
    'this team',
    'members',
    'remove one first',
  ]),
  teamsPerUser: limit('LIMIT_TEAMS_PER_USER', 10_000, 'teams that a user is in, in all organizations together.', [
    USER,
    'teams',
    'the user has to leave a team or an organization first',
  ]),
  robotsPerOrganization: limit('LIMIT_ROBOTS_PER_ORGANIZATION', 1000, 'robots of an organization.', [
    ORGANIZATION,
    'robots',
    DELETE,
  ]),
  trustRulesPerRobot: limit('LIMIT_TRUST_RULES_PER_ROBOT', 20, 'trust rules of a robot.', [
    'this robot',
    'trust rules',
    DELETE,
  ]),
  tokensPerRobot: limit('LIMIT_TOKENS_PER_ROBOT', 200, 'tokens of a robot.', ['this robot', 'tokens', DELETE]),
  contractsPerOrganization: limit('LIMIT_CONTRACTS_PER_ORGANIZATION', 1000, 'contracts of an organization.', [
    ORGANIZATION,
    'contracts',
    DELETE,
  ]),
  clustersPerOwner: limit('LIMIT_CLUSTERS_PER_OWNER', 20_000, 'clusters of an organization, or of a user.', [
    'this owner',
    'clusters',
    'remove one first',
  ]),
  organizationsPerUser: limit(
    'LIMIT_ORGANIZATIONS_PER_USER',
    100,
    'organizations that a user has created and that still exist.',
    [USER, 'organizations of their own', DELETE],
  ),
  tokensPerUser: limit('LIMIT_TOKENS_PER_USER', 200, 'tokens of a user, without those that have expired.', [
    USER,
    'tokens',
    DELETE,
  ]),
  sessionsPerUser: limit('LIMIT_SESSIONS_PER_USER', 100, 'sessions of a user. One more ends the oldest one.', [
    USER,
    'sessions',
    'sign out first',
  ]),
  passkeysPerUser: limit('LIMIT_PASSKEYS_PER_USER', 20, 'passkeys of a user.', [USER, 'passkeys', 'remove one first']),
  emailsPerUser: limit('LIMIT_EMAILS_PER_USER', 20, 'email addresses of a user.', [
    USER,
    'email addresses',
    'remove one first',
  ]),
  confirmationEmailsPerHour: limit(
    'LIMIT_CONFIRMATION_EMAILS_PER_HOUR',
    10,
    'confirmation emails that a user can cause in an hour. Each address gets at most one in ten minutes.',
    [USER, 'confirmation emails an hour', 'add fewer addresses in an hour'],
  ),
  linkedAccountsPerUser: limit('LIMIT_LINKED_ACCOUNTS_PER_USER', 20, 'accounts at providers that a user has linked.', [
    USER,
    'linked accounts',
    'unlink one first',
  ]),
  providers: limit('LIMIT_PROVIDERS', 50, 'OpenID Connect providers that administrators have added.', [
    'this deployment',
    'providers',
    DELETE,
  ]),
  followsPerUser: limit('LIMIT_FOLLOWS_PER_USER', 5000, 'users that a user follows.', [
    USER,
    'users to follow',
    'unfollow one first',
  ]),
  credentialsPerUser: limit('LIMIT_CREDENTIALS_PER_USER', 100, 'cloud credentials of a user.', [
    USER,
    'credentials',
    DELETE,
  ]),
  credentialBytesPerUser: limit(
    'LIMIT_CREDENTIAL_BYTES_PER_USER',
    8 * MIB,
    'bytes of all cloud credentials of a user together.',
    [USER, 'bytes of credentials', DELETE],
  ),
  ordersPerUser: limit('LIMIT_ORDERS_PER_USER', 1000, 'deploy orders of a user.', [USER, 'orders', DELETE]),
  orderBytesPerUser: limit('LIMIT_ORDER_BYTES_PER_USER', 64 * MIB, 'bytes of all deploy orders of a user together.', [
    USER,
    'bytes of orders',
    DELETE,
  ]),
  rejectedDeliveriesPerMarketplace: limit(
    'LIMIT_REJECTED_DELIVERIES_PER_MARKETPLACE',
    2000,
    'rejected deliveries of a marketplace that are kept in full. Further ones are only counted.',
    ['this marketplace', 'rejected deliveries', DELETE],
  ),
  rejectedDeliveriesPerSource: limit(
    'LIMIT_REJECTED_DELIVERIES_PER_SOURCE',
    200,
    'rejected deliveries from one address that are kept in full. Further ones are only counted.',
    ['this address', 'rejected deliveries', DELETE],
  ),
  refusalSourcesPerDay: limit(
    'LIMIT_REFUSAL_SOURCES_PER_DAY',
    1000,
    'addresses whose rejected requests to a marketplace are counted one by one in a day. The rest are counted together.',
    ['this marketplace', 'addresses', DELETE],
  ),
};

export type LimitName = keyof typeof LIMITS;
export type LimitSetting = (typeof LIMITS)[LimitName]['setting'];
export type Limits = Readonly<Record<LimitName, number>>;

/** Without any settings. */
export const DEFAULT_LIMITS = Object.fromEntries(
  Object.entries(LIMITS).map(([name, { fallback }]) => [name, fallback]),
) as Limits;

export function limitsOf(config: Readonly<Record<LimitSetting, number>>): Limits {
  return Object.fromEntries(Object.entries(LIMITS).map(([name, { setting }]) => [name, config[setting]])) as Limits;
}

/**
 * `taken` is how much there is already, and may be cut off at the maximum. It is compared by the caller, because what
 * grows differs: a number of rows, a number of bytes.
 */
export function limitReached(name: LimitName, max: number, taken = max): AppError {
  const { owner, things, remedy, setting } = LIMITS[name];
  const state =
    taken >= max
      ? `${owner} already has the maximum of ${max} ${things}`
      : `${owner} has ${taken} of at most ${max} ${things}, and the request would exceed that`;
  const message = `${state}: ${remedy}, or ask the operator of the server to raise ${setting}`;
  return new AppError('malformed', message, { reason: 'limit_reached' });
}
