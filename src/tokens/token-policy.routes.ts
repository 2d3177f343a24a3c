import Type, { type Static } from 'typebox';
import { actorOf, callerIn, callerOf, holdsIn, signedIn, siteAdmin } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { maybe, named } from '../http/wire/schemas.ts';
import {
  MAX_POLICY_DAYS,
  mayCreate,
  NO_POLICY,
  TOKEN_CREATORS,
  type TokenCreators,
  type TokenPolicies,
  type TokenPolicy,
  type TokenRules,
} from './token-policy.ts';

const MaxDays = Type.Union([Type.Integer({ minimum: 1, maximum: MAX_POLICY_DAYS }), Type.Null()], {
  description: 'Longest time from the creation of a token to its end. Null: any, also none.',
});
const ExpiryRequired = Type.Boolean({ description: 'Tokens must expire. With max_days, they must anyway.' });
const PersonalTokens = Type.String({
  enum: [...TOKEN_CREATORS],
  description: 'Who may create personal access tokens.',
});

const SitePolicy = named(
  'TokenPolicy',
  Type.Object({ max_days: MaxDays, expiry_required: ExpiryRequired, personal_tokens: PersonalTokens }),
);
const EditSitePolicy = named(
  'EditTokenPolicy',
  Type.Object({
    max_days: maybe(Type.Integer({ minimum: 1, maximum: MAX_POLICY_DAYS })),
    expiry_required: maybe(Type.Boolean()),
    personal_tokens: Type.Optional(PersonalTokens),
  }),
);
const RobotPolicy = named(
  'RobotTokenPolicy',
  Type.Object({
    max_days: MaxDays,
    expiry_required: ExpiryRequired,
    effective: Type.Object(
      { max_days: MaxDays, expiry_required: ExpiryRequired },
      { description: 'The stricter of these rules and those of the deployment.' },
    ),
  }),
);
const EditRobotPolicy = named(
  'EditRobotTokenPolicy',
  Type.Object({
    max_days: maybe(Type.Integer({ minimum: 1, maximum: MAX_POLICY_DAYS })),
    expiry_required: maybe(Type.Boolean()),
  }),
);
const OwnPolicy = named(
  'OwnTokenPolicy',
  Type.Object({
    max_days: MaxDays,
    expiry_required: ExpiryRequired,
    may_create: Type.Boolean({ description: 'Whether the caller may create personal access tokens.' }),
  }),
);
const OrgPath = Type.Object({ org: Type.String() });

export function tokenPolicyRoutes(scope: Scope, policies: TokenPolicies): void {
  const common = { tags: ['tokens'], extension: true };

  scope.get(
    '/user/token_policy',
    {
      config: { access: signedIn('user', 'never') },
      schema: { ...common, summary: 'Get the rules for new access tokens of the caller', response: { 200: OwnPolicy } },
    },
    async (request) => {
      const { person } = callerOf(request);
      const { personalTokens, ...rules } = await policies.get();
      return {
        ...presentRules(rules),
        may_create: mayCreate(personalTokens, person.isAdmin, person.organizations.size > 0),
      };
    },
  );

  scope.get(
    '/admin/token_policy',
    {
      config: { access: siteAdmin('admin') },
      schema: { ...common, summary: 'Get the rules of the deployment for new tokens', response: { 200: SitePolicy } },
    },
    async () => present(await policies.get()),
  );

  scope.put(
    '/admin/token_policy',
    {
      config: { access: siteAdmin('admin') },
      schema: {
        ...common,
        summary: 'Set the rules of the deployment for new tokens; existing ones stay as they are',
        body: EditSitePolicy,
        response: { 200: SitePolicy },
      },
    },
    async (request) => present(await policies.set(undefined, readPolicy(request.body), actorOf(request))),
  );

  scope.get(
    '/orgs/:org/token_policy',
    {
      config: { access: holdsIn('view_all_robots:org', 'organization') },
      schema: {
        ...common,
        summary: 'Get the rules of an organization for new tokens of its robots',
        params: OrgPath,
        response: { 200: RobotPolicy },
      },
    },
    async (request) => await showRobots(callerIn(request).organization.id),
  );

  scope.put(
    '/orgs/:org/token_policy',
    {
      config: { access: holdsIn('edit:org', 'organization', { proven: true }) },
      schema: {
        ...common,
        summary: 'Set the rules of an organization for new tokens of its robots; existing ones stay as they are',
        params: OrgPath,
        body: EditRobotPolicy,
        response: { 200: RobotPolicy },
      },
    },
    async (request) => {
      const { id } = callerIn(request).organization;
      await policies.set(id, readPolicy(request.body), actorOf(request));
      return await showRobots(id);
    },
  );

  async function showRobots(organizationId: bigint) {
    const own = await policies.get(organizationId);
    return { ...presentRules(own), effective: presentRules(await policies.rulesForRobots(organizationId)) };
  }
}

/** Omitted properties are not restricted. */
function readPolicy(body: Static<typeof EditRobotPolicy> & Partial<Static<typeof EditSitePolicy>>): TokenPolicy {
  return {
    maxDays: body.max_days ?? NO_POLICY.maxDays,
    expiryRequired: body.expiry_required ?? NO_POLICY.expiryRequired,
    personalTokens: (body.personal_tokens as TokenCreators | undefined) ?? NO_POLICY.personalTokens,
  };
}

function present({ personalTokens, ...rules }: TokenPolicy) {
  return { ...presentRules(rules), personal_tokens: personalTokens };
}

function presentRules({ maxDays, expiryRequired }: Pick<TokenRules, 'maxDays' | 'expiryRequired'>) {
  return { max_days: maxDays, expiry_required: expiryRequired };
}
