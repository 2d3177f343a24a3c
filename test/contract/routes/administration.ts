import { mostKeys } from '../../../bench/requests/bodies.ts';
import type { FullWorld } from '../../../bench/requests/fill.ts';
import { DEFAULT_LIMITS } from '../../../src/base/config/limits.ts';
import { statement } from '../../support/server/statement.ts';
import { getAs, PAGE, rowOfUser, writeOfUser } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

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

function password(round: number): string {
  return `${round}-${'long password '.repeat(17)}`.slice(0, 255);
}

/** Following one by one would take minutes: each follow changes the rows of both users. */
async function followPastTriggers({ atrium }: FullWorld, name: string, count: number): Promise<void> {
  await atrium.instance.db.transaction(async (query) => {
    await query(statement('set local session_replication_role = replica'));
    await query(
      statement(`insert into follow (follower_id, followed_id, seq)
        select f.id, a.id, row_number() over () from account a, account f where a.name = $1 and f.name like 'mass%'`),
      [name],
    );
    await query(
      statement(`insert into follow_block (followed_id, block, count)
        select f.followed_id, f.seq / 1000, count(*) from follow f join account a on a.id = f.followed_id and a.name = $1
         group by 1, 2`),
      [name],
    );
    await query(
      statement(`insert into follow (follower_id, followed_id, seq)
        select f.id, a.id, 100000 + f.id from account a, account f where a.name like 'mass%' and f.name = $1 limit $2`),
      [name, count],
    );
  });
}

/** What site administrators do with users and organizations, and organizations that come and go. */
export const ADMINISTRATION = routes({
  'POST /api/v1/admin/users': {
    body: { username: '-', email: 'x@example.com' },
    names: '.username .email .full_name .password:secret .admin .active .prohibit_login',
    again: HAS_KEY,
    example: () => ({
      as: 'root',
      body: {
        username: 'newcomer',
        email: 'newcomer@example.com',
        full_name: 'Nina Newcomer',
        password: 'an example password',
      },
    }),
    cost: {
      what: 'with a password that is hashed in other threads',
      shot: (_world, round) => ({
        as: 'root',
        path: '/admin/users',
        body: mostKeys({ username: `made${round}`, email: `made${round}@example.com`, password: password(round) }),
      }),
    },
  },
  'GET /api/v1/admin/users': {
    names: '?q:person ?state PAGE',
    example: () => ({ as: 'root', query: { q: 'newcomer', ...PAGE } }),
    cost: [
      getAs('the last page of 50,000', '/admin/users?limit=50&page=1000', 'root'),
      getAs('searched', '/admin/users?limit=50&q=ass4999', 'root'),
    ],
  },
  'PATCH /api/v1/admin/users/:username': {
    body: {},
    names:
      'username .email .password:secret .full_name .language .location .website .description .admin .active .prohibit_login',
    example: () => ({ as: 'root', path: { username: 'newcomer' }, body: { location: 'Bern', active: true } }),
    cost: { as: 'POST /api/v1/admin/users', because: 'reads the same body' },
  },
  'POST /api/v1/admin/users/:username/view-as': {
    names: 'username',
    again: 'records what happens; twice is what happened',
    example: () => ({ as: 'root', path: { username: 'bob' } }),
    cost: {
      as: 'POST /api/v1/admin/users',
      because: 'reads one user and writes one audit entry',
    },
  },
  'POST /api/v1/admin/users/:username/password_link': {
    names: 'username',
    again: HAS_KEY,
    example: () => ({ as: 'root', path: { username: 'newcomer' } }),
    cost: writeOfUser,
  },
  'GET /api/v1/admin/users/:username/teams': {
    names: 'username',
    example: () => ({ as: 'root', path: { username: 'bob' } }),
    cost: {
      as: 'GET /api/v1/user/teams',
      because: 'reads the same of another user',
    },
  },
  'POST /api/v1/admin/users/:username/orgs': {
    body: { username: '-' },
    names: 'username .username:newName ORGANIZATION',
    again: HAS_KEY,
    example: () => ({
      as: 'root',
      path: { username: 'newcomer' },
      body: { username: 'initech', full_name: 'Initech' },
    }),
    cost: { as: 'POST /api/v1/orgs', because: 'creates an organization too' },
  },
  'GET /api/v1/admin/overview': {
    names: '',
    example: () => ({ as: 'root' }),
    cost: getAs('all counts', '/admin/overview', 'root'),
  },
  'GET /api/v1/admin/orgs': {
    names: 'PAGE ?q:organization ?ownerless',
    example: () => ({ as: 'root', query: { q: 'init', ...PAGE } }),
    cost: getAs('those without an owner, which are searched', '/admin/orgs?limit=50&ownerless=true', 'root'),
  },
  'POST /api/v1/orgs': {
    body: { username: '-' },
    names: '.username:newName ORGANIZATION',
    again: HAS_KEY,
    example: () => ({ as: 'ann', body: { username: 'hooli', full_name: 'Hooli', website: 'https://hooli.example' } }),
    cost: {
      what: 'a body of 1 MiB',
      shot: (_world, round) => ({ as: 'ann', path: '/orgs', body: mostKeys({ username: `new${round}` }) }),
    },
  },
  'PATCH /api/v1/orgs/:org': {
    body: {},
    names: 'org .username:newName ORGANIZATION',
    example: () => ({ as: 'ann', path: { org: 'hooli' }, body: { location: 'Bern' } }),
    cost: {
      what: 'a body of 1 MiB',
      shot: () => ({ as: 'ann', path: '/orgs/acme', body: mostKeys({ description: 'x'.repeat(1000) }) }),
    },
  },
  'DELETE /api/v1/orgs/:org': {
    names: 'org',
    example: () => ({ as: 'ann', path: { org: 'hooli' } }),
    cost: [
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
  },
  'PUT /api/v1/admin/users/:username/hold': {
    body: { reason: 'case 7' },
    names: 'username .reason',
    example: () => ({ as: 'root', path: { username: 'dan' }, body: { reason: 'case 4711' } }),
    cost: writeOfUser,
  },
  'GET /api/v1/admin/holds': { names: 'PAGE', example: () => ({ as: 'root', query: PAGE }), cost: rowOfUser },
  'DELETE /api/v1/admin/users/:username/hold': {
    names: 'username',
    example: () => ({ as: 'root', path: { username: 'dan' }, status: 204 }),
    cost: writeOfUser,
  },
  'GET /api/v1/admin/reserved-names': {
    names: 'PAGE',
    example: () => ({ as: 'root', query: PAGE }),
    cost: getAs('a page', '/admin/reserved-names?limit=50', 'root'),
  },
  'DELETE /api/v1/admin/reserved-names/:name': {
    names: 'name:organization',
    example: () => ({ as: 'root', path: { name: 'hooli' } }),
    cost: { as: 'PATCH /api/v1/user', because: 'deletes one row' },
  },
  'DELETE /api/v1/admin/users/:username': {
    names: 'username ?orphan ?erase',
    example: () => ({ as: 'root', path: { username: 'cat' } }),
    cost: {
      what: 'a member of 10,000 organizations with 19,000 clusters who follows 5,000 and is followed by 50,000',
      shot: async (world, round) => {
        const name = `doomed-user${round}`;
        const own = `(select id from account where name = '${name}')`;
        await world.run(`insert into account (kind, name) values ('user', '${name}')`);
        await world.run(
          `insert into team_member (team_id, account_id) select min(t.id), ${own} from team t join account a on a.id = t.organization_id
          where a.name like 'many%' group by a.id`,
        );
        await world.run(
          `insert into cluster (owner_id, name, uid) select ${own}, 'c' || n, gen_random_uuid() from generate_series(1, 19000) n`,
        );
        await followPastTriggers(world, name, DEFAULT_LIMITS.followsPerUser);
        return { as: 'root', path: `/admin/users/${name}?orphan=true` };
      },
    },
  },
});
