import { getAs, ORG, PAGE, rowOfOrganization } from './parts.ts';
import { routes } from './route.ts';

export const MEMBERS = routes({
  'GET /api/v1/orgs/:org/members': {
    names: 'org ?q:person ?team:teamName ?sort ?order PAGE',
    example: () => ({ as: 'ann', path: ORG, query: { sort: 'name', ...PAGE } }),
    cost: [
      getAs('the last page', '/orgs/acme/members?limit=50&page=1000'),
      getAs('the last page, by name', '/orgs/acme/members?limit=50&page=1000&sort=name'),
      getAs('the last page, by time', '/orgs/acme/members?limit=50&page=1000&sort=joined'),
      getAs('searched', '/orgs/acme/members?limit=50&q=ass4999'),
      getAs('searched by time', '/orgs/acme/members?limit=50&page=100&q=ass4&sort=joined'),
    ],
  },
  'GET /api/v1/orgs/:org/members/:username': {
    names: 'org username',
    example: () => ({ as: 'ann', path: { ...ORG, username: 'bob' } }),
    cost: rowOfOrganization,
  },
  'GET /api/v1/orgs/:org/public_members': {
    names: 'org PAGE',
    example: () => ({ as: 'ann', path: ORG, query: PAGE }),
    cost: getAs('the last page', '/orgs/acme/public_members?limit=50&page=1000'),
  },
  'GET /api/v1/orgs/:org/public_members/:username': {
    names: 'org username',
    example: () => ({ as: 'ann', path: { ...ORG, username: 'bob' } }),
    cost: rowOfOrganization,
  },
  'PUT /api/v1/orgs/:org/members/:username': {
    body: {},
    names: 'org username .team:teamName .expires_at',
    example: () => ({ as: 'ann', path: { ...ORG, username: 'eve' }, body: { team: 'Viewers' } }),
    cost: {
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
  },
  'DELETE /api/v1/orgs/:org/members/:username': {
    names: 'org username ?orphan',
    example: () => ({ as: 'ann', path: { ...ORG, username: 'eve' } }),
    cost: {
      what: 'one of 50,000',
      shot: (_world, round) => ({ as: 'ann', path: `/orgs/acme/members/mass2${round}` }),
    },
  },
});
