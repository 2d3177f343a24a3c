import { NO_ROLES, PERMISSIONS, roleFile } from '../../../bench/requests/bodies.ts';
import { type FullWorld, forgetAll } from '../../../bench/requests/fill.ts';
import { getAs, IN_A_MONTH, noteId, ORG } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

const VIEW_CLUSTERS = [{ namespace: 'cluster_mgmt', action: 'view clusters' }];

const ROLE_FILE = {
  apiVersion: 'atrium/v1',
  kind: 'Roles',
  organization: 'acme',
  roles: [
    {
      name: 'auditors',
      description: 'Reads the audit log.',
      permissions: { cluster_mgmt: ['view clusters'] },
      teams: ['Viewers'],
    },
  ],
};

const yaml = 'application/yaml';

async function wholeRole(world: FullWorld, name: string): Promise<object> {
  const teams = await world.run<{ id: bigint }>(
    `select id from team where organization_id = $1 and type = 'custom' order by id limit 100`,
    [world.acme],
  );
  return { name, permissions: PERMISSIONS, teamIDs: teams.map(({ id }) => Number(id)) };
}

export const ROLES = routes({
  'GET /api/v1/authz/roles/available_permissions': {
    names: '?org',
    example: () => ({ as: 'ann', query: ORG }),
    cost: getAs('the catalog', '/authz/roles/available_permissions?org=acme'),
  },
  'POST /api/v1/authz/roles': {
    body: { name: 'x', permissions: [{ namespace: 'no', action: 'such' }] },
    names: '?org ROLE',
    again: HAS_KEY,
    example: ({ id }) => ({
      as: 'ann',
      query: ORG,
      body: { name: 'viewers', description: 'Sees clusters.', permissions: VIEW_CLUSTERS, teamIDs: [id.viewers] },
      note: noteId('role'),
    }),
    cost: {
      what: 'with all permissions and a hundred teams',
      shot: async (world, round) => {
        await world.run(
          'delete from role where organization_id = $1 and id in (select max(id) from role where organization_id = $1)',
          [world.acme],
        );
        return { as: 'ann', path: '/authz/roles?org=acme', body: await wholeRole(world, `late${round}`) };
      },
    },
  },
  'GET /api/v1/authz/roles': {
    names: '?org ?at',
    example: () => ({ as: 'ann', query: ORG }),
    cost: [
      getAs('500 roles', '/authz/roles?org=acme'),
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
  },
  'GET /api/v1/authz/roles/:id': {
    names: 'id:role ?org ?at',
    example: ({ id }) => ({ as: 'ann', path: { id: id.role }, query: ORG }),
    cost: getAs('with a hundred teams', ({ role }) => `/authz/roles/${role}?org=acme`),
  },
  'POST /api/v1/authz/preview': {
    body: { changes: [{ action: 'role.create', role: { name: 'x' } }] },
    names: [
      '?org .changes[].action .changes[].id:team .changes[].team:team .changes[].username .changes[].orphan',
      '.changes[].document .changes[].prune .changes[].role.name .changes[].role.description',
      '.changes[].role.permissions[].namespace .changes[].role.permissions[].action .changes[].role.teamIDs[]',
      '.changes[].role.teams[]:team .changes[].role.id:role .changes[].to.type:text .changes[].to.id:team',
      '.changes[].to.name:teamName .changes[].on.type:objectType .changes[].on.id:cluster .changes[].on.name:clusterName',
      '.changes[].cluster.clusterSetName .changes[].cluster.kubernetes.auth .changes[].namespaces[]:text',
      '.changes[].expires_at .at .objects',
    ].join(' '),
    again: 'only reads',
    example: ({ id }) => ({
      as: 'ann',
      query: ORG,
      body: { changes: [{ action: 'team.remove_member', id: id.operators, username: 'dan' }] },
    }),
    cost: {
      what: 'a team of 50,000 members is deleted',
      shot: async (world) => {
        await forgetAll(world.atrium);
        await world.atrium.as('ann')('GET', '/orgs/acme');
        const changes = [{ action: 'team.delete', id: Number(world.viewers) }];
        return { as: 'ann', path: '/authz/preview?org=acme', body: { changes } };
      },
    },
  },
  'POST /api/v1/authz/roles/preview': {
    body: {},
    names: '?org ROLE .id:role .delete',
    again: 'only reads',
    example: ({ id }) => ({ as: 'ann', query: ORG, body: { id: id.role, permissions: VIEW_CLUSTERS } }),
    cost: {
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
  },
  'PUT /api/v1/authz/roles/:id': {
    body: {},
    names: 'id:role ?org ROLE',
    example: ({ created: { role = 0 } }) => ({
      as: 'ann',
      path: { id: role },
      query: ORG,
      body: { description: 'Sees every cluster.' },
    }),
    cost: {
      what: 'with all permissions and a hundred teams',
      shot: async (world, round) => ({
        as: 'ann',
        path: `/authz/roles/${world.role}?org=acme`,
        body: { ...(await wholeRole(world, 'role number 1')), description: `changed ${round}` },
      }),
    },
  },
  'GET /api/v1/authz/roles/:id/principals': {
    names: 'id:role ?org',
    example: ({ id }) => ({ as: 'ann', path: { id: id.role }, query: ORG }),
    cost: getAs('a hundred teams', ({ role }) => `/authz/roles/${role}/principals?org=acme`),
  },
  'GET /api/v1/authz/roles/export': {
    names: '?org ?format ?at',
    example: () => ({ as: 'ann', query: { ...ORG, format: 'json' } }),
    cost: [
      getAs('500 roles as YAML', '/authz/roles/export?org=acme'),
      getAs('500 roles as JSON', '/authz/roles/export?org=acme&format=json'),
    ],
  },
  'PUT /api/v1/authz/roles/import': {
    body: {},
    names: '?org ?dry_run ?prune :document',
    example: () => ({ as: 'ann', query: { ...ORG, dry_run: true }, body: ROLE_FILE }),
    cost: [
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
  },
  'GET /api/v1/teams/:id/roles': {
    names: 'id:team',
    example: ({ id }) => ({ as: 'ann', path: { id: id.operators } }),
    cost: getAs('a hundred roles or more', ({ team }) => `/teams/${team}/roles`),
  },
  'PUT /api/v1/teams/:id/roles/:role': {
    body: {},
    names: 'id:team role .expires_at',
    example: ({ id, created: { role = 0 } }) => ({
      as: 'ann',
      path: { id: id.operators, role },
      body: { expires_at: IN_A_MONTH },
    }),
    cost: {
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
  },
  'DELETE /api/v1/teams/:id/roles/:role': {
    names: 'id:team role',
    example: ({ id, created: { role = 0 } }) => ({ as: 'ann', path: { id: id.operators, role } }),
    cost: {
      what: 'a role with a hundred teams',
      shot: async (world) => {
        const [found] = await world.run<{ id: bigint }>(
          'select max(team_id) as id from assignment where role_id = $1',
          [world.role],
        );
        return { as: 'ann', path: `/teams/${found?.id}/roles/${world.role}` };
      },
    },
  },
  'DELETE /api/v1/authz/roles/:id': {
    names: 'id:role ?org',
    example: ({ created: { role = 0 } }) => ({ as: 'ann', path: { id: role }, query: ORG }),
    cost: {
      what: 'with all permissions and a hundred teams',
      shot: async (world) => {
        const [last] = await world.run<{ id: bigint }>('select max(id) as id from role where organization_id = $1', [
          world.acme,
        ]);
        return { as: 'ann', path: `/authz/roles/${last?.id}?org=acme` };
      },
    },
  },
});
