import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { safeUrl } from '../../../src/base/log.ts';
import { mintToken } from '../../../src/identity/token-text.ts';
import { sendRaw } from '../../support/raw.ts';
import { openTestServer, type TestServer } from '../../support/server.ts';

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
    assert.match(log, /"url":"\/api\/v1\/user\?a=1&%74oken=\*\*\*&b=2"/);
  });

  it('Every log line carries its request ID, and a request line also its status and URL', async () => {
    const requests = lines().filter((line) => line.msg === 'request');
    assert.ok(requests.length > 50);
    for (const line of lines()) assert.match(String(line.request_id), /^[\w.:-]{1,128}$/);
    await atrium.as()('GET', '/nope', undefined, { 'X-Request-Id': 'mine-1' });
    const [line] = lines().filter((one) => one.request_id === 'mine-1');
    assert.equal(line?.status, 404);
    assert.equal(line?.url, '/api/v1/nope');
  });

  it('Requests rejected before routing are logged and counted', async () => {
    const count = async () =>
      (await atrium.instance.metrics.registry.metrics()).match(/_count\{.*"unknown".*400"\} (\d+)/)?.[1];
    const before = Number((await count()) ?? 0);
    for (const [at, path] of ['/user?x=%00', '/%zz', '/nope?x=%00'].entries()) {
      await atrium.as()('GET', path, undefined, { 'X-Request-Id': `early-${at}` });
      const [line] = lines().filter((one) => one.request_id === `early-${at}`);
      assert.equal(line?.status, 400, path);
      assert.equal(line?.url, `/api/v1${path}`);
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

describe('Logged URLs', () => {
  const table: readonly [string, string][] = [
    ['/a', '/a'],
    ['/a?b=c', '/a?b=c'],
    ['/a?token=x', '/a?token=***'],
    ['/a?token=x&token=y', '/a?token=***&token=***'],
    ['/a?b=token&access_token=x', '/a?b=token&access_token=***'],
    ['/a?token', '/a?token=***'],
    ['/a?token=a=b', '/a?token=***'],
    ['/a?%zz=1&secret=x', '/a?%zz=1&secret=***'],
    [`/a/${mintToken()}?b=${mintToken()}`, '/a/***?b=***'],
  ];
  for (const [url, safe] of table)
    it(`The URL ${url.replaceAll(/atr_\w+/g, 'TOKEN')} is logged as ${safe}`, () => assert.equal(safeUrl(url), safe));
});
