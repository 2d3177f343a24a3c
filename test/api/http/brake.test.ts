import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { after, before, describe, it, mock } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { createBrake } from '../../../src/http/limits/brake.ts';
import { wrongCredential } from '../../../src/identity/callers.ts';
import { mintToken } from '../../../src/identity/tokens/token-text.ts';
import { IS_LONG } from '../../counts.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

const right = async () => 'in';
const wrong = () => Promise.reject(wrongCredential());
const [A, B] = ['192.0.2.1', '192.0.2.2'];

describe('Password guessing', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ env: { AUTH_FAILURES: '2', TRUSTED_PROXIES: '127.0.0.1' } });
    // The time is frozen, so that no attempt is refilled while a slow machine hashes passwords.
    mock.method(performance, 'now', () => 0);
  });
  after(async () => {
    mock.restoreAll();
    await atrium.close();
  });

  const signIn = (username: string, password: string | undefined, address = '192.0.2.1') =>
    atrium.as()('POST', '/user/signin', { username, password }, { 'X-Forwarded-For': address });
  const secret = (name: string) => atrium.world.users[name]?.password;

  it('Password guessing is blocked with 429 after two failures, even with the right password', async () => {
    for (const guess of ['one', 'two']) assert.equal((await signIn('ann', guess)).status, 404);
    for (const password of ['three', secret('ann')]) {
      const answer = await signIn('ann', password);
      assert.equal(answer.status, 429);
      assert.equal(answer.body.message, 'too many failed attempts, try again later');
      assert.equal(answer.body.url, `${atrium.url}/api/v1/docs`);
      const wait = Number(answer.headers.get('retry-after'));
      assert.ok(wait >= 1 && wait <= 150, `${wait} s`);
    }
  });

  it('A blocked name stays blocked in every spelling', async () => {
    for (const name of ['ANN', ' ann', 'ann   ', '\tann']) assert.equal((await signIn(name, 'x')).status, 429, name);
  });

  it('A blocked address stays blocked whatever port a proxy appends to it', async () => {
    assert.equal((await signIn('ann', 'x', '192.0.2.1:50123')).status, 429);
  });

  it('Basic authentication and sign-in share one count of failed attempts', async () => {
    const authorization = `Basic ${Buffer.from(`ann:${secret('ann')}`).toString('base64')}`;
    const headers = { Authorization: authorization, 'X-Forwarded-For': '192.0.2.1' };
    assert.equal((await atrium.as()('GET', '/user', undefined, headers)).status, 429);
  });

  it('A blocked sign-in does not affect other names, other addresses or tokens', async () => {
    assert.equal((await signIn('bob', secret('bob'))).status, 200);
    assert.equal((await signIn('ann', secret('ann'), '192.0.2.2')).status, 200);
    assert.equal((await atrium.as('ann')('GET', '/user', undefined, { 'X-Forwarded-For': '192.0.2.1' })).status, 200);
  });

  it('Repeated correct sign-ins are never blocked', async () => {
    for (let time = 0; time < 3; time++) assert.equal((await signIn('cat', secret('cat'))).status, 200);
    const atOnce = await Promise.all(Array.from({ length: 4 }, () => signIn('cat', secret('cat'))));
    assert.deepEqual(new Set(atOnce.map((answer) => answer.status)), new Set([200]));
  });

  it('Each of many concurrent guesses is counted', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, guess) => signIn('dan', `guess ${guess}`)));
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    assert.deepEqual([count(404), count(429)], [2, 6]);
  });

  it('A correct password for an inactive account does not count as a failure', async () => {
    for (let time = 0; time < 3; time++) assert.equal((await signIn('mia', secret('mia'))).status, 403);
  });

  it('Guessing across many names blocks the address for Basic authentication and sign-in', async () => {
    const basic = (pair: string) => ({
      Authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
      'X-Forwarded-For': '192.0.2.77',
    });
    const user = (pair: string) => atrium.as()('GET', '/user', undefined, basic(pair));
    const many = <T>(length: number, one: (at: number) => Promise<T>) =>
      Promise.all(Array.from({ length }, (_, at) => one(at)));
    const guesses = await many(24, (at) => user(`nobody${at}:x`));
    assert.equal(guesses.filter(({ status }) => status === 401).length, 20);
    const stopped = guesses.find(({ status }) => status !== 401);
    assert.deepEqual([stopped?.status, stopped?.body.message], [429, 'too many failed attempts, try again later']);
    assert.equal((await signIn('nobody', 'x', '192.0.2.77')).status, 429);
    assert.equal((await signIn('bob', secret('bob'), '192.0.2.78')).status, 200);
  });

  it('Addresses of one IPv6 /64, and all spellings of an IPv4 address, share one count of failed attempts', async () => {
    const spellings = [
      ['2001:db8:1:2::1', '2001:db8:1:2::2', '[2001:DB8:1:2:aaaa:bbbb:cccc:dddd]:443', '2001:0db8:0001:0002::3'],
      ['198.51.100.9', '::ffff:198.51.100.9', '::ffff:c633:6409', '0:0:0:0:0:ffff:C633:6409'],
    ];
    for (const all of spellings) {
      const answers = [];
      for (const address of all) answers.push((await signIn('fan01', 'x', address)).status);
      assert.deepEqual(answers, [404, 404, 429, 429]);
    }
    assert.equal((await signIn('fan01', 'x', '2001:db8:1:3::1')).status, 404, 'the next /64');
  });

  it('Password hashing does not block the event loop', { skip: !IS_LONG && 'only in npm run test:long' }, async () => {
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    await Promise.all(Array.from({ length: 12 }, (_, at) => signIn(`nobody${at}`, 'x')));
    delay.disable();
    assert.ok(delay.percentile(50) / 1e6 < 40, `half of the delays are over ${delay.percentile(50) / 1e6} ms`);
  });

  it('The response time does not reveal whether a name exists', {
    skip: !IS_LONG && 'only in npm run test:long',
  }, async () => {
    const median = async (name: (at: number) => string) => {
      const times: number[] = [];
      for (let at = 0; at < 7; at++) {
        // The clock of the brake stands still here.
        const start = process.hrtime.bigint();
        assert.equal((await signIn(name(at), 'wrong', `198.51.100.${at}`)).status, 404);
        times.push(Number(process.hrtime.bigint() - start) / 1e6);
      }
      return times.sort((a, b) => a - b)[3] ?? 0;
    };
    const [known, unknown] = [await median(() => 'eve'), await median((at) => `ghost${at}`)];
    assert.ok(unknown > known / 3 && unknown < known * 3, `${unknown} ms against ${known} ms`);
  });
});

describe('The limit on failed attempts', () => {
  before(() => mock.method(performance, 'now', () => 0));
  after(() => mock.restoreAll());

  it('Only wrong credentials count as failed attempts', async () => {
    const brake = createBrake(2);
    const broken = async () => {
      throw new AppError('unavailable', 'no database');
    };
    for (let time = 0; time < 10; time++) await assert.rejects(brake.password('ann', A, broken), /no database/);
    assert.equal(await brake.password('ann', A, right), 'in');
  });

  it('An attempt over the limit waits for the pending attempt and then depends on its outcome', async () => {
    const brake = createBrake(1);
    let finish: (outcome: 'right' | 'wrong') => void = () => undefined;
    const slow = () =>
      new Promise<string>((resolve, reject) => {
        finish = (outcome) => (outcome === 'right' ? resolve('in') : reject(new AppError('unauthenticated', 'wrong')));
      });
    const [first, second] = [brake.password('ann', A, slow), brake.password('ann', A, right)];
    finish('right');
    assert.deepEqual(await Promise.all([first, second]), ['in', 'in']);

    const [third, fourth] = [brake.password('ann', A, slow), brake.password('ann', A, right)];
    finish('wrong');
    await assert.rejects(third, { kind: 'unauthenticated' });
    await assert.rejects(fourth, { kind: 'limited' });
  });

  it('The limit per address is ten times the limit per name, across all names', async () => {
    const brake = createBrake(2);
    for (let at = 0; at < 20; at++)
      await assert.rejects(brake.password(`n${at}`, A, wrong), { kind: 'unauthenticated' });
    await assert.rejects(brake.password('n20', A, right), { kind: 'limited' });
    assert.equal(await brake.password('n20', B, right), 'in');
    // A right password costs nothing, alone or in a crowd. Being blocked by one's name costs nothing either.
    const crowd = Array.from({ length: 50 }, (_, at) => brake.password(`m${at}`, B, right));
    assert.deepEqual(new Set(await Promise.all(crowd)), new Set(['in']));
    for (let at = 0; at < 2; at++) await assert.rejects(brake.password('ann', B, wrong), { kind: 'unauthenticated' });
    for (let at = 0; at < 50; at++) await assert.rejects(brake.password('ann', B, wrong), { kind: 'limited' });
    assert.equal(await brake.password('bob', B, right), 'in');
  });

  it('An IPv6 site has four times the limit of one of its networks, across all of them', async () => {
    const brake = createBrake(1);
    for (let at = 0; at < 40; at++)
      await assert.rejects(brake.password(`n${at}`, `2001:db8:7:${at}::1`, wrong), { kind: 'unauthenticated' });
    await assert.rejects(brake.password('n', '2001:db8:7:ffff::1', right), { kind: 'limited' });
    assert.equal(await brake.password('n', '2001:db8:8::1', right), 'in');
    for (let at = 0; at < 4000; at++) {
      await assert.rejects(brake.token(`2001:db8:9:${(at % 8).toString(16)}::1`, wrong), { kind: 'unauthenticated' });
    }
    await assert.rejects(brake.token('2001:db8:9:9::1', right), { kind: 'limited' });
    assert.equal(await brake.token('2001:db8:a::1', right), 'in');
  });

  it('Guesses for one name from many networks take turns, and whoever knows the password still gets in', async () => {
    const brake = createBrake(1, { paceMs: 20 });
    assert.equal(await brake.password('ann', '198.51.100.1', right), 'in');
    for (let at = 0; at < 10; at++)
      await assert.rejects(brake.password('ann', `192.0.2.${at}`, wrong), { kind: 'unauthenticated' });
    const outcomes: string[] = [];
    const guess = (at: number) =>
      brake.password('ANN ', `203.0.113.${at}`, async () => {
        outcomes.push(`guess ${at}`);
        throw wrongCredential();
      });
    const guesses = Array.from({ length: 40 }, (_, at) => guess(at));
    // A network where ann has signed in before does not wait, another one does, and both get in.
    assert.equal(await brake.password('ann', '198.51.100.1', right), 'in');
    assert.equal(outcomes.length, 0);
    assert.equal(await brake.password('bob', '203.0.113.1', right), 'in', 'another name');
    const refused = (await Promise.allSettled(guesses)).map((one) => (one as PromiseRejectedResult).reason.kind);
    assert.deepEqual(
      [
        refused.filter((kind) => kind === 'unauthenticated').length,
        refused.filter((kind) => kind === 'limited').length,
      ],
      [30, 10],
    );
    assert.deepEqual(
      outcomes,
      outcomes.toSorted((a, b) => Number(a.slice(6)) - Number(b.slice(6))),
    );
    assert.equal(await brake.password('ann', '203.0.113.99', right), 'in');
    assert.equal(await brake.password('ann', '203.0.113.99', right), 'in');
  });

  it('An address is blocked without further lookups after a thousand wrong tokens', async () => {
    const brake = createBrake(1);
    let asked = 0;
    const counted = () => {
      asked++;
      return wrong();
    };
    const broken = () => Promise.reject(new AppError('unavailable', 'the database does not answer'));
    for (let time = 0; time < 1500; time++) await assert.rejects(brake.token(A, broken), { kind: 'unavailable' });
    await Promise.allSettled(Array.from({ length: 1500 }, () => brake.token(A, counted)));
    assert.equal(asked, 1000);
    await assert.rejects(brake.token(A, counted), { kind: 'limited' });
    assert.equal(await brake.token(B, right), 'in');
  });
});

describe('Token guessing', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
  });
  after(() => atrium.close());

  it('Token guessing is blocked with 429 without affecting tokens in use or malformed tokens', async (t) => {
    t.mock.method(performance, 'now', () => 0);
    const call = (text: string) =>
      atrium.as()('GET', '/user', undefined, { Authorization: `token ${text}`, 'X-Forwarded-For': '192.0.2.9' });
    const used = atrium.world.users.ann?.token ?? '';
    assert.equal((await call(used)).status, 200);
    for (let guess = 0; guess < 1000; guess += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => call(mintToken())));
      for (const { status } of answers) assert.equal(status, 401);
    }
    const signIn = await atrium.as()(
      'POST',
      '/user/signin',
      { token: mintToken() },
      { 'X-Forwarded-For': '192.0.2.9' },
    );
    assert.equal(signIn.status, 429, 'sign-in with a token is counted too');
    const refused = await call(mintToken());
    assert.deepEqual([refused.status, refused.body.message], [429, 'too many failed attempts, try again later']);
    assert.equal((await call('nonsense')).status, 401);
    assert.equal((await call(used)).status, 200);
  });
});
