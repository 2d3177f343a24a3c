import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/base/config/config.ts';
import { AppError } from '../../src/base/errors.ts';
import { createAllowance } from '../../src/http/limits/allowance.ts';
import { wrongCredential } from '../../src/identity/callers.ts';
import { createCommonAllowances } from '../../src/operations/workers/common-allowance.ts';
import { createBrakeKeeper, createRemoteBrake } from '../../src/operations/workers/common-brake.ts';
import { createJointMetrics } from '../../src/operations/workers/joint-metrics.ts';
import { createJointReadiness } from '../../src/operations/workers/joint-readiness.ts';
import type { Readings, SupervisorMessage, Used, WorkerMessage } from '../../src/operations/workers/messages.ts';
import { createRespawnPause } from '../../src/operations/workers/respawn-pause.ts';
import { workerCount } from '../../src/operations/workers/worker-count.ts';

describe('The number of workers', () => {
  const DATABASE_URL = 'postgres://127.0.0.1/atrium';

  it('WORKERS is a number, or auto for one worker on each core', () => {
    assert.deepEqual(workerCount({ WORKERS: 1, DATABASE_URL }, 8), { count: 1, isSupervised: false });
    assert.deepEqual(workerCount({ WORKERS: 3, DATABASE_URL }, 8), { count: 3, isSupervised: true });
    assert.deepEqual(workerCount({ WORKERS: 'auto', DATABASE_URL }, 8), { count: 8, isSupervised: true });
    assert.deepEqual(workerCount({ WORKERS: 'auto', DATABASE_URL }, 1), { count: 1, isSupervised: true });
  });

  it('On the built-in database one worker serves, and the reason is given', () => {
    assert.equal(workerCount({ WORKERS: 1, DATABASE_URL: undefined }, 8).reason, undefined);
    for (const WORKERS of ['auto', 4] as const) {
      const { count, isSupervised, reason } = workerCount({ WORKERS, DATABASE_URL: undefined }, 8);
      assert.deepEqual([count, isSupervised], [1, false]);
      assert.match(reason ?? '', new RegExp(`^WORKERS=${WORKERS} needs PostgreSQL .* so one worker serves$`));
    }
  });

  it('Any other number of workers is rejected', () => {
    for (const WORKERS of ['0', '65', '-1', 'all', '1.5']) {
      assert.throws(() => readConfig({ WORKERS }), /WORKERS must be auto or a whole number from 1 to 64/);
    }
    assert.equal(readConfig({ WORKERS: 'auto' }).WORKERS, 'auto');
  });
});

describe('A worker that dies', () => {
  it('A worker that dies is replaced at once, but later each time if its successors die early', () => {
    const pauseMs = createRespawnPause();
    const lives = [90_000, 10, 10, 10, 10, 10, 10, 10, 10];
    assert.deepEqual(lives.map(pauseMs), [0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    assert.equal(pauseMs(60_000), 0);
  });
});

describe('Allowances of several workers', () => {
  /** Workers whose messages reach all others, as the supervisor passes them on. */
  function openWorkers(count: number, size: number) {
    const now = 0;
    const all = Array.from({ length: count }, (_, self) => {
      const heard = (used: Used) => {
        for (const [other, { common }] of all.entries())
          if (other !== self) common.hear(JSON.parse(JSON.stringify(used)));
      };
      const common = createCommonAllowances(heard, () => now);
      return { common, allowance: common.share('callers', createAllowance(size, 60_000)) };
    });
    return all;
  }

  it('What one worker grants is used up in the others as well', () => {
    const [a, b, c] = openWorkers(3, 10);
    assert.ok(a && b && c);
    for (let count = 0; count < 6; count++) assert.ok(a.allowance.take('ann', 0));
    for (let count = 0; count < 3; count++) assert.ok(b.allowance.take('ann', 0));
    assert.ok(b.allowance.take('bob', 0));
    a.common.tell();
    b.common.tell();
    assert.deepEqual(
      [a, b, c].map(({ allowance }) => allowance.left('ann', 0)),
      [1, 1, 1],
    );
    assert.equal(c.allowance.left('bob', 0), 9);
    assert.ok(c.allowance.take('ann', 0));
    assert.equal(c.allowance.take('ann', 0), false);
    c.common.tell();
    assert.equal(a.allowance.take('ann', 0), false);
  });

  it('What was given back is given back everywhere, and more than everything cannot be used up', () => {
    const [a, b] = openWorkers(2, 5);
    assert.ok(a && b);
    for (let count = 0; count < 5; count++) {
      assert.ok(a.allowance.take('ann', 0));
      assert.ok(b.allowance.take('ann', 0));
    }
    a.common.tell();
    b.common.tell();
    assert.equal(a.allowance.wait('ann', 0), 12, 'as if five had been taken');
    a.allowance.give('ann');
    a.common.tell();
    assert.equal(b.allowance.left('ann', 0), 1);
  });
});

describe('The brake of several workers', () => {
  function openWorkers(count: number, failures: number) {
    const keeper = createBrakeKeeper(failures);
    const brakes = Array.from({ length: count }, (_, worker) => {
      const orders = (order: SupervisorMessage) => {
        if (order.kind === 'permitted') remote.permitted(order.id);
        else if (order.kind === 'rejected') remote.rejected(order.id, order.retryAfter);
      };
      const remote = createRemoteBrake((notice: WorkerMessage) => {
        if (notice.kind === 'attempt') void keeper.begin(worker, notice, orders);
        else if (notice.kind === 'attempted') keeper.finish(worker, notice.id, notice.isWrong);
      });
      return remote.brake;
    });
    return { keeper, brakes };
  }
  const wrong = () => Promise.reject(wrongCredential());
  const isLimited = (error: unknown) => error instanceof AppError && error.kind === 'limited';

  it('Failures in one worker slow down the others, and successes do not count', async () => {
    const [a, b] = openWorkers(2, 3).brakes;
    assert.ok(a && b);
    for (let count = 0; count < 9; count++) assert.equal(await a.password('ann', '192.0.2.1', async () => 'in'), 'in');
    for (const brake of [a, b, a]) {
      await assert.rejects(brake.password('ann', '192.0.2.1', wrong), { kind: 'unauthenticated' });
    }
    for (const brake of [a, b]) {
      await assert.rejects(
        brake.password('ann', '192.0.2.1', async () => assert.fail('nobody may try')),
        (error) => isLimited(error) && ((error as AppError).detail.retryAfter ?? 0) > 0,
      );
    }
    assert.equal(await b.token('192.0.2.1', async () => 'in'), 'in');
  });

  it('The attempts of a worker that died hold up nobody', async () => {
    const { keeper, brakes } = openWorkers(2, 1);
    const [a, b] = brakes;
    assert.ok(a && b);
    void a.password('ann', '192.0.2.1', () => new Promise(() => undefined));
    const waiting = b.password('ann', '192.0.2.1', async () => 'in');
    keeper.forget(0);
    assert.equal(await waiting, 'in');
  });
});

describe('The metrics of several workers', () => {
  const readings = (requests: number, memory: number, depth: number): Readings =>
    [
      {
        name: 'requests_total',
        help: '.',
        type: 'counter',
        aggregator: 'sum',
        values: [{ value: requests, labels: {} }],
      },
      { name: 'memory_bytes', help: '.', type: 'gauge', aggregator: 'sum', values: [{ value: memory, labels: {} }] },
      { name: 'inbox_depth', help: '.', type: 'gauge', aggregator: 'max', values: [{ value: depth, labels: {} }] },
      {
        name: 'seconds',
        help: '.',
        type: 'histogram',
        aggregator: 'sum',
        values: [
          { metricName: 'seconds_bucket', value: requests, labels: { le: 1, route: '/a' } },
          { metricName: 'seconds_count', value: requests, labels: { route: '/a' } },
        ],
      },
    ] as unknown as Readings;
  const valuesOf = (text: string) =>
    Object.fromEntries(
      [...text.matchAll(/^((?!process_|nodejs_)[^#\s]+) (\S+)$/gm)].map(([, name, value]) => [name, value]),
    );

  it('Counts are added up and outlive their worker, gauges are those of running workers', async () => {
    let isReady = true;
    const metrics = createJointMetrics(
      () => 2,
      async () => assert.ok(isReady),
    );
    const running = async (...all: Readings[]) => {
      const { text, type } = await metrics.page(() => all.map(async (one) => one));
      assert.match(type, /^text\/plain/);
      return valuesOf(text);
    };
    assert.deepEqual(await running(readings(3, 100, 7), readings(4, 50, 7)), {
      atrium_workers: '2',
      atrium_ready: '1',
      atrium_worker_deaths_total: '0',
      requests_total: '7',
      memory_bytes: '150',
      inbox_depth: '7',
      'seconds_bucket{le="1",route="/a"}': '7',
      'seconds_count{route="/a"}': '7',
    });
    metrics.keep(readings(4, 50, 7));
    metrics.keep(readings(1, 50, 9));
    metrics.deaths.inc();
    isReady = false;
    assert.deepEqual(await running(readings(3, 100, 6)), {
      atrium_workers: '2',
      atrium_ready: '0',
      atrium_worker_deaths_total: '1',
      requests_total: '8',
      memory_bytes: '100',
      inbox_depth: '6',
      'seconds_bucket{le="1",route="/a"}': '8',
      'seconds_count{route="/a"}': '8',
    });
  });
});

describe('Whether a server of several workers is ready', () => {
  interface Answering {
    isReady: boolean;
    ask(): Promise<Readings>;
  }
  const worker = (isReady: boolean): Answering => ({
    isReady,
    async ask() {
      if (!this.isReady) throw new Error('the server is warming up');
      return [];
    },
  });

  it('It becomes ready when all of its workers are', async () => {
    const [first, second] = [worker(true), worker(false)];
    const ready = createJointReadiness(() => [first, second]);
    await assert.rejects(ready(), /warming up/);
    await assert.rejects(ready(), /warming up/);
    second.isReady = true;
    await ready();
  });

  it('It stays ready while new workers warm up, and they count once they were ready', async () => {
    const [first, second] = [worker(true), worker(true)];
    let serving = [first];
    const ready = createJointReadiness(() => serving);
    await ready();
    serving = [first, second];
    second.isReady = false;
    await ready();
    second.isReady = true;
    await ready();
    second.isReady = false;
    await assert.rejects(ready(), /warming up/);
  });

  it('It is not ready if only new workers are left, or none', async () => {
    let serving = [worker(true)];
    const ready = createJointReadiness(() => serving);
    await ready();
    serving = [worker(false)];
    await assert.rejects(ready(), /warming up/);
    serving = [];
    await assert.rejects(ready(), /no worker serves/);
  });

  it('A worker that ends while it is asked does not count', async () => {
    const [first, ending] = [worker(true), worker(false)];
    let serving = [first, ending];
    ending.ask = async () => {
      serving = [first];
      throw new Error('worker 2 has ended');
    };
    await createJointReadiness(() => serving)();
  });
});
