import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import pg from 'pg';
import { sql } from '../../../src/db/db.ts';
import { type Answer, openTestServer, type TestServer } from '../../support/server/server.ts';
import { lacks } from '../../support/services/requirements.ts';

const NOT_NOW = 'the service cannot answer right now, try again later';

describe('Error answers', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('An error answer links to the documentation, which is served with all its assets', async () => {
    const { body } = await atrium.as()('GET', '/nope');
    assert.deepEqual(body, {
      message: 'not found',
      url: `${atrium.url}/api/v1/docs`,
      reason: 'route_not_found',
    });
    const page = await fetch(body.url);
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    for (const [, part] of (await page.text()).matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
      assert.equal((await fetch(`${atrium.url}${part}`)).status, 200, part);
    }
  });

  it('Every answer, errors included, carries the security headers and a request ID', async () => {
    for (const answer of [
      await atrium.as()('GET', '/nope'),
      await atrium.as()('GET', '/%zz'),
      await atrium.as('ann')('GET', '/user'),
    ]) {
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      assert.equal(answer.headers.get('x-frame-options'), 'DENY');
      assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
    }
  });

  it('A valid request ID is echoed, and an invalid one is replaced', async () => {
    const idFor = async (id: string) =>
      (await atrium.as()('GET', '/nope', undefined, { 'X-Request-Id': id })).headers.get('x-request-id');
    assert.equal(await idFor('trace-1:a.b_c'), 'trace-1:a.b_c');
    for (const odd of ['a b', '<script>', 'a,b', 'a'.repeat(129), 'é'])
      assert.match((await idFor(odd)) ?? '', /^[0-9a-f-]{36}$/);
  });

  it('HEAD is answered like GET but without a body', async () => {
    const table: [string, number, string | null][] = [
      ['/user', 401, null],
      ['/nope', 404, null],
      ['/user/signin', 405, 'POST'],
      ['/version', 200, null],
    ];
    for (const [path, status, allow] of table) {
      const answer = await atrium.as()('HEAD', path);
      assert.deepEqual([answer.status, answer.text, answer.headers.get('allow')], [status, '', allow], path);
    }
  });

  it('A trailing slash in the path is ignored', async () => {
    assert.equal((await atrium.as('ann')('GET', '/user/')).status, 200);
    assert.equal((await atrium.as()('GET', '/version/')).status, 200);
  });
});

describe('Listener paths without a marketplace deployment', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/'],
    ['GET', '/version'],
    ['POST', '/marketplaces/cloudB/notification/resource?secret=x'],
    ['DELETE', '/anything/else'],
  ] as const) {
    it(`Without a listener, the frontend answers ${method} /marketplace/api/v1${path}`, async () => {
      const body = method === 'POST' ? '{not json' : undefined;
      const answer = await atrium.call(method, `/marketplace/api/v1${path}`, body);
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get('content-type') ?? '', /^text\/html/);
      assert.match(answer.text, /<!doctype html>/i);
    });
  }
});

describe('Server failures', { skip: lacks('postgresql') }, () => {
  const open = async (t: TestContext) => {
    const atrium = await openTestServer({ driver: 'postgres', env: { DATABASE_TIMEOUT_MS: '1500' } });
    t.after(() => atrium.close());
    return { atrium, databaseUrl: atrium.instance.config.DATABASE_URL };
  };
  const assertUnavailable = (atrium: TestServer, answer: Answer) => {
    assert.equal(answer.status, 503);
    assert.deepEqual(answer.body, { message: NOT_NOW, url: `${atrium.url}/api/v1/docs`, reason: 'unavailable' });
    assert.equal(answer.headers.get('retry-after'), '1');
  };

  it('An internal error is answered with 500 without details and logged under the same request ID', async (t) => {
    const { atrium } = await open(t);
    await atrium.instance.db.query(sql('test.break', 'alter table team_member rename to lost'));
    const answer = await atrium.as('ann')('GET', '/user', undefined, { 'X-Request-Id': 'broken-1' });
    assert.equal(answer.status, 500);
    assert.deepEqual(answer.body, {
      message: 'internal error',
      url: `${atrium.url}/api/v1/docs`,
      reason: 'internal_error',
      request_id: 'broken-1',
    });
    const line =
      atrium
        .logged()
        .split('\n')
        .find((text) => text.includes('team_member')) ?? '{}';
    assert.equal(JSON.parse(line).request_id, 'broken-1');
    assert.equal(JSON.parse(line).level, 'error');
  });

  it('A request is answered with 503, never from a cache, while the database does not respond', async (t) => {
    const { atrium, databaseUrl } = await open(t);
    assert.equal((await atrium.as('ann')('GET', '/user')).status, 200);
    const blocker = new pg.Client({ connectionString: databaseUrl });
    await blocker.connect();
    await blocker.query('begin; lock table revision in access exclusive mode');
    assertUnavailable(atrium, await atrium.as('ann')('GET', '/user'));
    assert.equal((await atrium.as()('GET', '/version')).status, 200);
    await blocker.end();
    assert.equal((await atrium.as('ann')('GET', '/user')).status, 200);
  });

  it('A request is answered with 503 and no connection details when the database is gone', async (t) => {
    const { atrium } = await open(t);
    assert.equal((await atrium.as('ann')('GET', '/user')).status, 200);
    await atrium.instance.db.close();
    assertUnavailable(atrium, await atrium.as('ann')('GET', '/user'));
    assert.doesNotMatch((await atrium.as('eve')('GET', '/user')).text, /127\.0\.0\.1:\d+\/test/);
  });
});
