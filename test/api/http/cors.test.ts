import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ConfigError, readConfig } from '../../../src/base/config/config.ts';
import { createCors } from '../../../src/http/web/cors.ts';
import { type Answer, openTestServer, type TestServer } from '../../support/server/server.ts';
import { sharedServer } from '../../support/server/shared-server.ts';

const APP = 'https://app.example.com';
const LOCAL = 'http://localhost:5173';
const PREFLIGHT = { 'Access-Control-Request-Method': 'PATCH', 'Access-Control-Request-Headers': 'authorization' };

function corsOf({ headers }: Answer): string[] {
  return [...headers.keys()].filter((name) => name.startsWith('access-control-')).sort();
}

describe('CORS', () => {
  let listed: TestServer;
  let open: TestServer;
  before(async () => {
    [listed, open] = await Promise.all([
      openTestServer({ env: { CORS_ORIGINS: `${APP}, ${LOCAL}`, CORS_CREDENTIALS: 'true', RATE_LIMIT: '600' } }),
      openTestServer({ env: { CORS_ORIGINS: '*' } }),
    ]);
  });
  after(() => Promise.all([listed.close(), open.close()]));

  const from = (atrium: TestServer, origin: string, method: string, path: string, more = {}) =>
    atrium.call(method, path, undefined, { Origin: origin, ...more });

  it('By default no response mentions CORS, and OPTIONS is 405', async () => {
    const atrium = await sharedServer();
    const plain = await from(atrium, APP, 'GET', '/api/v1/version');
    assert.deepEqual([plain.status, corsOf(plain), plain.headers.get('vary')], [200, [], null]);
    const preflight = await from(atrium, APP, 'OPTIONS', '/api/v1/user', PREFLIGHT);
    assert.deepEqual([preflight.status, corsOf(preflight)], [405, []]);
  });

  it('A listed origin may read responses and the headers that clients need, also of errors', async () => {
    const token = listed.world.users.root?.token;
    for (const [path, status] of [
      ['/api/v1/user/followers', 200],
      ['/api/v1/user', 401],
      ['/api/v1/nothing', 404],
      ['/api/v1/user?x=%00', 400],
      ['/api/v1/%zz', 400],
    ] as const) {
      const headers = status === 200 ? { Authorization: `token ${token}` } : {};
      for (const origin of [APP, LOCAL]) {
        const answer = await from(listed, origin, 'GET', path, headers);
        assert.equal(answer.status, status, path);
        assert.equal(answer.headers.get('access-control-allow-origin'), origin, path);
        assert.equal(answer.headers.get('access-control-allow-credentials'), 'true', path);
        // A long list also depends on the encoding that the client accepts.
        assert.match(answer.headers.get('vary') ?? '', /^Origin(, Accept-Encoding)?$/, path);
        const exposed = (answer.headers.get('access-control-expose-headers') ?? '').split(', ');
        for (const name of [
          'ETag',
          'Link',
          'RateLimit',
          'Retry-After',
          'X-Csrf-Token',
          'X-Request-Id',
          'X-Total-Count',
        ])
          assert.ok(exposed.includes(name), `${path} ${name}`);
      }
    }
  });

  it('A preflight is answered before anything asks for a credential', async () => {
    for (const path of ['/api/v1/user', '/api/v1/teams/4', '/api/v1/nothing']) {
      const answer = await from(listed, APP, 'OPTIONS', path, PREFLIGHT);
      assert.deepEqual([answer.status, answer.text], [204, '']);
      const { headers } = answer;
      assert.equal(headers.get('access-control-allow-origin'), APP);
      assert.equal(headers.get('access-control-allow-credentials'), 'true');
      assert.equal(headers.get('access-control-allow-methods'), 'GET, HEAD, POST, PUT, PATCH, DELETE');
      assert.equal(headers.get('access-control-max-age'), '7200');
      assert.equal(headers.get('vary'), 'Origin');
      const allowed = (headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ');
      for (const name of ['authorization', 'content-type', 'if-match', 'idempotency-key', 'x-csrf-token'])
        assert.ok(allowed.includes(name), name);
    }
  });

  it('Origins that are not listed exactly get no permission', async () => {
    for (const origin of [
      'https://app.example.com.evil.example',
      'https://evil.example',
      'http://app.example.com',
      'https://app.example.com:8443',
      'https://APP.example.com',
      'null',
      '*',
      '',
    ]) {
      const plain = await from(listed, origin, 'GET', '/api/v1/version');
      assert.deepEqual([plain.status, corsOf(plain), plain.headers.get('vary')], [200, [], 'Origin'], origin);
      const preflight = await from(listed, origin, 'OPTIONS', '/api/v1/user', PREFLIGHT);
      assert.deepEqual([preflight.status, corsOf(preflight)], [405, []], origin);
    }
  });

  it('An OPTIONS request that is not a preflight is 405, and the page may read that', async () => {
    const answer = await from(listed, APP, 'OPTIONS', '/api/v1/user');
    assert.deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [405, APP]);
  });

  it('A request without an origin gets no permission, but Vary', async () => {
    const answer = await listed.call('GET', '/api/v1/version');
    assert.deepEqual([corsOf(answer), answer.headers.get('vary')], [[], 'Origin']);
  });

  it('Nothing outside the API may be read by other origins', async () => {
    for (const path of ['/', '/signin', '/avatars/ann', '/api/v12', '/marketplace/api/v1/version']) {
      for (const atrium of [listed, open]) {
        const answer = await from(atrium, APP, 'GET', path);
        assert.deepEqual(corsOf(answer), [], path);
      }
    }
  });

  it('With a star any origin may read, but never with credentials', async () => {
    for (const origin of [APP, 'https://evil.example', 'null']) {
      const plain = await from(open, origin, 'GET', '/api/v1/version');
      assert.equal(plain.headers.get('access-control-allow-origin'), '*');
      assert.deepEqual(
        [plain.headers.get('access-control-allow-credentials'), plain.headers.get('vary')],
        [null, null],
      );
      assert.doesNotMatch(plain.headers.get('access-control-expose-headers') ?? '', /csrf/i);
      const preflight = await from(open, origin, 'OPTIONS', '/api/v1/user', PREFLIGHT);
      assert.equal(preflight.status, 204);
      assert.equal(preflight.headers.get('access-control-allow-credentials'), null);
    }
  });

  it('A session of a listed origin still needs the CSRF token to change something', async () => {
    const { password } = listed.world.users.ann ?? {};
    const opened = await listed.call('POST', '/api/v1/user/signin', { username: 'ann', password }, { Origin: APP });
    const cookies = opened.headers.getSetCookie().map((one) => one.split(';', 1)[0]);
    const Cookie = cookies.join('; ');
    const refused = await from(listed, APP, 'PUT', '/api/v1/user/following/cat', { Cookie });
    assert.deepEqual([refused.status, refused.headers.get('access-control-allow-origin')], [403, APP]);
    const csrf = (await from(listed, APP, 'GET', '/api/v1/user', { Cookie })).headers.get('x-csrf-token') ?? '';
    const done = await from(listed, APP, 'PUT', '/api/v1/user/following/cat', { Cookie, 'X-Csrf-Token': csrf });
    assert.equal(done.status, 204);
  });

  it('Preflights do not use up the allowance of an address', async () => {
    const left = async () => (await listed.call('GET', '/api/v1/version')).headers.get('ratelimit');
    const before = /r=(\d+)/.exec((await left()) ?? '')?.[1];
    for (let time = 0; time < 5; time++) await from(listed, APP, 'OPTIONS', '/api/v1/user', PREFLIGHT);
    assert.ok(Number(/r=(\d+)/.exec((await left()) ?? '')?.[1]) >= Number(before) - 1);
  });

  it('A configuration that would be unsafe or is mistyped does not start, and says why', () => {
    for (const [origins, credentials, fault] of [
      ['*', 'true', 'CORS_CREDENTIALS=true is not allowed with CORS_ORIGINS=*: any page could act as its visitors'],
      [`*,${APP}`, 'false', 'CORS_ORIGINS must be either * or a list of origins, not both'],
      ['', 'true', 'CORS_CREDENTIALS=true needs CORS_ORIGINS to name the origins that may send cookies'],
      ['', 'yes', 'CORS_CREDENTIALS must be true or false'],
      ...[`${APP}/`, `${APP}/path`, 'app.example.com', 'https://*.example.com', 'ftp://app.example.com', 'null'].map(
        (item) =>
          [
            item,
            'false',
            `CORS_ORIGINS contains an entry that is not an origin such as https://app.example.com (no path, no final slash): ${item}`,
          ] as const,
      ),
      [
        'https://APP.example.com',
        'false',
        'CORS_ORIGINS contains an entry that is not an origin such as https://app.example.com (no path, no final slash): https://APP.example.com',
      ],
    ] as const) {
      assert.throws(
        () => readConfig({ CORS_ORIGINS: origins, CORS_CREDENTIALS: credentials }),
        (error) => error instanceof ConfigError && error.faults.includes(fault),
        `${origins} ${credentials}`,
      );
    }
    assert.throws(() => createCors({ origins: ['*'], credentials: true }));
    assert.equal(createCors({ origins: [], credentials: false }), undefined);
  });
});
