import { mostKeys } from '../../../bench/requests/bodies.ts';
import { getAs, IN_A_MONTH, noteId, ORG, PAGE, rowOfOrganization } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

export const TEAMS = routes({
  'GET /api/v1/orgs/:org/teams': {
    names: 'org PAGE',
    example: () => ({ as: 'ann', path: ORG, query: PAGE }),
    cost: getAs('the last page', '/orgs/acme/teams?limit=50&page=19'),
  },
  'GET /api/v1/orgs/:org/teams/search': {
    names: 'org ?q:teamName PAGE',
    example: () => ({ as: 'ann', path: ORG, query: { q: 'oper', ...PAGE } }),
    cost: [
      getAs('searched', '/orgs/acme/teams/search?limit=50&q=a'),
      getAs('a team of 50,000', '/orgs/acme/teams/search?limit=50&q=viewers'),
    ],
  },
  'POST /api/v1/orgs/:org/teams': {
    body: { name: '-' },
    names: 'org TEAM',
    again: HAS_KEY,
    example: () => ({
      as: 'ann',
      path: ORG,
      body: { name: 'support', description: 'Answers customers.', permission: 'read' },
      note: noteId('team'),
    }),
    cost: {
      what: 'one more among 990',
      shot: (_world, round) => ({
        as: 'ann',
        path: '/orgs/acme/teams',
        body: mostKeys({ name: `late${round}`, permission: 'read', description: 'x'.repeat(1000) }),
      }),
    },
  },
  'GET /api/v1/teams/:id': {
    names: 'id:team',
    example: ({ id }) => ({ as: 'ann', path: { id: id.operators } }),
    cost: getAs('a team of 50,000', ({ viewers }) => `/teams/${viewers}`),
  },
  'PATCH /api/v1/teams/:id': {
    body: {},
    names: 'id:team TEAM',
    example: ({ created: { team = 0 } }) => ({ as: 'ann', path: { id: team }, body: { permission: 'write' } }),
    cost: {
      what: 'a team that a hundred roles are assigned to',
      shot: ({ team }, round) => ({ as: 'ann', path: `/teams/${team}`, body: { description: `changed ${round}` } }),
    },
  },
  'PUT /api/v1/teams/:id/members/:username': {
    body: {},
    names: 'id:team username .expires_at',
    example: ({ created: { team = 0 } }) => ({
      as: 'ann',
      path: { id: team, username: 'cat' },
      body: { expires_at: IN_A_MONTH },
    }),
    cost: {
      what: 'one more among 50,000',
      shot: async (world, round) => {
        await world.run(
          `delete from team_member where team_id = $1 and account_id = (select id from account where name = $2)`,
          [world.viewers, `mass3${round}`],
        );
        return { as: 'ann', path: `/teams/${world.viewers}/members/mass3${round}` };
      },
    },
  },
  'GET /api/v1/teams/:id/members/:username': {
    names: 'id:team username',
    example: ({ created: { team = 0 } }) => ({ as: 'ann', path: { id: team, username: 'cat' } }),
    cost: rowOfOrganization,
  },
  'GET /api/v1/teams/:id/members': {
    names: 'id:team PAGE',
    example: ({ created: { team = 0 } }) => ({ as: 'ann', path: { id: team }, query: PAGE }),
    cost: getAs('the last page', ({ viewers }) => `/teams/${viewers}/members?limit=50&page=999`),
  },
  'DELETE /api/v1/teams/:id/members/:username': {
    names: 'id:team username',
    example: ({ created: { team = 0 } }) => ({ as: 'ann', path: { id: team, username: 'cat' } }),
    cost: [
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
  },
  'DELETE /api/v1/teams/:id': {
    names: 'id:team',
    example: ({ created: { team = 0 } }) => ({ as: 'ann', path: { id: team } }),
    cost: {
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
  },
});
