import type { Shot } from './entry.ts';
import type { FullWorld } from './fill.ts';

/** What these requests need of the world: everything that the graph of an organization is made of, at its limits. */
export type CrowdedWorld = Pick<FullWorld, 'acme' | 'cluster' | 'team' | 'role'>;

export interface CrowdedRequest {
  readonly route: string;
  readonly what: string;
  readonly shot: (world: CrowdedWorld) => Shot;
}

const MAX_CHECKS = 1000;
const SECOND_MS = 1000;

const get = (route: string, what: string, path: (world: CrowdedWorld) => string, as = 'ann'): CrowdedRequest => ({
  route: `GET ${route}`,
  what,
  shot: (world) => ({ as, method: 'GET', path: path(world) }),
});

const post = (
  route: string,
  what: string,
  body: (world: CrowdedWorld) => object,
  { query = '', as = 'ann' } = {},
): CrowdedRequest => ({
  route: `POST ${route}`,
  what,
  shot: (world) => ({ as, method: 'POST', path: `${route}?org=acme${query}`, body: body(world) }),
});

const changes = ({ team }: CrowdedWorld, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    action: 'team.add_member',
    id: Number(team) + (at % 100),
    username: `mass${500 + at}`,
  }));

/**
 * Questions about users who are in a thousand teams, and in fifty roles through each, in an organization with a hundred
 * guardrails: each answer takes thousands of times longer than usual.
 */
export const CROWDED_REQUESTS: readonly CrowdedRequest[] = [
  get(
    '/authz/objects/:objectType',
    '20,000 clusters of a user in 990 teams',
    () => '/authz/objects/cluster?org=acme&relation=can_connect&user=mass1',
  ),
  get(
    '/authz/objects/:objectType',
    '20,000 clusters of a user in 41 teams',
    () => '/authz/objects/cluster?org=acme&relation=can_connect&user=mass2',
  ),
  get(
    '/authz/objects/:objectType',
    '1,000 teams of a user in 990 of them',
    () => '/authz/objects/team?org=acme&relation=can_view&user=mass1',
  ),
  post('/authz/check', 'a user in 990 teams and 1,000 clusters', ({ cluster }) => ({
    checks: Array.from({ length: MAX_CHECKS }, (_, at) => ({
      user: 'mass1',
      relation: 'can_connect',
      object: { type: 'cluster', id: Number(cluster) - at },
    })),
  })),
  post('/authz/check', '50 users in 41 teams by turns, and 1,000 clusters', ({ cluster }) => ({
    checks: Array.from({ length: MAX_CHECKS }, (_, at) => ({
      user: `mass${2 + (at % 50)}`,
      relation: 'can_connect',
      object: { type: 'cluster', id: Number(cluster) - at },
    })),
  })),
  post(
    '/authz/objects/allowed-permissions',
    '1,000 clusters, asked by a user in 990 teams',
    ({ cluster }) =>
      Array.from({ length: MAX_CHECKS }, (_, at) => ({ objectType: 'cluster', objectID: Number(cluster) - at })),
    { as: 'bob' },
  ),
  ...['', '&paths=all', '&remedies=true'].flatMap((more) =>
    ['mass1', 'mass2'].map((user) =>
      get(
        '/authz/objects/:objectType/:objID/explain',
        `${user === 'mass1' ? '990' : '41'} teams${more}`,
        ({ cluster }) => `/authz/objects/cluster/${cluster}/explain?org=acme&relation=can_view&user=${user}${more}`,
      ),
    ),
  ),
  get(
    '/authz/objects/:objectType/:objID/explain',
    'a no for a user in 990 teams, with remedies',
    ({ acme }) => `/authz/objects/organization/${acme}/explain?org=acme&relation=can_delete&user=mass1&remedies=true`,
  ),
  get(
    '/authz/objects/:objectType/:objID/principals',
    'with reasons, among them a user in 990 teams',
    ({ cluster }) => `/authz/objects/cluster/${cluster}/principals?org=acme&relation=can_connect&reason=true&limit=50`,
  ),
  get(
    '/authz/objects/:objectType/:objID/principals',
    'with ten further relations',
    ({ acme }) =>
      `/authz/objects/organization/${acme}/principals?org=acme&relation=can_edit_clusters&limit=50` +
      '&also=can_view,can_edit,can_view_members,can_add_member,can_view_teams,can_create_team,can_view_roles',
  ),
  get(
    '/authz/users/:username/access',
    'a user in 990 teams, with roles on 1,000 clusters',
    () => '/authz/users/mass1/access?org=acme&limit=50',
  ),
  get('/authz/assignments', 'the last page of all', () => '/authz/assignments?org=acme&limit=50&page=400'),
  get(
    '/authz/assignments',
    'a page of the 1,000 of a user',
    () => '/authz/assignments?org=acme&limit=50&page=20&to=user:mass1',
  ),
  get(
    '/authz/map',
    '1,000 teams, 500 roles and 20,000 roles on single clusters, to a user in 990 teams',
    () => '/authz/map?org=acme',
    'bob',
  ),
  get('/authz/map', 'a user in 990 teams', () => '/authz/map?org=acme&to=user:mass1'),
  get(
    '/authz/map',
    'what counts on one of 20,000 clusters',
    ({ cluster }) => `/authz/map?org=acme&on=cluster:${cluster}`,
  ),
  get(
    '/authz/map',
    'as of a past moment',
    () => `/authz/map?org=acme&at=${new Date(Date.now() - SECOND_MS).toISOString()}`,
  ),
  get('/orgs/:org/file', 'as YAML', () => '/orgs/acme/file'),
  get('/orgs/:org/file', 'as JSON', () => '/orgs/acme/file?format=json'),
  get(
    '/orgs/:org/file',
    'as of a past moment',
    () => `/orgs/acme/file?at=${new Date(Date.now() - SECOND_MS).toISOString()}`,
  ),
  post('/authz/matrix', 'users in 990 and 41 teams, and 1,000 teams', () => ({
    type: 'team',
    users: Array.from({ length: 20 }, (_, at) => `mass${1 + at}`),
  })),
  post('/authz/preview', 'one change', (world) => ({ changes: changes(world, 1) })),
  post('/authz/preview', '50 changes', (world) => ({ changes: changes(world, 50) })),
  post('/authz/preview', 'a role of 100 teams is deleted', ({ role }) => ({
    changes: [{ action: 'role.delete', id: Number(role) }],
  })),
  post('/authz/preview', 'a team is deleted that 50 roles have', ({ team }) => ({
    changes: [{ action: 'team.delete', id: Number(team) }],
  })),
  post(
    '/authz/guardrails',
    'a dry run about 48 users and any cluster',
    () => ({
      name: 'tried',
      enforce: true,
      never: {
        users: Array.from({ length: 48 }, (_, at) => `mass${1 + at}`),
        relation: 'can_connect',
        object: { type: 'cluster' },
      },
    }),
    { query: '&dry_run=true' },
  ),
  post(
    '/authz/guardrails',
    'a dry run about any team',
    () => ({ name: 'tried', enforce: true, at_most: { count: 1, relation: 'can_edit', object: { type: 'team' } } }),
    { query: '&dry_run=true' },
  ),
];

/** The same, if some of the teams have tens of thousands of members. */
export const LARGE_TEAM_REQUESTS: readonly CrowdedRequest[] = [
  get('/authz/map', 'large teams', () => '/authz/map?org=acme'),
  get('/authz/map', 'large teams, to a user in 990 of them', () => '/authz/map?org=acme', 'bob'),
  get('/authz/map', 'one of the large teams', () => '/authz/map?org=acme&to=team:Viewers'),
];
