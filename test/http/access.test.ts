import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type Access,
  anyone,
  callerOf,
  member,
  signedIn,
  siteAdmin,
  webhook,
} from '../../src/http/admission/access.ts';
import type { Scope } from '../../src/http/server.ts';
import { type Annex, openAnnex } from '../support/server/annex.ts';

const ROUTES: readonly [string, Access][] = [
  ['/anyone', anyone],
  ['/webhook', webhook],
  ['/signed-in', signedIn('user', 'never')],
  ['/reads', signedIn('authz', 'never', { level: 'read' })],
  ['/site-admin', siteAdmin('admin')],
  ['/member', member('authz', 'as users')],
  ['/organization', signedIn('authz', 'never', { about: 'query' })],
  ['/query', signedIn('authz', 'never', { queryToken: true })],
];

function mount(scope: Scope): void {
  for (const [url, access] of ROUTES) {
    scope.route({
      url,
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      config: { access },
      handler: async (request) => ({ who: request.caller?.person.login ?? null, via: request.caller?.via ?? null }),
    });
  }
  scope.get('/forgetful', { config: { access: anyone } }, async (request) => callerOf(request).person.login);
}

describe('Route access', () => {
  let annex: Annex;
  before(async () => {
    annex = await openAnnex(mount);
  });
  after(() => annex.close());

  const user = (name: string) => annex.atrium.world.users[name] ?? assert.fail(name);
  const call = async (
    name: string | undefined,
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    headers: object = {},
  ) => {
    const credential = name === undefined ? {} : { authorization: `token ${user(name).token}` };
    const answer = await annex.app.inject({ method, url, headers: { host: 'a', ...credential, ...headers } });
    return { status: answer.statusCode, body: answer.json() };
  };
  const MEMBERS = 'Must be an organization member';
  const ADMINS = 'only site administrators can call this route';

  const table: readonly [string, string | undefined, number, string | undefined][] = [
    ['/anyone', undefined, 200, undefined],
    ['/webhook', undefined, 200, undefined],
    ['/signed-in', undefined, 401, 'token is required'],
    ['/signed-in', 'eve', 200, undefined],
    ['/site-admin', undefined, 401, 'token is required'],
    ['/site-admin', 'ann', 403, ADMINS],
    ['/site-admin', 'root', 200, undefined],
    ['/member?org=acme', undefined, 401, 'token is required'],
    ['/member?org=acme', 'ann', 200, undefined],
    ['/member?org=ACME', 'cat', 200, undefined],
    ['/member?org=acme', 'dan', 200, undefined],
    ['/member?org=acme', 'root', 200, undefined],
    ['/member?org=acme', 'eve', 403, MEMBERS],
    ['/member?org=nowhere', 'ann', 403, MEMBERS],
    ['/member?org=nowhere', 'root', 403, MEMBERS],
    ['/member?org=ann', 'ann', 403, MEMBERS],
    ['/member', 'ann', 400, 'query parameter org is required'],
    ['/member?org=', 'ann', 400, 'query parameter org is required'],
    ['/member?org=acme&org=acme', 'ann', 400, 'query parameter org is given more than once'],
    ['/member?org=%F0%9F%A6%8A', 'ann', 403, MEMBERS],
    [`/member?org=${'a'.repeat(10_000)}`, 'ann', 403, MEMBERS],
    ['/organization?org=acme', 'eve', 200, undefined],
    ['/organization?org=nowhere', 'eve', 403, MEMBERS],
    ['/organization', 'eve', 400, 'query parameter org is required'],
    ['/forgetful', 'ann', 500, 'internal error'],
  ];
  for (const [url, name, status, message] of table) {
    it(`GET ${url.slice(0, 40)} by ${name ?? 'an anonymous caller'} is answered with ${status}`, async () => {
      const answer = await call(name, 'GET', url);
      assert.deepEqual([answer.status, answer.body.message], [status, message]);
    });
  }

  it('A writing method requires the write scope unless the route is declared as reading', async () => {
    const { text } = await annex.atrium.instance.identity.tokens.issue({
      accountId: user('ann').id,
      name: 'narrow',
      scopes: ['read:user', 'read:authz'],
    });
    const as = { authorization: `token ${text}` };
    assert.equal((await call(undefined, 'GET', '/signed-in', as)).status, 200);
    const refused = await call(undefined, 'POST', '/signed-in', as);
    assert.equal(refused.status, 403);
    assert.match(refused.body.message, /required=\[write:user\], token scope=read:user,read:authz$/);
    assert.equal((await call(undefined, 'POST', '/reads', as)).status, 200);
  });

  it('A session requires its CSRF token for every request that changes something', async () => {
    const session = await annex.atrium.instance.identity.sessions.open(user('ann').id, false, new Date());
    const cookie = `atrium_session=${session.text}; _csrf=${session.csrf}`;
    assert.deepEqual((await call(undefined, 'GET', '/signed-in', { cookie })).body, { who: 'ann', via: 'session' });
    for (const method of ['POST', 'DELETE'] as const) {
      for (const headers of [
        {},
        { 'x-csrf-token': '' },
        { 'x-csrf-token': 'guess' },
        { 'x-csrf-token': session.text },
      ]) {
        const answer = await call(undefined, method, '/signed-in', { cookie, ...headers });
        assert.equal(answer.status, 403);
        assert.match(answer.body.message, /X-Csrf-Token/);
      }
      const answer = await call(undefined, method, '/signed-in', { cookie, 'x-csrf-token': session.csrf });
      assert.deepEqual(answer.body, { who: 'ann', via: 'session' });
    }
    const other = await annex.atrium.instance.identity.sessions.open(user('eve').id, false, new Date());
    assert.equal((await call(undefined, 'POST', '/signed-in', { cookie, 'x-csrf-token': other.csrf })).status, 403);
    assert.equal((await call('eve', 'POST', '/signed-in', { cookie })).body.who, 'eve', 'a token needs none');
  });

  it('A query token is accepted only on routes that allow it, and takes precedence over the header', async () => {
    const token = user('ann').token;
    assert.equal((await call(undefined, 'GET', `/query?token=${token}`)).body.who, 'ann');
    assert.equal((await call('eve', 'GET', `/query?access_token=${token}`)).body.who, 'ann');
    assert.equal((await call(undefined, 'GET', `/query?token=${token}&access_token=x`)).body.who, 'ann');
    assert.equal((await call('eve', 'GET', '/query?token=x')).status, 401);
    assert.equal((await call(undefined, 'GET', `/query?token=${token}&token=${token}`)).status, 401);
    assert.equal((await call(undefined, 'GET', `/signed-in?token=${token}`)).status, 401);
  });

  it('Inactive and prohibited accounts are rejected on every route that requires a caller', async () => {
    for (const [url] of ROUTES.slice(2)) {
      assert.equal((await call('mia', 'GET', `${url}?org=acme`)).body.message, 'This account is not activated.');
      assert.match((await call('zed', 'GET', `${url}?org=acme`)).body.message, /^This account is prohibited/);
    }
  });
});

describe('Query tokens turned off', () => {
  it('A query token is answered with 401 when query tokens are turned off', async (t) => {
    const annex = await openAnnex(mount, { queryTokens: false });
    t.after(() => annex.close());
    const url = `/query?token=${annex.atrium.world.users.ann?.token}`;
    assert.equal((await annex.app.inject({ method: 'GET', url, headers: { host: 'a' } })).statusCode, 401);
  });
});
