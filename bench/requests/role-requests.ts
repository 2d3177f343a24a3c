import { NO_ROLES, PERMISSIONS, roleFile } from './bodies.ts';
import type { Measured, Requests } from './entry.ts';
import { type FullWorld, forgetAll } from './fill.ts';

const yaml = 'application/yaml';

const get = (what: string, path: string | ((world: FullWorld) => string), as = 'ann'): Measured => ({
  what,
  shot: (world) => ({ as, path: typeof path === 'string' ? path : path(world) }),
});

/** The custom roles of acme, as many as it may have. */
export const ROLE_REQUESTS: Requests = {
  'GET /api/v1/authz/roles': [
    get('500 roles', '/authz/roles?org=acme'),
    {
      what: '500 roles, all of a team of 50,000 among others',
      shot: async (world) => {
        await world.run(
          `insert into assignment (role_id, team_id) select id, $1 from role
            where organization_id = (select organization_id from team where id = $1) on conflict do nothing`,
          [world.viewers],
        );
        return { as: 'ann', path: '/authz/roles?org=acme' };
      },
    },
  ],
  'POST /api/v1/authz/roles': {
    what: 'with all permissions and a hundred teams',
    shot: async (world, round) => {
      await world.run(
        'delete from role where organization_id = $1 and id in (select max(id) from role where organization_id = $1)',
        [world.acme],
      );
      return { as: 'ann', path: '/authz/roles?org=acme', body: await wholeRole(world, `late${round}`) };
    },
  },
  'GET /api/v1/authz/roles/available_permissions': get('the catalog', '/authz/roles/available_permissions?org=acme'),
  'GET /api/v1/authz/roles/export': [
    get('500 roles as YAML', '/authz/roles/export?org=acme'),
    get('500 roles as JSON', '/authz/roles/export?org=acme&format=json'),
  ],
  'PUT /api/v1/authz/roles/import': [
    {
      what: 'dry run of 480 roles',
      shot: () => ({
        as: 'ann',
        path: '/authz/roles/import?org=acme&dry_run=true',
        body: roleFile(480, 30, 'a'),
        type: yaml,
      }),
    },
    {
      what: '480 changed roles',
      shot: (_world, round) => ({
        as: 'ann',
        path: '/authz/roles/import?org=acme',
        body: roleFile(480, 30, `changed ${round}`),
        type: yaml,
      }),
    },
    {
      what: 'the first request after an import of 480 roles',
      shot: async ({ atrium }, round) => {
        await atrium.as('ann')('PUT', '/authz/roles/import?org=acme', roleFile(480, 30, `again ${round}`), {
          'Content-Type': yaml,
        });
        return { as: 'ann', method: 'GET', path: '/orgs/acme' };
      },
    },
    {
      what: '6,500 roles, too many',
      shot: () => ({
        as: 'ann',
        path: '/authz/roles/import?org=acme',
        body: roleFile(6500, 0, 'x').slice(0, -200),
        type: yaml,
        status: 422,
      }),
    },
    {
      what: 'a list of what is no role',
      shot: () => ({ as: 'ann', path: '/authz/roles/import?org=acme', body: NO_ROLES, type: yaml, status: 422 }),
    },
  ],
  'GET /api/v1/orgs/:org/file': get('everything of an organization of 50,000', '/orgs/acme/file'),
  'POST /api/v1/orgs/:org/plan': {
    what: '480 roles',
    shot: () => ({
      ...{ as: 'ann', method: 'POST', path: '/orgs/acme/plan', body: roleFile(480, 30, 'a'), type: yaml },
    }),
  },
  'PUT /api/v1/orgs/:org/file': {
    what: '480 changed roles',
    shot: (_world, round) => ({
      ...{ as: 'ann', path: '/orgs/acme/file', body: roleFile(480, 30, `filed ${round}`), type: yaml },
    }),
  },
  'POST /api/v1/authz/roles/preview': {
    what: 'all permissions to 50,000 members',
    shot: async (world) => {
      await world.run('delete from assignment where team_id = $1', [world.viewers]);
      await forgetAll(world.atrium);
      await world.atrium.as('ann')('GET', '/orgs/acme');
      return {
        as: 'ann',
        path: '/authz/roles/preview?org=acme',
        body: { name: 'new', permissions: PERMISSIONS, teamIDs: [Number(world.viewers)] },
      };
    },
  },
  'POST /api/v1/authz/preview': {
    what: 'a team of 50,000 members is deleted',
    shot: async (world) => {
      await forgetAll(world.atrium);
      await world.atrium.as('ann')('GET', '/orgs/acme');
      const changes = [{ action: 'team.delete', id: Number(world.viewers) }];
      return { as: 'ann', path: '/authz/preview?org=acme', body: { changes } };
    },
  },
  'GET /api/v1/authz/roles/:id': get('with a hundred teams', ({ role }) => `/authz/roles/${role}?org=acme`),
  'PUT /api/v1/authz/roles/:id': {
    what: 'with all permissions and a hundred teams',
    shot: async (world, round) => ({
      as: 'ann',
      path: `/authz/roles/${world.role}?org=acme`,
      body: { ...(await wholeRole(world, 'role number 1')), description: `changed ${round}` },
    }),
  },
  'DELETE /api/v1/authz/roles/:id': {
    what: 'with all permissions and a hundred teams',
    shot: async (world) => {
      const [last] = await world.run<{ id: bigint }>('select max(id) as id from role where organization_id = $1', [
        world.acme,
      ]);
      return { as: 'ann', path: `/authz/roles/${last?.id}?org=acme` };
    },
  },
  'GET /api/v1/authz/assignments': { as: 'GET /api/v1/authz/roles', because: 'lists at most fifty rows' },
  'POST /api/v1/authz/assignments': { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  'GET /api/v1/authz/assignments/:id': { as: 'GET /api/v1/authz/roles/:id', because: 'reads one row' },
  'PATCH /api/v1/authz/assignments/:id': { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  'DELETE /api/v1/authz/assignments/:id': { as: 'DELETE /api/v1/authz/roles/:id', because: 'deletes one row' },
  'GET /api/v1/authz/requests': { as: 'GET /api/v1/authz/roles', because: 'lists at most fifty rows' },
  'POST /api/v1/authz/requests': {
    as: 'POST /api/v1/authz/preview',
    because: 'previews one change, and writes one row',
  },
  'GET /api/v1/authz/requests/:id': { as: 'POST /api/v1/authz/preview', because: 'previews one change' },
  'POST /api/v1/authz/requests/:id/approve': { as: 'POST /api/v1/authz/preview', because: 'previews one change' },
  'POST /api/v1/authz/requests/:id/deny': { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  'POST /api/v1/authz/requests/:id/cancel': { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  'POST /api/v1/authz/requests/:id/end': { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  'POST /api/v1/authz/requests/:id/acknowledge': { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  'GET /api/v1/orgs/:org/request_rules': { as: 'GET /api/v1/authz/roles/:id', because: 'reads one row' },
  'PUT /api/v1/orgs/:org/request_rules': { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  'GET /api/v1/user/requests': { as: 'GET /api/v1/authz/roles', because: 'lists at most fifty rows' },
  'GET /api/v1/authz/guardrails': { as: 'GET /api/v1/authz/roles', because: 'lists a hundred rows, and their names' },
  'POST /api/v1/authz/guardrails': { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  'GET /api/v1/authz/guardrails/:id': { as: 'GET /api/v1/authz/roles/:id', because: 'reads one row' },
  'PUT /api/v1/authz/guardrails/:id': { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  'DELETE /api/v1/authz/guardrails/:id': { as: 'DELETE /api/v1/authz/roles/:id', because: 'deletes one row' },
  'POST /api/v1/authz/check': {
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
  'GET /api/v1/authz/roles/:id/principals': get(
    'a hundred teams',
    ({ role }) => `/authz/roles/${role}/principals?org=acme`,
  ),
};

async function wholeRole(world: FullWorld, name: string): Promise<object> {
  const teams = await world.run<{ id: bigint }>(
    `select id from team where organization_id = $1 and type = 'custom' order by id limit 100`,
    [world.acme],
  );
  return { name, permissions: PERMISSIONS, teamIDs: teams.map(({ id }) => Number(id)) };
}
