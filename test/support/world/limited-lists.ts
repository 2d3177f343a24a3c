import type { LimitName } from '../../../src/base/config/limits.ts';
import { COUNTS } from '../../counts.ts';
import type { Answer, TestServer } from '../server/server.ts';
import { assignmentList } from './assignments.ts';
import { INVITATION_LIST } from './invitations.ts';
import { type Owner, organization, person, robot } from './list-owners.ts';
import { makePerson } from './people.ts';
import { REQUEST_LIST } from './request-lists.ts';
import { reviewList } from './reviews.ts';

/** Whose list grows, and how. `name` is fresh for each call. */
export interface List {
  readonly limit: LimitName;
  /** Creates what the list belongs to; the result is passed to `grow`. */
  readonly prepare: (atrium: TestServer) => Promise<Owner>;
  readonly grow: (atrium: TestServer, owner: Owner, name: string) => Promise<Answer>;
  readonly size: string;
}

export async function withOthers(atrium: TestServer, owner: Owner, count = COUNTS.requestsAtOnce): Promise<Owner> {
  const others: string[] = [];
  for (let place = 0; place < count; place++) others.push((await makePerson(atrium)).name);
  return { ...owner, others };
}

/** These routes ask for a password, or a token in its place. */
export function basic({ world }: TestServer, user: string): Record<string, string> {
  return { Authorization: `Basic ${Buffer.from(`${user}:${world.users[user]?.token}`).toString('base64')}` };
}

export function createToken(atrium: TestServer, user: string, name: string): Promise<Answer> {
  return atrium.as()('POST', `/users/${user}/tokens`, { name }, basic(atrium, user));
}

let uid = 0;
const newUid = () => `00000000-0000-4000-8000-${String(++uid).padStart(12, '0')}`;
export const chart = { name: 'c', sourceRef: { name: 's' }, version: '1', releaseName: 'r', namespace: 'n' };

/** Every list that has a limit. */
export const LISTS: readonly List[] = [
  {
    limit: 'providers',
    prepare: async () => ({ id: 0n, user: 'root', org: '', others: [] }),
    grow: (atrium, _owner, name) =>
      atrium.as('root')('POST', '/admin/providers', { name, issuer: 'https://login.example.com', client_id: 'x' }),
    size: 'select count(*)::integer as n from provider where owner_id = $1',
  },
  {
    limit: 'rolesPerOrganization',
    prepare: organization,
    grow: (atrium, { user, org }, name) =>
      atrium.as(user)('POST', `/authz/roles?org=${org}`, { name, permissions: [] }),
    size: 'select count(*)::integer as n from role where organization_id = $1',
  },
  ...(['assignmentsPerOrganization', 'assignmentsPerPrincipal'] as const).map((limit) => assignmentList(limit)),
  {
    limit: 'webhooksPerOrganization',
    prepare: organization,
    grow: (atrium, { user, org }, name) =>
      atrium.as(user)('POST', `/orgs/${org}/webhooks`, { url: `https://${name}.example.com/in`, active: false }),
    size: 'select count(*)::integer as n from webhook where owner_id = $1',
  },
  {
    limit: 'guardrailsPerOrganization',
    prepare: organization,
    grow: (atrium, { user, org }, name) =>
      atrium.as(user)('POST', `/authz/guardrails?org=${org}`, {
        name,
        at_least: { count: 1, relation: 'can_edit_roles' },
      }),
    size: 'select count(*)::integer as n from guardrail where organization_id = $1',
  },
  REQUEST_LIST,
  { ...reviewList, prepare: organization },
  { ...INVITATION_LIST, prepare: organization },
  {
    limit: 'robotsPerOrganization',
    prepare: organization,
    grow: (atrium, { user, org }, name) => atrium.as(user)('POST', `/orgs/${org}/robots`, { name }),
    size: 'select count(*)::integer as n from robot where owner_id = $1',
  },
  {
    limit: 'contractsPerOrganization',
    prepare: organization,
    grow: (atrium, { user, org }, name) => atrium.as(user)('POST', `/orgs/${org}/contracts`, { name }),
    size: 'select count(*)::integer as n from contract where owner_id = $1',
  },
  {
    limit: 'clustersPerOwner',
    prepare: organization,
    grow: (atrium, { user, org }, name) => atrium.as(user)('POST', `/orgs/${org}/clusters`, { name, uid: newUid() }),
    size: 'select count(*)::integer as n from cluster where owner_id = $1',
  },
  {
    limit: 'clustersPerOwner',
    prepare: person,
    grow: (atrium, { user }, name) => atrium.as(user)('POST', '/user/clusters', { name, uid: newUid() }),
    size: 'select count(*)::integer as n from cluster where owner_id = $1',
  },
  {
    limit: 'organizationsPerUser',
    prepare: person,
    grow: (atrium, { user }, name) => atrium.as(user)('POST', '/orgs', { username: `${name}-${++uid}` }),
    size: 'select count(*)::integer as n from account where founder_id = $1',
  },
  {
    // The one that the test calls with is a token too.
    limit: 'tokensPerUser',
    prepare: person,
    grow: (atrium, { user }, name) => createToken(atrium, user, name),
    size: 'select count(*)::integer as n from token where account_id = $1',
  },
  {
    limit: 'tokensPerRobot',
    prepare: robot,
    grow: (atrium, { user, id }, name) => atrium.as(user)('POST', `/robots/${id}/tokens`, { name }),
    size: 'select count(*)::integer as n from token where robot_id = $1',
  },
  {
    limit: 'trustRulesPerRobot',
    prepare: robot,
    grow: (atrium, { user, id }, name) =>
      atrium.as(user)('POST', `/robots/${id}/trust_rules`, {
        name,
        issuer: 'https://issuer.example',
        claims: { sub: name },
      }),
    size: 'select count(*)::integer as n from trust_rule where robot_id = $1',
  },
  {
    limit: 'emailsPerUser',
    prepare: person,
    grow: (atrium, { user }, name) =>
      atrium.as(user)('POST', '/user/emails', { emails: [`${name}.${++uid}@example.org`] }),
    size: 'select count(*)::integer as n from email where account_id = $1',
  },
  {
    limit: 'credentialsPerUser',
    prepare: person,
    grow: (atrium, { user }, name) => atrium.as(user)('POST', '/user/credentials', { name }),
    size: 'select count(*)::integer as n from credential where owner_id = $1',
  },
  {
    limit: 'ordersPerUser',
    prepare: person,
    grow: (atrium, { user }) => atrium.as(user)('POST', '/user/deploy/orders', { spec: { items: [{ chart }] } }),
    size: 'select count(*)::integer as n from deploy_order where owner_id = $1',
  },
  {
    limit: 'followsPerUser',
    prepare: async (atrium) => await withOthers(atrium, await person(atrium)),
    grow: (atrium, { user, others }, name) =>
      atrium.as(user)('PUT', `/user/following/${others[Number(name.slice(1)) % others.length]}`),
    size: 'select count(*)::integer as n from follow where follower_id = $1',
  },
  {
    limit: 'membersPerOrganization',
    prepare: async (atrium) => await withOthers(atrium, await organization(atrium)),
    grow: (atrium, { user, org, others }, name) =>
      atrium.as(user)('PUT', `/orgs/${org}/members/${others[Number(name.slice(1)) % others.length]}`, {
        team: Number(name.slice(1)) % 2 === 0 ? 'Editors' : 'Viewers',
      }),
    size: `select count(distinct m.account_id)::integer as n from team_member m join team t on t.id = m.team_id
            where t.organization_id = $1`,
  },
];
