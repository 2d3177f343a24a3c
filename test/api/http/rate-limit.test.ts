import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { createAllowance } from '../../../src/http/limits/allowance.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

describe('The rate limit', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ env: { RATE_LIMIT: '5', TRUSTED_PROXIES: '127.0.0.1' } });
    mock.method(performance, 'now', () => 0);
  });
  after(async () => {
    mock.restoreAll();
    await atrium.close();
  });

  it('The rate limit reports the remaining requests and rejects with 429 when none are left', async () => {
    const ann = atrium.as('ann');
    for (const left of [4, 3, 2, 1, 0]) {
      const answer = await ann('GET', '/user');
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('ratelimit-policy'), '"default";q=5;w=60');
      assert.match(answer.headers.get('ratelimit') ?? '', new RegExp(`^"default";r=${left};t=\\d+$`));
    }
    const refused = await ann('GET', '/user');
    assert.equal(refused.status, 429);
    assert.deepEqual(refused.body, {
      message: 'too many requests, try again later',
      url: `${atrium.url}/api/v1/docs`,
      reason: 'rate_limited',
    });
    const wait = Number(refused.headers.get('retry-after'));
    assert.ok(wait >= 1 && wait <= 12, `${wait} s`);
    assert.equal(refused.headers.get('ratelimit'), `"default";r=0;t=${wait}`);
  });

  it('Each credential has its own rate limit', async () => {
    assert.equal((await atrium.as('ann')('GET', '/user')).status, 429);
    assert.equal((await atrium.as('bob')('GET', '/user')).status, 200);
  });

  it('Requests without a credential are counted by address, rejected ones included', async () => {
    const paths = ['/version', '/nope', '/user', '/openapi.json', '/user'];
    for (const path of paths) assert.notEqual((await atrium.as()('GET', path)).status, 429);
    for (const path of ['/version', '/nope', '/user']) assert.equal((await atrium.as()('GET', path)).status, 429);
  });

  it('Requests from one IPv6 /64 share a rate limit, and its /48 has four times that', async () => {
    const ask = async (address: string) =>
      (await atrium.as()('GET', '/version', undefined, { 'X-Forwarded-For': address })).status;
    for (let at = 0; at < 5; at++) assert.equal(await ask(`2001:db8:1:1::${at}`), 200);
    assert.equal(await ask('2001:db8:1:1:ffff::'), 429);
    for (let at = 0; at < 15; at++) assert.equal(await ask(`2001:db8:1:${at + 2}::1`), 200);
    assert.equal(await ask('2001:db8:1:aaaa::1'), 429);
    assert.equal(await ask('2001:db8:2:aaaa::1'), 200);
  });
});

describe('The disabled rate limit', () => {
  it('A disabled rate limit sends no rate limit header', async (t) => {
    const atrium = await openTestServer({ env: { RATE_LIMIT: '0' } });
    t.after(() => atrium.close());
    const answer = await atrium.as()('GET', '/version');
    assert.equal(answer.headers.get('ratelimit'), null);
  });
});

describe('Allowances', () => {
  it('An allowance refills steadily', () => {
    const allowance = createAllowance(4, 4000);
    for (let time = 0; time < 4; time++) assert.equal(allowance.take('a', 0), true);
    assert.equal(allowance.take('a', 0), false);
    assert.equal(allowance.wait('a', 0), 1);
    assert.equal(allowance.take('a', 999), false);
    assert.equal(allowance.take('a', 1000), true);
    assert.equal(allowance.left('a', 3000), 2);
    assert.equal(allowance.left('a', 60_000), 4);
    assert.equal(allowance.take('b', 0), true);
  });

  it('An allowance takes back what was not used', () => {
    const allowance = createAllowance(1, 1000);
    assert.equal(allowance.take('a', 0), true);
    allowance.give('a');
    assert.equal(allowance.take('a', 0), true);
    allowance.give('nobody');
    assert.equal(allowance.left('nobody', 0), 1);
  });

  it('An allowance stays bounded with a million keys and keeps the newest', () => {
    const allowance = createAllowance(2, 60_000);
    for (let key = 0; key < 1_000_000; key++) allowance.take(`key ${key}`, 0);
    assert.equal(allowance.left('key 999999', 0), 1);
    assert.equal(allowance.left('key 0', 0), 2);
  });
});
