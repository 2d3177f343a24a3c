import { randomUUID } from 'node:crypto';
import { DEFAULT_LIMITS } from '../../src/base/config/limits.ts';
import { statement } from '../../test/support/server/statement.ts';
import { largestOrder, mostKeys } from './bodies.ts';
import type { Measured, Requests } from './entry.ts';
import type { FullWorld } from './fill.ts';

const get = (what: string, path: string | ((world: FullWorld) => string), as = 'ann'): Measured => ({
  what,
  shot: (world) => ({ as, path: typeof path === 'string' ? path : path(world) }),
});

const oneRow = { as: 'GET /api/v1/users/:username', because: 'reads one row by its key' };
const oneWrite = { as: 'PATCH /api/v1/user', because: 'writes one row, with a smaller body' };

const credential = (name: string) => mostKeys({ name, type: 'Rancher', rancher: { endpoint: 'https://x' } });

/** What belongs to a user: ann has as much of everything as she may, and dan is in 10,000 organizations. */
export const USER_REQUESTS: Requests = {
  'GET /api/v1/user': get('a member of 10,000 organizations', '/user?check_client_org=true', 'dan'),
  'GET /api/v1/events': [get('without following', '/events?org=acme&follow=false')],
  'GET /api/v1/search': [
    get('in the largest organization', '/search?q=e&org=acme'),
    get('everywhere, as a site administrator', '/search?q=e', 'root'),
  ],
  'GET /api/v1/user/context': [
    get('in the largest organization', '/user/context?org=acme'),
    get('as a member of 10,000 organizations', '/user/context', 'dan'),
  ],
  'PATCH /api/v1/user': {
    what: 'a body of 1 MiB',
    shot: (_world, round) => ({ as: 'ann', path: '/user', body: mostKeys({ description: `changed ${round}` }) }),
  },
  'PUT /api/v1/user/password': {
    what: 'the longest password, which is hashed in other threads',
    shot: ({ atrium }, round) => ({
      as: 'cat',
      path: '/user/password',
      body: { current: round === 0 ? atrium.world.users.cat?.password : password(round - 1), new: password(round) },
    }),
  },
  'GET /api/v1/user/orgs': get('the last page of 10,000', '/user/orgs?limit=50&page=199', 'dan'),
  'GET /api/v1/user/settings/organizations': get('10,000, which are not paged', '/user/settings/organizations', 'dan'),
  'GET /api/v1/admin/users/:username/teams': {
    as: 'GET /api/v1/user/teams',
    because: 'reads the same of another user',
  },
  'GET /api/v1/user/teams': get('the last page of 10,000', '/user/teams?limit=50&page=199', 'dan'),
  'GET /api/v1/user/followers': get('the last page of 50,000', '/user/followers?limit=50&page=1000'),
  'GET /api/v1/user/following': get('the last page of 5,000', '/user/following?limit=50&page=99'),
  'GET /api/v1/user/following/:username': oneRow,
  'GET /api/v1/users/:username/followers': get('the last page of 50,000', '/users/ann/followers?limit=50&page=1000'),
  'GET /api/v1/users/:username/following': get('the last page of 5,000', '/users/ann/following?limit=50&page=99'),
  'GET /api/v1/users/:username/following/:target': oneRow,
  'GET /api/v1/users/:username/orgs': get('the last page of 10,000', '/users/dan/orgs?limit=50&page=199', 'dan'),
  'PUT /api/v1/user/following/:username': {
    what: 'one more than 5,000',
    shot: (_world, round) => ({ as: 'ann', path: `/user/following/mass4999${round}` }),
  },
  'DELETE /api/v1/user/following/:username': {
    what: 'one of 5,000',
    shot: (_world, round) => ({ as: 'ann', path: `/user/following/mass49${round}` }),
  },
  'GET /api/v1/user/emails': get('20 addresses', '/user/emails'),
  'POST /api/v1/user/emails': {
    what: 'as many addresses as a body holds',
    shot: () => ({
      as: 'ann',
      path: '/user/emails',
      body: { emails: Array.from({ length: 45_000 }, (_, at) => `a${at}@example.com`) },
      status: 422,
    }),
  },
  'DELETE /api/v1/user/emails': {
    what: 'as many addresses as a body holds',
    shot: () => ({
      as: 'ann',
      path: '/user/emails',
      body: { emails: Array.from({ length: 45_000 }, (_, at) => `a${at}@example.com`) },
      status: 422,
    }),
  },
  'GET /api/v1/user/emails/confirm': oneRow,
  'GET /api/v1/user/sessions': get('90 sessions', '/user/sessions'),
  'DELETE /api/v1/user/sessions': {
    what: '90 sessions',
    shot: async (world, round) => {
      await world.run(
        `insert into session (hash, account_id, csrf, expires_at)
         select sha256(concat($1::text, 's', n)::bytea), $2::bigint, 'x', now() + interval '1 day' from generate_series(1, 90) n`,
        [`${round}`, world.atrium.world.users.bob?.id],
      );
      return { as: 'bob', path: '/user/sessions' };
    },
  },
  'DELETE /api/v1/user/sessions/:id': { as: 'DELETE /api/v1/user/sessions', because: 'ends one session, not all' },
  'POST /api/v1/user/signin': {
    what: 'a password that is hashed in other threads',
    shot: ({ atrium }) => ({
      path: '/user/signin',
      body: { username: 'ann', password: atrium.world.users.ann?.password },
    }),
  },
  'POST /api/v1/user/signin/factor': { as: 'POST /api/v1/user/signin', because: 'checks a code instead of a password' },
  'POST /api/v1/user/signin/passkey': { as: 'POST /api/v1/user/signin', because: 'checks a signature, no password' },
  'POST /api/v1/user/signin/passkey/options': {
    what: 'a challenge, which is signed and not stored',
    shot: () => ({ path: '/user/signin/passkey/options' }),
  },
  'POST /api/v1/user/reauthenticate': { as: 'POST /api/v1/user/signin', because: 'checks a password as well' },
  'POST /api/v1/user/reauthenticate/options': {
    as: 'POST /api/v1/user/signin/passkey/options',
    because: 'signs the same, and reads at most 20 passkeys',
  },
  'GET /api/v1/user/factors': get('at most 20 passkeys', '/user/factors'),
  'POST /api/v1/user/factors/passkeys': { as: 'GET /api/v1/user/factors', because: 'counts at most 20, adds one' },
  'POST /api/v1/user/factors/passkeys/options': {
    as: 'POST /api/v1/user/signin/passkey/options',
    because: 'signs the same, and reads at most 20 passkeys',
  },
  'PATCH /api/v1/user/factors/passkeys/:id': oneRow,
  'DELETE /api/v1/user/factors/passkeys/:id': oneRow,
  'POST /api/v1/user/factors/totp': {
    as: 'POST /api/v1/user/signin/passkey/options',
    because: 'signs a secret instead of a challenge',
  },
  'PUT /api/v1/user/factors/totp': oneRow,
  'DELETE /api/v1/user/factors/totp': oneRow,
  'POST /api/v1/user/factors/recovery_codes': { as: 'GET /api/v1/user/factors', because: 'replaces ten rows' },
  'GET /api/v1/admin/factors': get('the last page of all users', '/admin/factors?limit=50&page=1000', 'root'),
  'GET /api/v1/admin/users/:username/factors': { as: 'GET /api/v1/user/factors', because: 'reads the same list' },
  'DELETE /api/v1/admin/users/:username/factors': {
    as: 'DELETE /api/v1/user/sessions',
    because: 'ends all sessions, and removes at most 20 passkeys',
  },
  'GET /api/v1/orgs/:org/second_factor': oneRow,
  'PUT /api/v1/orgs/:org/second_factor': oneRow,
  'GET /api/v1/orgs/:org/second_factor/members': get(
    'the last page of the largest organization',
    '/orgs/acme/second_factor/members?missing=true&limit=50&page=900',
  ),
  'GET /api/v1/user/signout': { as: 'DELETE /api/v1/user/sessions', because: 'ends one session, not all' },

  'GET /api/v1/user/clusters': [
    get('20,000 of a user', '/user/clusters'),
    get('all that 10,000 organizations have', '/user/clusters?all=true', 'dan'),
    get('20,000 of a user and as many of an organization', '/user/clusters?all=true'),
  ],
  'GET /api/v1/clustersv2/:owner': [
    get('20,000 of a user', '/clustersv2/ann'),
    get('20,000 of an organization', '/clustersv2/acme'),
  ],
  'GET /api/v1/clustersv2/:owner/:cluster': oneRow,
  'GET /api/v1/clustersv2/:owner/:cluster/status': oneRow,
  'GET /api/v1/clustersv2/:owner/:cluster/exist': oneRow,
  'POST /api/v1/clustersv2/:owner/check': oneRow,
  'POST /api/v1/user/clusters': {
    what: 'one more among 20,000',
    shot: (_world, round) => ({
      as: 'ann',
      path: '/user/clusters',
      body: mostKeys({ name: `late${round}`, uid: randomUUID() }),
    }),
  },

  'GET /api/v1/user/credentials': [
    get('all of 8 MiB', '/user/credentials'),
    get('all of a platform', '/user/credentials?mgmt_endpoint=https://x'),
    get('summaries', '/user/credentials?summary=true'),
  ],
  'POST /api/v1/user/credentials': {
    what: '1 MiB of keys',
    shot: async (world, round) => {
      await world.atrium.as('bob')('DELETE', `/user/credentials/big${round - 1}`);
      return { as: 'bob', path: '/user/credentials', body: credential(`big${round}`) };
    },
  },
  'PUT /api/v1/user/credentials': {
    what: '1 MiB of keys',
    shot: async ({ atrium }) => {
      await atrium.as('bob')('POST', '/user/credentials', { name: 'kept', type: 'Rancher' });
      return { as: 'bob', path: '/user/credentials', body: credential('kept') };
    },
  },
  'GET /api/v1/user/credentials/:credName': get('1 MiB', '/user/credentials/kept', 'bob'),
  'DELETE /api/v1/user/credentials/:credName': { as: 'PUT /api/v1/user/credentials', because: 'seals nothing' },

  'GET /api/v1/user/deploy/orders': get('the last page of 1,000', '/user/deploy/orders?limit=50&page=19'),
  'POST /api/v1/user/deploy/orders': {
    what: 'the largest order',
    shot: () => ({ as: 'bob', path: '/user/deploy/orders', body: largestOrder() }),
  },
  'DELETE /api/v1/user/deploy/orders/:id': oneWrite,
  'GET /api/v1/user/deploy/orders/:id/render/manifest': get(
    'the largest order',
    ({ order }) => `/user/deploy/orders/${order}/render/manifest`,
  ),
  'GET /api/v1/user/deploy/orders/:id/render/resources': [
    get('the largest order as JSON', ({ order }) => `/user/deploy/orders/${order}/render/resources`),
    get('the largest order as YAML', ({ order }) => `/user/deploy/orders/${order}/render/resources?format=yaml`),
  ],

  'GET /api/v1/users/:username/tokens': get('a page', '/users/ann/tokens?limit=50&page=3'),
  'POST /api/v1/users/:username/tokens': oneWrite,
  'POST /api/v1/users/:username/tokens/:token/rotate': oneWrite,
  'GET /api/v1/user/token': get('its own', '/user/token'),
  'POST /api/v1/user/token/rotate': oneWrite,
  'GET /api/v1/user/token_policy': get('the rules', '/user/token_policy'),
  'GET /api/v1/admin/token_policy': get('the rules', '/admin/token_policy', 'root'),
  'PUT /api/v1/admin/token_policy': oneWrite,
  'GET /api/v1/orgs/:org/token_policy': get('the rules', '/orgs/acme/token_policy'),
  'PUT /api/v1/orgs/:org/token_policy': oneWrite,
  'DELETE /api/v1/users/:username/tokens/:token': {
    what: 'one of 170',
    shot: (_world, round) => ({ as: 'ann', path: `/users/ann/tokens/token${round + 1}` }),
  },
  'GET /api/v1/users/:username': get('one', '/users/ann'),
  'GET /api/v1/users/search': get('among 50,000', '/users/search?q=ass4999&limit=50'),
  'POST /api/v1/user/device': oneWrite,
  'POST /api/v1/user/device/token': oneWrite,
  'GET /api/v1/user/device/:code': oneRow,
  'POST /api/v1/user/device/:code': oneWrite,
  'GET /api/v1/user/providers': { as: 'GET /api/v1/admin/providers', because: 'reads the same list' },
  'GET /api/v1/user/linked_accounts': oneRow,
  'POST /api/v1/user/linked_accounts': { as: 'PATCH /api/v1/user', because: 'reads one row, and waits for a provider' },
  'DELETE /api/v1/user/linked_accounts/:id': oneWrite,
  'GET /api/v1/user/link_request': { as: 'GET /api/v1/users/:username', because: 'reads only a cookie' },
  'POST /api/v1/user/link_request': oneWrite,
  'POST /api/v1/user/signout': { as: 'DELETE /api/v1/user/sessions', because: 'ends one session, not all' },
  'GET /api/v1/user/signin/:provider': oneRow,
  'GET /api/v1/user/signin/:provider/callback': oneWrite,
  'POST /api/v1/user/signin/:provider/backchannel_logout': oneWrite,
  'GET /api/v1/admin/providers': get('all of them', '/admin/providers', 'root'),
  'POST /api/v1/admin/providers': { as: 'PATCH /api/v1/user', because: 'writes one row' },
  'GET /api/v1/admin/providers/:provider': oneRow,
  'PATCH /api/v1/admin/providers/:provider': { as: 'PATCH /api/v1/user', because: 'writes one row' },
  'DELETE /api/v1/admin/providers/:provider': oneWrite,
  'POST /api/v1/admin/providers/:provider/preview': oneRow,
  'POST /api/v1/admin/providers/:provider/test': oneRow,
  'GET /api/v1/admin/users/:username/linked_accounts': oneRow,
  'DELETE /api/v1/admin/users/:username/linked_accounts/:id': oneWrite,
  'PUT /api/v1/admin/users/:username/link_permission': oneWrite,
  'GET /api/v1/admin/users': [
    get('the last page of 50,000', '/admin/users?limit=50&page=1000', 'root'),
    get('searched', '/admin/users?limit=50&q=ass4999', 'root'),
  ],
  'POST /api/v1/admin/users': {
    what: 'with a password that is hashed in other threads',
    shot: (_world, round) => ({
      as: 'root',
      path: '/admin/users',
      body: mostKeys({ username: `made${round}`, email: `made${round}@example.com`, password: password(round) }),
    }),
  },
  'POST /api/v1/admin/users/:username/password_link': oneWrite,
  'GET /api/v1/admin/holds': oneRow,
  'PUT /api/v1/admin/users/:username/hold': oneWrite,
  'DELETE /api/v1/admin/users/:username/hold': oneWrite,
  'POST /api/v1/user/password/forgot': { as: 'POST /api/v1/user/device', because: 'answers before it does anything' },
  'POST /api/v1/user/password/reset': { as: 'POST /api/v1/user/signin', because: 'hashes one password' },
  'POST /api/v1/user/signup': { as: 'POST /api/v1/user/device', because: 'answers before it does anything' },
  'POST /api/v1/user/signup/confirm': { as: 'POST /api/v1/user/signin', because: 'hashes one password' },
  'POST /api/v1/admin/users/:username/view-as': {
    as: 'POST /api/v1/admin/users',
    because: 'reads one user and writes one audit entry',
  },
  'PATCH /api/v1/admin/users/:username': { as: 'POST /api/v1/admin/users', because: 'reads the same body' },
  'DELETE /api/v1/admin/users/:username': {
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
  'GET /api/v1/admin/users/:username/sessions': { as: 'GET /api/v1/user/sessions', because: 'reads the same list' },
  'DELETE /api/v1/admin/users/:username/sessions': { as: 'DELETE /api/v1/user/sessions', because: 'does the same' },
  'POST /api/v1/user/validate/email': oneRow,
  'POST /api/v1/user/validate/orgname': oneRow,
  'POST /api/v1/user/validate/username': oneRow,

  'GET /api/v1/user/bus/credentials': get('of an owner of 20,000 clusters', '/user/bus/credentials'),
  'GET /api/v1/user/nats/credentials': { as: 'GET /api/v1/user/bus/credentials', because: 'is its other name' },
  'GET /api/v1/user/bus/user_credentials': {
    as: 'GET /api/v1/user/bus/credentials',
    because: 'issues the same credentials',
  },
  'GET /api/v1/user/bus/admin_credentials': get('of an administrator', '/user/bus/admin_credentials', 'root'),
  'GET /api/v1/user/bus/cluster-resource-history': {
    as: 'GET /api/v1/user/clusters',
    because: 'shows at most 1,000 small reports, which a message bus sends one by one',
  },
  'GET /api/v1/user/clouds/:cloud/buckets': {
    as: 'GET /api/v1/user/credentials/:credName',
    because: 'opens one credential; the cloud is called, and its answer read, in a thread of its own',
  },
  'POST /api/v1/user/clouds/:cloud/buckets': {
    as: 'GET /api/v1/user/clouds/:cloud/buckets',
    because: 'does the same, with its parameters in a body',
  },
};

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
