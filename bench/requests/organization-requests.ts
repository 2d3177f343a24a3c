import { randomUUID } from 'node:crypto';
import { mostKeys } from './bodies.ts';
import type { Measured, Requests } from './entry.ts';
import type { FullWorld } from './fill.ts';

const READS_ONE = 'reads one row by its key, and asks the engine once';
const WRITES_ONE = 'writes one row and one entry of the audit log';

const get = (what: string, path: string | ((world: FullWorld) => string), as = 'ann'): Measured => ({
  what,
  shot: (world) => ({ as, path: typeof path === 'string' ? path : path(world) }),
});

const oneRow = { as: 'GET /api/v1/orgs/:org', because: READS_ONE };
const oneWrite = { as: 'PATCH /api/v1/orgs/:org', because: WRITES_ONE };

/** What belongs to an organization: acme, which has as much of everything as it may. */
export const ORGANIZATION_REQUESTS: Requests = {
  'GET /api/v1/orgs/:org': [
    { what: 'first request to the organization', isFirst: true, shot: () => ({ as: 'ann', path: '/orgs/acme' }) },
    get('again', '/orgs/acme'),
  ],
  'PATCH /api/v1/orgs/:org': {
    what: 'a body of 1 MiB',
    shot: () => ({ as: 'ann', path: '/orgs/acme', body: mostKeys({ description: 'x'.repeat(1000) }) }),
  },
  'POST /api/v1/orgs': {
    what: 'a body of 1 MiB',
    shot: (_world, round) => ({ as: 'ann', path: '/orgs', body: mostKeys({ username: `new${round}` }) }),
  },
  'DELETE /api/v1/orgs/:org': [
    {
      what: 'an organization at its limits',
      isFirst: true,
      shot: async (world, round) => ({ as: 'ann', path: `/orgs/${await makeDoomed(world, `doomed${round}`)}` }),
    },
    {
      what: 'the first request after that',
      shot: async (world, round) => {
        const name = await makeDoomed(world, `lost${round}`);
        await world.atrium.as('ann')('GET', '/orgs/acme');
        await world.atrium.as('root')('DELETE', `/orgs/${name}`);
        return { as: 'ann', method: 'GET', path: '/orgs/acme' };
      },
    },
  ],
  'GET /api/v1/orgs': get('a page of all, as an administrator', '/orgs?limit=50&page=100', 'root'),
  'GET /api/v1/admin/orgs': get(
    'those without an owner, which are searched',
    '/admin/orgs?limit=50&ownerless=true',
    'root',
  ),
  'POST /api/v1/admin/users/:username/orgs': { as: 'POST /api/v1/orgs', because: 'creates an organization too' },
  'GET /api/v1/admin/overview': get('all counts', '/admin/overview', 'root'),
  'GET /api/v1/orgs/:org/overview': get('all counts', '/orgs/acme/overview'),
  'GET /api/v1/orgs/:org/members': [
    get('the last page', '/orgs/acme/members?limit=50&page=1000'),
    get('the last page, by name', '/orgs/acme/members?limit=50&page=1000&sort=name'),
    get('the last page, by time', '/orgs/acme/members?limit=50&page=1000&sort=joined'),
    get('searched', '/orgs/acme/members?limit=50&q=ass4999'),
    get('searched by time', '/orgs/acme/members?limit=50&page=100&q=ass4&sort=joined'),
  ],
  'GET /api/v1/orgs/:org/members/:username': oneRow,
  'GET /api/v1/orgs/:org/public_members': get('the last page', '/orgs/acme/public_members?limit=50&page=1000'),
  'GET /api/v1/orgs/:org/public_members/:username': oneRow,
  'PUT /api/v1/orgs/:org/members/:username': {
    what: 'one more among 50,000',
    shot: async (world, round) => {
      await world.run(`insert into account (kind, name) values ('user', 'late${round}') on conflict do nothing`);
      await world.run(
        `delete from team_member where team_id = $1 and account_id in (select id from account where name like 'mass1_')`,
        [world.viewers],
      );
      return { as: 'ann', path: `/orgs/acme/members/late${round}`, body: { team: 'Viewers' } };
    },
  },
  'DELETE /api/v1/orgs/:org/members/:username': {
    what: 'one of 50,000',
    shot: (_world, round) => ({ as: 'ann', path: `/orgs/acme/members/mass2${round}` }),
  },
  'GET /api/v1/orgs/:org/teams': get('the last page', '/orgs/acme/teams?limit=50&page=19'),
  'GET /api/v1/orgs/:org/teams/search': [
    get('searched', '/orgs/acme/teams/search?limit=50&q=a'),
    get('a team of 50,000', '/orgs/acme/teams/search?limit=50&q=viewers'),
  ],
  'POST /api/v1/orgs/:org/teams': {
    what: 'one more among 990',
    shot: (_world, round) => ({
      as: 'ann',
      path: '/orgs/acme/teams',
      body: mostKeys({ name: `late${round}`, permission: 'read', description: 'x'.repeat(1000) }),
    }),
  },
  'GET /api/v1/teams/:id': get('a team of 50,000', ({ viewers }) => `/teams/${viewers}`),
  'PATCH /api/v1/teams/:id': {
    what: 'a team that a hundred roles are assigned to',
    shot: ({ team }, round) => ({ as: 'ann', path: `/teams/${team}`, body: { description: `changed ${round}` } }),
  },
  'DELETE /api/v1/teams/:id': {
    what: 'a team of 50,000',
    isFirst: true,
    shot: async (world, round) => {
      await world.run(
        `with made as (insert into team (organization_id, name, permission, type) values ($1, $2, 'none', 'custom') returning id)
         insert into team_member (team_id, account_id) select made.id, a.id from made, account a where a.name like 'mass%'`,
        [world.acme, `doomed${round}`],
      );
      const [found] = await world.run<{ id: bigint }>(`select id from team where name = 'doomed${round}'`);
      return { as: 'ann', path: `/teams/${found?.id}` };
    },
  },
  'GET /api/v1/teams/:id/members': get('the last page', ({ viewers }) => `/teams/${viewers}/members?limit=50&page=999`),
  'GET /api/v1/teams/:id/members/:username': oneRow,
  'PUT /api/v1/teams/:id/members/:username': {
    what: 'one more among 50,000',
    shot: async (world, round) => {
      await world.run(
        `delete from team_member where team_id = $1 and account_id = (select id from account where name = $2)`,
        [world.viewers, `mass3${round}`],
      );
      return { as: 'ann', path: `/teams/${world.viewers}/members/mass3${round}` };
    },
  },
  'DELETE /api/v1/teams/:id/members/:username': [
    {
      what: 'one of 50,000',
      shot: ({ viewers }, round) => ({ as: 'ann', path: `/teams/${viewers}/members/mass4${round}` }),
    },
    {
      what: 'the first request after that',
      shot: async ({ atrium, viewers }, round) => {
        await atrium.as('ann')('GET', '/orgs/acme');
        await atrium.as('ann')('DELETE', `/teams/${viewers}/members/mass5${round}`);
        return { as: 'ann', method: 'GET', path: '/orgs/acme' };
      },
    },
  ],
  'GET /api/v1/teams/:id/roles': get('a hundred roles or more', ({ team }) => `/teams/${team}/roles`),
  'PUT /api/v1/teams/:id/roles/:role': {
    what: 'a role with all permissions',
    shot: async (world) => {
      await world.run('delete from assignment where role_id = $1 and team_id = $2', [world.role, world.viewers]);
      await world.run(
        'delete from assignment where role_id = $1 and team_id = (select max(team_id) from assignment where role_id = $1)',
        [world.role],
      );
      return { as: 'ann', path: `/teams/${world.viewers}/roles/${world.role}` };
    },
  },
  'DELETE /api/v1/teams/:id/roles/:role': {
    what: 'a role with a hundred teams',
    shot: async (world) => {
      const [found] = await world.run<{ id: bigint }>('select max(team_id) as id from assignment where role_id = $1', [
        world.role,
      ]);
      return { as: 'ann', path: `/teams/${found?.id}/roles/${world.role}` };
    },
  },
  'GET /api/v1/orgs/:org/clusters': [
    get('the last page, by heartbeat', '/orgs/acme/clusters?limit=200&page=99&sort=heartbeat'),
    get('searched', '/orgs/acme/clusters?limit=200&q=ster1'),
    get('searched without success', '/orgs/acme/clusters?limit=200&q=nowhere'),
  ],
  'POST /api/v1/orgs/:org/clusters': {
    what: 'one more among 20,000',
    shot: (_world, round) => ({
      as: 'ann',
      path: '/orgs/acme/clusters',
      body: mostKeys({ name: `late${round}`, uid: randomUUID() }),
    }),
  },
  'GET /api/v1/clusters/:id': oneRow,
  'PATCH /api/v1/clusters/:id': {
    what: 'all fields',
    shot: ({ cluster }, round) => ({
      as: 'ann',
      path: `/clusters/${cluster}`,
      body: mostKeys({ displayName: `changed ${round}`, endpoint: `https://${'x'.repeat(60)}.example.com` }),
    }),
  },
  'DELETE /api/v1/clusters/:id': {
    what: 'one of 20,000',
    shot: async (world, round) => {
      const [found] = await world.run<{ id: bigint }>(`select id from cluster where owner_id = $1 and name = $2`, [
        world.acme,
        `cluster5${round}`,
      ]);
      return { as: 'ann', path: `/clusters/${found?.id}` };
    },
  },
  'POST /api/v1/clusters/:id/token-review': oneRow,
  'POST /api/v1/clusters/:id/access-review': oneRow,
  'POST /api/v1/clusters/:id/kube-token': oneRow,
  'GET /api/v1/clusters/:id/kubeconfig': oneRow,
  'GET /api/v1/clusters/:id/reviews': oneRow,
  'GET /api/v1/clusters/:id/bindings': oneRow,
  'POST /api/v1/clusters/:id/heartbeat': {
    what: 'a body of 1 MiB',
    shot: ({ cluster }) => ({ as: 'ann', path: `/clusters/${cluster}/heartbeat`, body: mostKeys({ phase: 'Active' }) }),
  },
  'GET /api/v1/orgs/:org/contracts': get('the last page', '/orgs/acme/contracts?limit=50&page=19'),
  'POST /api/v1/orgs/:org/contracts': {
    what: 'with a hundred features and clusters',
    shot: (_world, round) => ({
      as: 'ann',
      path: '/orgs/acme/contracts',
      body: mostKeys({ name: `late${round}`, features: Array.from({ length: 100 }, (_, at) => `feature ${at}`) }),
    }),
  },
  'GET /api/v1/contracts/:id': oneRow,
  'PATCH /api/v1/contracts/:id': { as: 'POST /api/v1/orgs/:org/contracts', because: 'reads the same body' },
  'DELETE /api/v1/contracts/:id': oneWrite,
  'GET /api/v1/orgs/:org/invitations': {
    as: 'GET /api/v1/orgs/:org/robots',
    because: 'lists at most fifty rows',
  },
  'POST /api/v1/orgs/:org/invitations': oneWrite,
  'DELETE /api/v1/orgs/:org/invitations/:id': oneWrite,
  'POST /api/v1/orgs/:org/invitations/:id/resend': oneWrite,
  'GET /api/v1/invitations/:code': oneRow,
  'POST /api/v1/invitations/:code/accept': oneWrite,
  'GET /api/v1/orgs/:org/robots': get('the last page', '/orgs/acme/robots?limit=50&page=19'),
  'POST /api/v1/orgs/:org/robots': oneWrite,
  'GET /api/v1/robots/:id': oneRow,
  'PATCH /api/v1/robots/:id': oneWrite,
  'DELETE /api/v1/robots/:id': {
    what: 'a robot with 170 tokens',
    isFirst: true,
    shot: async (world, round) => {
      const [made] = await world.run<{ id: bigint }>(
        `insert into robot (owner_id, name) values ($1, $2) returning id`,
        [world.acme, `doomed${round}`],
      );
      await world.run(
        `insert into token (account_id, robot_id, name, hash, last_eight, scopes)
         select $1::bigint, $2::bigint, 't' || n, sha256(concat($2::bigint, '-', n)::bytea), '12345678', '{all}' from generate_series(1, 170) n`,
        [world.acme, made?.id],
      );
      return { as: 'ann', path: `/robots/${made?.id}` };
    },
  },
  'GET /api/v1/robots/:id/tokens': get('a page', ({ robot }) => `/robots/${robot}/tokens?limit=50&page=3`),
  'POST /api/v1/robots/:id/tokens': oneWrite,
  'DELETE /api/v1/robots/:id/tokens/:token': oneWrite,
  'POST /api/v1/robots/:id/tokens/:token/rotate': oneWrite,
  'GET /api/v1/robots/:id/trust_rules': get('a page', ({ robot }) => `/robots/${robot}/trust_rules`),
  'POST /api/v1/robots/:id/trust_rules': oneWrite,
  'GET /api/v1/robots/:id/trust_rules/:rule': oneRow,
  'PUT /api/v1/robots/:id/trust_rules/:rule': oneWrite,
  'DELETE /api/v1/robots/:id/trust_rules/:rule': oneWrite,
  'POST /api/v1/robots/:id/trust_rules/explain': {
    what: 'a token of 16 KiB that no rule accepts',
    shot: ({ robot }) => ({
      as: 'ann',
      path: `/robots/${robot}/trust_rules/explain`,
      body: { token: 'x'.repeat(16_000) },
    }),
  },

  'GET /api/v1/authz/model': get('the whole model', '/authz/model'),
  'GET /api/v1/authz/objects/:objectType': get(
    '20,000 clusters',
    '/authz/objects/cluster?org=acme&relation=can_view&limit=50',
  ),
  'GET /api/v1/authz/objects/:objectType/:objID/allowed-permissions': get(
    'of a team member, whose teams have a hundred roles',
    ({ acme }) => `/authz/objects/organization/${acme}/allowed-permissions?org=acme`,
    'dan',
  ),
  'POST /api/v1/authz/objects/allowed-permissions': {
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
  'GET /api/v1/authz/objects/:objectType/:objID/explain': [
    get('a yes', ({ cluster }) => `/authz/objects/cluster/${cluster}/explain?org=acme&relation=can_view&user=mass77`),
    get(
      'a no, for which ways are searched',
      ({ cluster }) => `/authz/objects/cluster/${cluster}/explain?org=acme&relation=can_remove&user=mass78`,
    ),
    get(
      'a yes with all paths',
      ({ cluster }) => `/authz/objects/cluster/${cluster}/explain?org=acme&relation=can_view&user=mass77&paths=all`,
    ),
    get(
      'a no with remedies',
      ({ cluster }) =>
        `/authz/objects/cluster/${cluster}/explain?org=acme&relation=can_remove&user=mass78&remedies=true`,
    ),
  ],
  'GET /api/v1/authz/objects/:objectType/:objID/principals': [
    get(
      '50,000 users',
      ({ cluster }) =>
        `/authz/objects/cluster/${cluster}/principals?org=acme&relation=can_view&also=can_connect,can_edit&limit=50`,
    ),
    get(
      '50,000 users, with reasons',
      ({ cluster }) => `/authz/objects/cluster/${cluster}/principals?org=acme&relation=can_view&reason=true&limit=50`,
    ),
    get(
      '50,000 users, a moment ago',
      ({ cluster }) => `/authz/objects/cluster/${cluster}/principals?org=acme&relation=can_view&at=${justNow()}`,
    ),
  ],
  'GET /api/v1/authz/changes': get('among 100,000 entries', '/authz/changes?org=acme&since=2026-01-01T00:00:00Z'),
  'GET /api/v1/authz/users/:username/access': [
    get('of the owner, 20,000 clusters', '/authz/users/ann/access?org=acme&limit=50'),
    get('of somebody in teams with a hundred roles', '/authz/users/dan/access?org=acme&limit=50'),
  ],
  'POST /api/v1/authz/matrix': [
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

  'GET /api/v1/orgs/:org/audit': [
    get('the largest page', '/orgs/acme/audit?limit=200'),
    get('what never happened', '/orgs/acme/audit?limit=200&action=token.create'),
  ],
  'GET /api/v1/orgs/:org/audit/actions': get('counted in 100,000 entries', '/orgs/acme/audit/actions'),
  'GET /api/v1/admin/audit/actions': get('counted in all entries', '/admin/audit/actions', 'root'),
  'GET /api/v1/orgs/:org/audit/histogram': [
    get('of 100,000 entries', '/orgs/acme/audit/histogram'),
    get('of one action', '/orgs/acme/audit/histogram?action=team.'),
  ],
  'GET /api/v1/admin/audit/histogram': get('of all entries', '/admin/audit/histogram', 'root'),
  'GET /api/v1/user/audit': get('the largest page', '/user/audit?limit=200'),
  'GET /api/v1/user/export': {
    as: 'GET /api/v1/orgs/:org/audit/export',
    because: 'streams the same entries, and lists that are measured by themselves',
  },
  'GET /api/v1/user/audit/export': { as: 'GET /api/v1/orgs/:org/audit/export', because: 'reads another chain' },
  'GET /api/v1/orgs/:org/audit/export': get('100,000 entries', '/orgs/acme/audit/export'),
  'GET /api/v1/orgs/:org/audit/verify': get('100,000 entries', '/orgs/acme/audit/verify?from=beginning'),
  'GET /api/v1/admin/audit/verify': { as: 'GET /api/v1/orgs/:org/audit/verify', because: 'reads another chain' },
  'GET /api/v1/admin/audit': get('what never happened, of all', '/admin/audit?limit=200&action=token.create', 'root'),
  'GET /api/v1/admin/audit/export': get('all entries', '/admin/audit/export', 'root'),
};

/** An organization of ann with 50,000 members in one team, 990 teams and 19,000 clusters. */
async function makeDoomed(world: FullWorld, name: string): Promise<string> {
  await world.run(
    `with made as (insert into account (kind, name, founder_id) values ('organization', $1, $2::bigint) returning id),
          owners as (insert into team (organization_id, name, permission, type)
                     select id, 'Owners', 'owner', 'builtin' from made returning id),
          owning as (insert into team_member (team_id, account_id) select id, $2::bigint from owners)
     insert into team (organization_id, name, permission, type)
     select made.id, 'team ' || n, 'none', 'custom' from made, generate_series(1, 990) n`,
    [name, world.ann],
  );
  const own = `(select id from account where name = '${name}')`;
  await world.run(
    `insert into cluster (owner_id, name, uid) select ${own}, 'c' || n, gen_random_uuid() from generate_series(1, 19000) n`,
  );
  await world.run(
    `insert into team_member (team_id, account_id)
     select (select min(id) from team where organization_id = ${own} and type = 'custom'), id
       from account where name like 'mass%'`,
  );
  return name;
}

/** The log of the filled world does not tell how it was filled, so only the last minute is known. */
function justNow(): string {
  return new Date(Date.now() - 1).toISOString();
}

function numbered(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${name}${at + 1}`);
}
