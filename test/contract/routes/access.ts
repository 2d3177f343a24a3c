import { getAs, ORG, PAGE } from './parts.ts';
import { routes } from './route.ts';

/** The log of the filled world does not tell how it was filled, so only the last minute is known. */
function justNow(): string {
  return new Date(Date.now() - 1).toISOString();
}

function numbered(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${name}${at + 1}`);
}

export const ACCESS = routes({
  'GET /api/v1/authz/model': {
    names: '',
    example: () => ({ as: 'ann' }),
    cost: getAs('the whole model', '/authz/model'),
  },
  'GET /api/v1/authz/objects/:objectType': {
    query: 'relation=can_view',
    names: 'objectType ?org PAGE ?relation ?user',
    example: () => ({ as: 'ann', path: { objectType: 'cluster' }, query: { ...ORG, relation: 'can_view', ...PAGE } }),
    cost: getAs('20,000 clusters', '/authz/objects/cluster?org=acme&relation=can_view&limit=50'),
  },
  'GET /api/v1/authz/objects/:objectType/:objID/allowed-permissions': {
    names: 'objectType objID ?org ?namespace:text',
    example: ({ id }) => ({ as: 'cat', path: { objectType: 'cluster', objID: id.prod }, query: ORG }),
    cost: getAs(
      'of a team member, whose teams have a hundred roles',
      ({ acme }) => `/authz/objects/organization/${acme}/allowed-permissions?org=acme`,
      'dan',
    ),
  },
  'POST /api/v1/authz/objects/allowed-permissions': {
    body: [],
    names: '?org [].objectType [].objectID [].namespace:text',
    again: 'only reads',
    example: ({ id }) => ({
      as: 'cat',
      query: ORG,
      body: [
        { objectType: 'cluster', objectID: id.prod },
        { objectType: 'organization', objectID: id.org },
      ],
    }),
    cost: {
      what: '1,000 clusters that nobody has asked about',
      isFirst: true,
      shot: async ({ cluster }) => ({
        as: 'ann',
        path: '/authz/objects/allowed-permissions?org=acme',
        body: Array.from({ length: 1000 }, (_, at) => ({
          objectType: 'cluster',
          objectID: Number(cluster) - at,
        })),
      }),
    },
  },
  'GET /api/v1/authz/objects/:objectType/:objID/explain': {
    query: 'relation=can_view',
    names: 'objectType objID ?org ?relation ?user ?paths ?remedies ?namespace:text ?at',
    example: ({ id }) => ({
      as: 'ann',
      path: { objectType: 'cluster', objID: id.prod },
      query: { ...ORG, relation: 'can_connect', user: 'dan' },
    }),
    cost: [
      getAs(
        'a yes',
        ({ cluster }) => `/authz/objects/cluster/${cluster}/explain?org=acme&relation=can_view&user=mass77`,
      ),
      getAs(
        'a no, for which ways are searched',
        ({ cluster }) => `/authz/objects/cluster/${cluster}/explain?org=acme&relation=can_remove&user=mass78`,
      ),
      getAs(
        'a yes with all paths',
        ({ cluster }) => `/authz/objects/cluster/${cluster}/explain?org=acme&relation=can_view&user=mass77&paths=all`,
      ),
      getAs(
        'a no with remedies',
        ({ cluster }) =>
          `/authz/objects/cluster/${cluster}/explain?org=acme&relation=can_remove&user=mass78&remedies=true`,
      ),
    ],
  },
  'GET /api/v1/authz/changes': {
    query: 'since=2026-01-01T00:00:00Z',
    names: '?org ?since ?limit',
    example: () => ({ as: 'ann', query: { ...ORG, since: '2026-01-01T00:00:00Z', limit: 1 } }),
    cost: getAs('among 100,000 entries', '/authz/changes?org=acme&since=2026-01-01T00:00:00Z'),
  },
  'GET /api/v1/authz/objects/:objectType/:objID/principals': {
    query: 'relation=can_view',
    names: 'objectType objID ?org PAGE ?relation ?also:relation ?reason ?namespace:text ?at',
    example: ({ id }) => ({
      as: 'ann',
      path: { objectType: 'cluster', objID: id.prod },
      query: { ...ORG, relation: 'can_connect', ...PAGE },
    }),
    cost: [
      getAs(
        '50,000 users',
        ({ cluster }) =>
          `/authz/objects/cluster/${cluster}/principals?org=acme&relation=can_view&also=can_connect,can_edit&limit=50`,
      ),
      getAs(
        '50,000 users, with reasons',
        ({ cluster }) => `/authz/objects/cluster/${cluster}/principals?org=acme&relation=can_view&reason=true&limit=50`,
      ),
      getAs(
        '50,000 users, a moment ago',
        ({ cluster }) => `/authz/objects/cluster/${cluster}/principals?org=acme&relation=can_view&at=${justNow()}`,
      ),
    ],
  },
  'GET /api/v1/authz/users/:username/access': {
    names: 'username ?org ?type:objectType PAGE ?at',
    example: () => ({ as: 'ann', path: { username: 'dan' }, query: { ...ORG, type: 'cluster', ...PAGE } }),
    cost: [
      getAs('of the owner, 20,000 clusters', '/authz/users/ann/access?org=acme&limit=50'),
      getAs('of somebody in teams with a hundred roles', '/authz/users/dan/access?org=acme&limit=50'),
    ],
  },
  'POST /api/v1/authz/matrix': {
    body: { type: 'cluster' },
    names:
      '?org ?format ?at .type:objectType .ids[]:cluster .all .part .users[]:person .robots .team:team .relations[]:relation .differences',
    again: 'only reads',
    example: () => ({ as: 'ann', query: ORG, body: { type: 'cluster', users: ['bob', 'cat', 'dan'] } }),
    cost: [
      {
        what: 'ten people and 20,000 clusters',
        shot: async () => ({
          as: 'ann',
          path: '/authz/matrix?org=acme',
          body: { type: 'cluster', users: ['ann', 'bob', 'cat', 'dan', ...numbered('mass', 6)] },
        }),
      },
      {
        what: 'refused: 50,000 people and 20,000 clusters',
        shot: async () => ({ as: 'ann', path: '/authz/matrix?org=acme', body: { type: 'cluster' }, status: 422 }),
      },
    ],
  },
  'GET /api/v1/authz/map': {
    names: '?org ?to:text ?role ?on:text ?at',
    example: () => ({ as: 'ann', query: { ...ORG, to: 'user:dan' } }),
    cost: [
      getAs('50,000 users and 1,000 teams with 500 roles', '/authz/map?org=acme'),
      getAs('what reaches one of 20,000 clusters', ({ cluster }) => `/authz/map?org=acme&on=cluster:${cluster}`),
    ],
  },
  'POST /api/v1/authz/check': {
    body: { checks: [] },
    names:
      '?org .checks[].user .checks[].relation .checks[].object.type:objectType .checks[].object.id:cluster .checks[].object.name:clusterName .checks[].namespace:text',
    again: 'only reads',
    example: () => ({
      as: 'ann',
      query: ORG,
      body: { checks: [{ user: 'bob', relation: 'can_connect', object: { type: 'cluster', name: 'prod' } }] },
    }),
    cost: {
      what: 'a thousand questions about clusters by name',
      shot: () => ({
        as: 'ann',
        path: '/authz/check?org=acme',
        body: {
          checks: Array.from({ length: 1000 }, (_, number) => ({
            user: 'bob',
            relation: 'can_connect',
            object: { type: 'cluster', name: `cluster${number}` },
          })),
        },
      }),
    },
  },
});
