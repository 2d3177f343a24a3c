import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createYielder, threadMs } from '../../src/base/scheduling/slices.ts';
import { signedIn } from '../../src/http/admission/access.ts';
import { until } from '../support/checks/until.ts';
import { type Annex, openAnnex } from '../support/server/annex.ts';

const BUDGET_MS = 600;

/** What the routes below are doing. */
interface Progress {
  pieces: number;
  running: number;
  ended: unknown;
}

describe('The budget of a request', () => {
  let annex: Annex;
  let url = '';
  const progress: Progress = { pieces: 0, running: 0, ended: undefined };

  /** Works for that many milliseconds of processor time, in pieces. */
  const work = async (ms: number) => {
    const yieldIfDue = createYielder();
    progress.running++;
    try {
      // The clock of a thread may have steps of several milliseconds.
      for (let used = 0; used < ms; ) {
        const start = threadMs();
        while (threadMs() < start + 5);
        used += threadMs() - start;
        progress.pieces++;
        await yieldIfDue();
      }
      return { done: true };
    } catch (error) {
      progress.ended = error;
      throw error;
    } finally {
      progress.running--;
    }
  };

  before(async () => {
    annex = await openAnnex(
      (scope) => {
        const access = signedIn('user', 'never');
        const msOf = ({ query }: { query: unknown }) => Number((query as { ms: string }).ms);
        scope.get('/read', { config: { access } }, (one) => work(msOf(one)));
        scope.get('/advised', { config: { access, costly: 'name fewer clusters' } }, (one) => work(msOf(one)));
        scope.post('/write', { config: { access } }, (one) => work(msOf(one)));
        scope.post('/costly-write', { config: { access, costly: 'name fewer users' } }, (one) => work(msOf(one)));
        scope.get('/lasting', { config: { access: signedIn('user', 'never', { lasts: true }) } }, (one) =>
          work(msOf(one)),
        );
      },
      { budgetMs: BUDGET_MS },
    );
    await annex.app.listen({ host: '127.0.0.1', port: 0 });
    url = `http://127.0.0.1:${(annex.app.server.address() as AddressInfo).port}`;
  });
  after(() => annex.close());

  const call = async (method: string, path: string, as = 'ann') => {
    const headers = { Authorization: `token ${annex.atrium.world.users[as]?.token}` };
    const answer = await fetch(`${url}${path}`, { method, headers });
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> };
  };

  it('A request that reads is rejected once it has used its budget of processor time', async () => {
    const { status, body } = await call('GET', `/read?ms=${BUDGET_MS * 3}`);
    assert.deepEqual([status, body.reason], [422, 'too_costly']);
    assert.match(String(body.message), /more than 0.6 s of processor time: ask for less/);
  });

  it('The rejection says what to ask for less of, if the route declares it', async () => {
    for (const [method, path, advice] of [
      ['GET', '/advised', /: name fewer clusters$/],
      ['POST', '/costly-write', /: name fewer users$/],
    ] as const) {
      const { status, body } = await call(method, `${path}?ms=${BUDGET_MS * 3}`);
      assert.deepEqual([status, body.reason], [422, 'too_costly']);
      assert.match(String(body.message), advice);
    }
  });

  it('Requests within the budget, those that write, and those that last are answered', async () => {
    for (const [method, path] of [
      ['GET', '/read?ms=50'],
      ['POST', '/costly-write?ms=50'],
      ['POST', `/write?ms=${BUDGET_MS + 100}`],
      ['GET', `/lasting?ms=${BUDGET_MS + 100}`],
    ] as const) {
      const { status, body } = await call(method, path);
      assert.deepEqual([status, body], [200, { done: true }], path);
    }
  });

  it('A third expensive request of a caller is rejected until one has ended, and other callers are not concerned', async () => {
    const answers = await Promise.all([
      ...Array.from({ length: 3 }, () => call('GET', '/read?ms=400')),
      ...Array.from({ length: 3 }, () => call('GET', '/read?ms=20')),
      call('GET', '/read?ms=400', 'bob'),
    ]);
    const expensive = answers.slice(0, 3).map(({ status }) => status);
    assert.deepEqual(expensive.sort(), [200, 200, 429]);
    const rejected = answers.find(({ status }) => status === 429);
    assert.equal(rejected?.headers.get('retry-after'), '1');
    assert.equal(rejected?.body.reason, 'too_many_expensive');
    assert.deepEqual(
      answers.slice(3).map(({ status }) => status),
      [200, 200, 200, 200],
    );
    assert.equal((await call('GET', '/read?ms=400')).status, 200);
  });

  it('The work for a client that hangs up ends', async () => {
    await until(() => progress.running === 0);
    progress.pieces = 0;
    progress.ended = undefined;
    const headers = { Authorization: `token ${annex.atrium.world.users.ann?.token}` };
    const hasty = request(`${url}/read?ms=${BUDGET_MS - 50}`, { headers }).on('error', () => undefined);
    hasty.end();
    await until(() => progress.pieces > 2);
    hasty.destroy();
    await until(() => progress.running === 0);
    assert.match(String(progress.ended), /hung up/);
  });
});
