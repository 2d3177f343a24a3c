import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { loggedError } from '../../../src/base/log.ts';
import { mintToken } from '../../../src/identity/tokens/token-text.ts';
import { sendRaw } from '../../support/server/raw.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

describe('The log', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const lines = () =>
    atrium
      .logged()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('The log contains no secret, wherever it was sent', async () => {
    const { token = '', password = '' } = atrium.world.users.ann ?? {};
    const unknown = mintToken();
    const canary = (name: string) => `canary-${name}-0123456789`;
    const pair = (text: string) => Buffer.from(text).toString('base64');
    const headers: [string, string][] = [
      ['Authorization', `token ${token}`],
      ['Authorization', `token ${unknown}`],
      ['Authorization', `token ${canary('header')}`],
      ['Authorization', `Basic ${pair(`ann:${password}`)}`],
      ['Authorization', `Basic ${pair(`ann:${canary('basic')}`)}`],
      ['Cookie', `atrium_session=${canary('session')}; _csrf=${canary('csrf')}`],
      ['X-Csrf-Token', canary('csrf-header')],
    ];
    for (const [name, value] of headers) await atrium.as()('GET', '/user', undefined, { [name]: value });

    const queries = ['token', '%74oken', 'TOKEN', 'access_token', 'access%5Ftoken', 'secret', 'password', 'sig'];
    for (const [at, name] of queries.entries()) {
      for (const path of ['/user', '/nope', '/version', '/%zz', '/user/signin']) {
        await atrium.as()('GET', `${path}?a=1&${name}=${canary(`query${at}`)}&b=2`);
      }
      await atrium.as()('GET', `/user?${name}=${token}`);
    }
    await atrium.as()('GET', `/user/${token}`);
    await atrium.call(
      'POST',
      `/marketplace/api/v1/marketplaces/cloudB/notification/resource?secret=${canary('market')}`,
      {},
    );
    await sendRaw(atrium.url, [`GET http://ann:${canary('host')}@x/api/v1/user HTTP/1.1\r\nHost: x\r\n\r\n`]);
    await sendRaw(atrium.url, [`GET http://x/api/v1/user?secret=${canary('absolute')} HTTP/1.1\r\nHost: x\r\n\r\n`]);

    const signIn = (body: unknown) => atrium.as()('POST', '/user/signin', body);
    const opened = await signIn({ username: 'ann', password });
    const cookies = opened.headers.getSetCookie().map((cookie) => /=([^;]+)/.exec(cookie)?.[1] ?? assert.fail());
    await atrium.as()('GET', '/user/signout', undefined, { Cookie: `atrium_session=${cookies[0]}` });
    await signIn({ username: 'ann', password: canary('wrong') });
    await signIn({ username: 'ann', password: canary('extra'), secret: canary('field'), remember: 'x' });
    await signIn(`{"password":"${canary('broken')}"`);
    await atrium.instance.db.close();
    await signIn({ username: 'ann', password: canary('down') });
    await atrium.as()('GET', `/user?token=${canary('down-query')}`, undefined, { Authorization: `token ${token}` });

    const log = atrium.logged();
    assert.ok(lines().length > 50);
    assert.doesNotMatch(log, /canary/);
    for (const secret of [token, unknown, password, ...cookies]) assert.ok(!log.includes(secret), secret);
    assert.match(log, /"route":"\/api\/v1\/user","query":\{"\*\*\*":"\*\*\*"\}/);
  });

  it('Every log line carries its request ID, and a request line also its status and route', async () => {
    const requests = lines().filter((line) => line.msg === 'request');
    assert.ok(requests.length > 50);
    for (const line of lines()) assert.match(String(line.request_id), /^[\w.:-]{1,128}$/);
    await atrium.as()('GET', '/nope', undefined, { 'X-Request-Id': 'mine-1' });
    const [line] = lines().filter((one) => one.request_id === 'mine-1');
    assert.equal(line?.status, 404);
    assert.equal(line?.route, '/api/v1/***');
  });

  it('Requests rejected before routing are logged and counted', async () => {
    const count = async () =>
      (await atrium.instance.metrics.registry.metrics()).match(/_count\{.*"unknown".*400"\} (\d+)/)?.[1];
    const before = Number((await count()) ?? 0);
    for (const [at, path] of ['/user?x=%00', '/%zz', '/nope?x=%00'].entries()) {
      await atrium.as()('GET', path, undefined, { 'X-Request-Id': `early-${at}` });
      const [line] = lines().filter((one) => one.request_id === `early-${at}`);
      assert.equal(line?.status, 400, path);
      assert.equal(line?.route, '/api/v1/***');
    }
    assert.equal(Number(await count()) - before, 3);
  });

  it('A request cannot inject a line into the log', async () => {
    await atrium.as()('GET', '/nope?x=%0a%7b%22level%22%3a%22fatal%22%7d', undefined, {
      'X-Request-Id': 'a{"level":"fatal"}',
    });
    await sendRaw(atrium.url, ['GET /api/v1/"},{"level":"fatal" HTTP/1.1\r\nHost: x\r\n\r\n']);
    for (const line of lines()) assert.notEqual(line.level, 'fatal');
  });
});

describe('Logged requests', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({
      env: { DEPLOYMENT: 'marketplace', RUN_MODE: 'dev', TRUSTED_PROXIES: '127.0.0.1' },
    });
  });
  after(() => atrium.close());

  const V = 'Canary0123';
  const names = [
    ...['secret', 'SECRET', '%53ecret', 'secret[]', 'secret[a]', 'secret%5B%5D', 'secret%20', '+secret', 'secret%00'],
    ...['?secret', '&amp;secret', 'x=1?secret', 'a=b;secret', ';secret', 'x&secret', 'secret.a', '__proto__', 'sécret'],
    ...['token', 'token[]', '%74oken', 'access_token', 'access_token[0]', 'accessToken', 'refresh_token', 'id_token'],
    ...['password', 'password[]', 'passwd', 'pwd', 'key', 'key[]', 'api_key', 'apiKey', 'x-api-key', 'client_secret'],
    ...['sig', 'sig[]', 'signature', 'code', 'state[]', 'org[]', 'page', 'limit', 'org=acme?secret', 'org=acme;secret'],
    ...['page=1&page', 'sudo', 'user', 'cursor', 'actor', 'name', 'relation', 'since', 'cluster', 'exp', 'nonce'],
  ];
  const queries = [
    ...names.map((name) => `?${name}=${V}`),
    ...[`?${V}`, `?${V}=`, `?${V}=1`, `?secret:${V}`, `?secret%3D${V}`, `#secret=${V}`, `%23secret=${V}`],
    ...[`%3Fsecret=${V}`, `&secret=${V}`, `;secret=${V}`, `/secret/${V}`, `/${V}`, `//${V}`, `/%2e%2e/${V}`],
  ];
  const paths = [
    ...['/api/v1/user', '/api/v1/nope', '/api/v1/teams/4', '/api/v1/authz/roles', '/api/v1/admin/audit', '/', '/nope'],
    ...['/marketplace/api/v1/marketplaces/cloudB/notification/resource', '/links/installer/1/a/b/archive.tar.gz'],
  ];
  const written = () => atrium.logged();
  const lastLine = () => JSON.parse(written().trim().split('\n').at(-1) ?? '') as Record<string, unknown>;

  it('No value is logged, however its parameter is spelled, and no name that is not known', async () => {
    for (const path of paths) {
      // One connection for many requests, because there are many.
      for (let at = 0; at < queries.length; at += 20) {
        await Promise.all(
          queries.slice(at, at + 20).flatMap((query) => {
            const method = path.includes('cloudB') ? 'POST' : 'GET';
            return [atrium.call(method, `${path}${query}`), atrium.call('DELETE', `${path}${query}`)];
          }),
        );
      }
    }
    assert.ok(written().trim().split('\n').length >= paths.length * queries.length);
    assert.doesNotMatch(written(), new RegExp(V, 'i'));
  });

  it('No part of a path is logged but the pattern of its route and IDs', async () => {
    const withValue = [
      ...[`/api/v1/orgs/${V}/teams`, `/api/v1/users/${V}/tokens/${V}`, `/api/v1/teams/${V}`, `/api/v1/clusters/${V}`],
      ...[`/api/v1/authz/objects/${V}/7/allowed-permissions`, `/api/v1/user/following/${V}`, `/${V}`, `/api/v1/${V}`],
      ...[`/links/installer/7/${V}/${V}/archive.tar.gz`, `/api/v1/user/credentials/${V}`, `/avatars/${V}`],
      ...[`/marketplace/api/v1/${V}`, `/marketplace/api/v1/marketplaces/standalone-organizations/${V}/claimable`],
      ...[
        `/api/v1/%zz${V}`,
        `/api/v1/${V}%00`,
        `/api/v1/${'x'.repeat(600)}${V}`,
        `/api/v1/teams/${'9'.repeat(501)}${V}`,
      ],
    ];
    const { token = '' } = atrium.world.users.ann ?? {};
    for (const path of withValue) {
      for (const method of ['GET', 'PUT', 'OPTIONS']) {
        await atrium.call(method, path, undefined, { Authorization: `token ${token}` });
      }
    }
    assert.doesNotMatch(written(), new RegExp(V, 'i'));
    await atrium.as('ann')('GET', '/teams/999999?org=acme&page=2&limit=x&secret=y&relation=can_view');
    assert.deepEqual(
      { ...lastLine(), time: 0, ms: 0, request_id: '' },
      {
        ...{ level: 'info', time: 0, request_id: '', method: 'GET', route: '/api/v1/teams/:id' },
        ...{ params: { id: '999999' }, ip: '127.0.0.1', user: 'ann', status: 404, ms: 0, msg: 'request' },
        query: { org: 'acme', page: '2', limit: '***', '***': '***', relation: 'can_view' },
      },
    );
    await atrium.as('ann')('GET', '/orgs/acme/teams');
    assert.deepEqual([lastLine().route, lastLine().params], ['/api/v1/orgs/:org/teams', { org: '***' }]);
    for (const [path, route] of [
      ['/api/v1/nope/x', '/api/v1/***'],
      ['/marketplace/api/v1/nope', '/marketplace/api/v1/***'],
      ['/nope', '/***'],
    ] as const) {
      await atrium.call('GET', path);
      assert.equal(lastLine().route, route);
    }
  });

  it('Nothing of a request that is hardly HTTP is logged', async () => {
    const lines = [
      ...[`GET http://x/?secret=${V}`, `GET http://${V}@x/api/v1/user`, `GET http://${V}/api/v1/nope`, `GET ${V}://x/`],
      ...[`CONNECT ${V}:443`, `OPTIONS *?${V}`, 'OPTIONS *', `GET /api/v1/user?secret=${V}#${V}`, `GET #${V}`],
      ...[`${V} /api/v1/user`, `GET  /api/v1/${V}`, `GET /api/v1/${V}\0`, `GET /${V} ${V}`, `GET /api/v1/user?\t${V}`],
    ];
    for (const line of lines) await sendRaw(atrium.url, [`${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`]);
    for (const header of [
      `X-${V}: ${V}`,
      `Host: ${V}`,
      `Content-Type: ${V}/${V}`,
      `Content-Encoding: ${V}`,
      `Sudo: ${V}`,
    ]) {
      await sendRaw(atrium.url, [
        `POST /api/v1/user/signin HTTP/1.1\r\nHost: x\r\n${header}\r\nContent-Length: 2\r\n\r\n{}`,
      ]);
    }
    await sendRaw(atrium.url, [`GET /api/v1/user HTTP/1.1\r\nHost: x\r\nX-${V}\r\n\r\n`]);
    await sendRaw(atrium.url, [`GET /api/v1/user HTTP/1.1\r\nHost: x\r\nX-A: ${V.repeat(5000)}\r\n\r\n`]);
    for (const hop of [V, `${V}, 127.0.0.1`, `unknown ${V}`]) {
      await atrium.as()('GET', '/user', undefined, { 'X-Forwarded-For': hop, Referer: `http://x/${V}`, Origin: V });
    }
    await atrium.as()('POST', '/user/signin', { username: V, password: V, remember: V, [V]: V });
    await atrium.as()('POST', '/user/signin', `{"username": ${V}}`);
    await atrium.as('ann')('POST', '/user/emails', { emails: [V] });
    assert.doesNotMatch(written(), new RegExp(V, 'i'));
  });

  it('No value becomes a label of a metric', async () => {
    assert.doesNotMatch(await atrium.instance.metrics.registry.metrics(), new RegExp(V, 'i'));
  });
});

describe('Logged errors', () => {
  const V = 'Canary0123';
  const thrownBy = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (error) {
      return error;
    }
  };
  const fromDatabase = (code: string, message: string) =>
    Object.assign(new Error(message), {
      ...{ code, severity: 'ERROR', table: 'token', constraint: 'token_name', detail: `Key (name)=(${V}) exists.` },
      ...{ where: V, hint: V, internalQuery: V },
    });
  const table: readonly [string, () => unknown, RegExp][] = [
    ['bad JSON', () => thrownBy(() => JSON.parse(`{"a": ${V}`)), /SyntaxError/],
    ['a bad URL', () => thrownBy(() => new URL(`not a url ${V}`)), /ERR_INVALID_URL/],
    ['a bad argument', () => thrownBy(() => Buffer.alloc(V as never)), /ERR_INVALID_ARG_TYPE/],
    [
      'a URL in words',
      () => new Error(`fetch of https://a:${V}@x.example/${V}?secret=${V} failed`),
      /https:\/\/x\.example\/\*\*\*/,
    ],
    ['a cause', () => new Error('outer', { cause: new Error(`Failed to parse URL from http://x/?${V}`) }), /outer/],
    ['many causes', () => new AggregateError([new Error(`bad value "${V}"`)], 'all failed'), /all failed/],
    ['bad data in the database', () => fromDatabase('22P02', `invalid input syntax for type bigint: "${V}"`), /22P02/],
    [
      'a duplicate',
      () => fromDatabase('23505', 'duplicate key violates "token_name"'),
      /duplicate key violates \\"token_name\\"/,
    ],
    [
      'a request in an error',
      () => Object.assign(new Error('rejected'), { config: { headers: V }, input: V }),
      /rejected/,
    ],
    ['something that is no error', () => ({ secret: V, message: V }), /object/],
    ['a text', () => `text ${V}`, /string/],
  ];
  for (const [what, error, kept] of table) {
    it(`What is logged of ${what} contains no value`, () => {
      const text = JSON.stringify(loggedError(error()));
      assert.doesNotMatch(text, new RegExp(V, 'i'));
      assert.match(text, kept);
    });
  }
});
