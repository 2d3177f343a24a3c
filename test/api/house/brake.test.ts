import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { after, before, describe, it } from 'node:test';
import { wrongCredential } from '../../../src/directory/callers.ts';
import { mintToken } from '../../../src/directory/token-text.ts';
import { AppError } from '../../../src/errors.ts';
import { createBrake } from '../../../src/http/brake.ts';
import { openTestHouse, type TestHouse } from '../../support/house.ts';

const right = async () => 'in';

describe('guessing passwords', () => {
  let house: TestHouse;
  before(async () => {
    house = await openTestHouse({ env: { AUTH_FAILURES: '5', TRUSTED_PROXIES: '127.0.0.1' } });
  });
  after(() => house.close());

  const signIn = (username: string, password: string | undefined, address = '192.0.2.1') =>
    house.as()('POST', '/user/signin', { username, password }, { 'X-Forwarded-For': address });
  const secret = (name: string) => house.world.users[name]?.password;

  it('is stopped after a few, with the time to wait, and the right password does not help then', async () => {
    for (let guess = 0; guess < 5; guess++) assert.equal((await signIn('ann', `guess ${guess}`)).status, 404);
    for (const password of ['guess 6', secret('ann')]) {
      const answer = await signIn('ann', password);
      assert.equal(answer.status, 429);
      assert.equal(answer.body.message, 'too many failed attempts, try again later');
      assert.equal(answer.body.url, `${house.url}/api/v1/docs`);
      const wait = Number(answer.headers.get('retry-after'));
      assert.ok(wait >= 1 && wait <= 60, `${wait} s`);
    }
  });

  it('is stopped however the name is spelled', async () => {
    for (const name of ['ANN', ' ann', 'ann   ', '\tann']) assert.equal((await signIn(name, 'x')).status, 429, name);
  });

  it('is stopped whichever port a proxy writes behind the address', async () => {
    assert.equal((await signIn('ann', 'x', '192.0.2.1:50123')).status, 429);
  });

  it('is stopped for Basic too, which counts with signing in', async () => {
    const authorization = `Basic ${Buffer.from(`ann:${secret('ann')}`).toString('base64')}`;
    const headers = { Authorization: authorization, 'X-Forwarded-For': '192.0.2.1' };
    assert.equal((await house.as()('GET', '/user', undefined, headers)).status, 429);
  });

  it('hits neither another name, nor another address, nor a token', async () => {
    assert.equal((await signIn('bob', secret('bob'))).status, 200);
    assert.equal((await signIn('ann', secret('ann'), '192.0.2.2')).status, 200);
    assert.equal((await house.as('ann')('GET', '/user', undefined, { 'X-Forwarded-For': '192.0.2.1' })).status, 200);
  });

  it('is not what somebody does who is right each time', async () => {
    for (let time = 0; time < 8; time++) assert.equal((await signIn('cat', secret('cat'))).status, 200);
    const atOnce = await Promise.all(Array.from({ length: 12 }, () => signIn('cat', secret('cat'))));
    assert.deepEqual(new Set(atOnce.map((answer) => answer.status)), new Set([200]));
  });

  it('counts each of many guesses at once', async () => {
    const answers = await Promise.all(Array.from({ length: 25 }, (_, guess) => signIn('dan', `guess ${guess}`)));
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    assert.deepEqual([count(404), count(429)], [5, 20]);
  });

  it('of an account that may not be used does not count when the password is right', async () => {
    for (let time = 0; time < 8; time++) assert.equal((await signIn('mia', secret('mia'))).status, 403);
  });

  it('does not slow down the others: hashing is off the event loop', async () => {
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    await Promise.all(Array.from({ length: 12 }, (_, at) => signIn(`nobody${at}`, 'x')));
    delay.disable();
    assert.ok(delay.percentile(50) / 1e6 < 40, `half of the delays are over ${delay.percentile(50) / 1e6} ms`);
  });

  it('does not tell by time whether a name exists', async () => {
    const median = async (name: (at: number) => string) => {
      const times: number[] = [];
      for (let at = 0; at < 7; at++) {
        const start = performance.now();
        assert.equal((await signIn(name(at), 'wrong', `198.51.100.${at}`)).status, 404);
        times.push(performance.now() - start);
      }
      return times.sort((a, b) => a - b)[3] ?? 0;
    };
    const [known, unknown] = [await median(() => 'eve'), await median((at) => `ghost${at}`)];
    assert.ok(unknown > known / 2.5 && unknown < known * 2.5, `${unknown} ms against ${known} ms`);
  });
});

describe('the brake', () => {
  it('counts no failure that is not a wrong credential', async () => {
    const brake = createBrake(2);
    const broken = async () => {
      throw new AppError('unavailable', 'no database');
    };
    for (let time = 0; time < 10; time++) await assert.rejects(brake.password('ann', 'a', broken), /no database/);
    assert.equal(await brake.password('ann', 'a', right), 'in');
  });

  it('holds back who comes while the allowance is under way, and lets go of them as the outcome is', async () => {
    const brake = createBrake(1);
    let finish: (outcome: 'right' | 'wrong') => void = () => undefined;
    const slow = () =>
      new Promise<string>((resolve, reject) => {
        finish = (outcome) => (outcome === 'right' ? resolve('in') : reject(new AppError('unauthenticated', 'wrong')));
      });
    const [first, second] = [brake.password('ann', 'a', slow), brake.password('ann', 'a', right)];
    finish('right');
    assert.deepEqual(await Promise.all([first, second]), ['in', 'in']);

    const [third, fourth] = [brake.password('ann', 'a', slow), brake.password('ann', 'a', right)];
    finish('wrong');
    await assert.rejects(third, { kind: 'unauthenticated' });
    await assert.rejects(fourth, { kind: 'limited' });
  });

  it('on tokens lets a scanner guess a thousand, and minds no text that is no token', () => {
    const brake = createBrake(1);
    const error = wrongCredential();
    for (let guess = 0; guess < 1500; guess++) assert.equal(brake.failedToken(error, 'nonsense', 'a'), error);
    const text = mintToken();
    for (let guess = 0; guess < 1000; guess++) assert.equal(brake.failedToken(error, text, 'a'), error);
    assert.equal((brake.failedToken(error, text, 'a') as AppError).kind, 'limited');
    assert.equal(brake.failedToken(error, text, 'b'), error);
    const ours = new AppError('unavailable', 'the database does not answer');
    assert.equal(brake.failedToken(ours, text, 'a'), ours);
  });
});
