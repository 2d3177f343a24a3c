import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { AppError } from '../../src/base/errors.ts';
import { type Db, openDb, sql } from '../../src/db/db.ts';
import { openWire } from '../support/faults/wire.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { onServer, startPostgres, type TestPostgres } from '../support/services/postgres.ts';
import { lacks } from '../support/services/requirements.ts';

/** These tests stop and restart the server, so they have their own. */
const ONE = sql('fault.one', 'select 1 as one');
const PID = sql('fault.pid', 'select pg_backend_pid() as pid');
const SLEEP = sql('fault.sleep', 'select pg_sleep($1)');
/** Longer than the others may be blocked by a replica that was cut off. */
const PATIENT_MS = 8_000;
const VERY_PATIENT_MS = 20_000;
/** A test that has to wait for this fails. */
const HOURS_MS = 600_000;
const noWork = async () => undefined;
const UNAVAILABLE = { name: 'AppError', kind: 'unavailable' };

describe('PostgreSQL failures', { skip: lacks('postgresql') }, () => {
  let server: TestPostgres;
  let url: string;
  const faults: Error[] = [];
  const open = (databaseUrl = url, poolSize = 2, queryTimeoutMs = 1_500): Promise<Db> =>
    openDb({
      databaseUrl,
      dataDir: temporaryFolder(),
      poolSize,
      queryTimeoutMs,
      say: () => {},
      onError: (error) => faults.push(error),
    });
  const pidOf = async (query: Db['query']) => (await query<{ pid: number }>(PID))[0]?.pid ?? 0;
  const eventually = async (check: () => Promise<unknown>) => {
    for (let tries = 0; ; tries += 1) {
      const error = await check().then(
        () => undefined,
        (thrown: unknown) => thrown ?? new Error(),
      );
      if (error === undefined) return;
      if (tries === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  before(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
  });
  after(() => server.stop());

  test('A terminated idle connection is logged and replaced', async () => {
    const db = await open();
    await onServer(server.url, `select pg_terminate_backend(${await pidOf(db.query)})`);
    await eventually(async () => assert.ok(faults.length > 0, 'the log is told'));
    assert.ok(!faults.some((fault) => 'client' in fault), 'and not told the keys of the connection');
    assert.deepEqual(await db.query(ONE), [{ one: 1 }]);
    await db.close();
  });

  test('db.ask survives the loss of its connection and is unavailable while the server is down', async () => {
    const db = await open();
    const asked = () => db.queryRevision(PID);
    const pid = await asked();
    assert.match(pid ?? '', /^\d+$/);
    assert.equal(await asked(), pid, 'one connection');
    await onServer(server.url, `select pg_terminate_backend(${pid})`);
    assert.notEqual(await asked(), pid);
    let isBack = false;
    const restarted = server.restart().then(() => {
      isBack = true;
    });
    const refusals: unknown[] = [];
    while (!isBack && refusals.length === 0) {
      await asked().catch((error: unknown) => refusals.push(error));
      await new Promise(setImmediate);
    }
    await assert.rejects(Promise.reject(refusals[0]), UNAVAILABLE);
    await restarted;
    await eventually(asked);
    await db.close();
    await assert.rejects(asked(), UNAVAILABLE);
  });

  test('JIT compilation is turned off', async () => {
    const db = await open();
    assert.deepEqual(await db.query(sql('test.jit', 'show jit')), [{ jit: 'off' }]);
    await db.close();
  });

  test('A connection terminated inside a transaction fails only that transaction', async () => {
    const db = await open();
    const waiting = db.transaction(async (query) => {
      const pid = await pidOf(query);
      await onServer(server.url, `select pg_terminate_backend(${pid})`);
      await eventually(async () =>
        assert.deepEqual(await onServer(server.url, `select 1 from pg_stat_activity where pid = ${pid}`), []),
      );
      await query(ONE);
    });
    await assert.rejects(waiting, UNAVAILABLE);
    const running = db.transaction(async (query) => {
      const pid = await pidOf(query);
      const slow = query(SLEEP, [0.5]);
      await Promise.all([slow, onServer(server.url, `select pg_terminate_backend(${pid})`)]);
    });
    await assert.rejects(running, UNAVAILABLE);
    assert.deepEqual(await db.query(ONE), [{ one: 1 }]);
    await db.close();
  });

  test('A statement that takes too long is canceled and its connection kept', async () => {
    const db = await open(url, 1);
    const before = await pidOf(db.query);
    await assert.rejects(db.query(SLEEP, [30]), { ...UNAVAILABLE, message: /took too long/ });
    assert.equal(await pidOf(db.query), before);
    await db.close();
  });

  test('A failing statement keeps its connection', async () => {
    const db = await open(url, 1);
    const before = await pidOf(db.query);
    await assert.rejects(db.query(sql('fault.zero', 'select 1 / 0')), { code: '22012' });
    assert.equal(await pidOf(db.query), before);
    await db.close();
  });

  test('A backend that hangs fails within the timeout and is not used again', async () => {
    const db = await open(url, 1);
    const pid = await pidOf(db.query);
    process.kill(pid, 'SIGSTOP');
    try {
      // The backend is stopped until the end of this test, so only the timeout can answer.
      await assert.rejects(db.query(ONE), { ...UNAVAILABLE, message: /did not respond in time/ });
      assert.notEqual(await pidOf(db.query), pid);
      await db.close();
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  test('A replica that is cut off in the middle of a transaction blocks the others only for some seconds', async (t) => {
    const wire = await openWire(new URL(url));
    t.after(() => wire.cut());
    await onServer(url, 'create table turn (value int); insert into turn values (0)');
    const next = sql('fault.next', 'update turn set value = value + 1 returning value');
    const [cutOff, other] = [await open(wire.url, 1, PATIENT_MS), await open(url, 1, PATIENT_MS)];
    wire.holdBack('db.commit');
    const inside = Promise.withResolvers<void>();
    const abandoned = cutOff.transaction(async (query) => {
      await query(next);
      inside.resolve();
    });
    const unknown = assert.rejects(abandoned, ({ kind, detail }: AppError) => {
      return kind === 'unavailable' && detail.reason === 'outcome_unknown' && detail.retryAfter === 1;
    });
    await inside.promise;
    // The statement timeout of the other one is longer, so this fails if the row is not released long before.
    assert.deepEqual(await other.query(next), [{ value: 1 }]);
    await unknown;
    await Promise.all([cutOff.close(), other.close()]);
  });

  // Each of these is where the words of a trip stop that have arrived; what follows never does.
  for (const words of ['db.commit', 'fault.between']) {
    test(`A replica that falls silent in the middle of a trip, at ${words}, blocks the others for 5 s at most`, async (t) => {
      const wire = await openWire(new URL(url));
      t.after(() => wire.cut());
      await onServer(url, 'create table if not exists trip (value int); delete from trip; insert into trip values (0)');
      const next = sql('fault.nextTrip', 'update trip set value = value + 1 returning value');
      const between = sql('fault.between', 'select 1');
      const [silent, other] = [await open(wire.url, 1, VERY_PATIENT_MS), await open(url, 1, VERY_PATIENT_MS)];
      const rejected = assert.rejects(
        silent.transaction(async (query) => {
          await query(between);
          wire.fallSilentAt(words);
          query.later(next);
          query.later(between);
        }),
        UNAVAILABLE,
      );
      await eventually(async () => assert.equal(wire.silent, 1));
      const began = performance.now();
      // Both replicas have more patience than that, so this fails unless the silent transaction is ended.
      assert.deepEqual(await other.query(next), [{ value: 1 }]);
      t.diagnostic(`others waited ${Math.round(performance.now() - began)} ms`);
      await rejected;
      assert.deepEqual(await other.query(sql('fault.trip', 'select value from trip')), [{ value: 1 }]);
      await Promise.all([silent.close(), other.close()]);
    });
  }

  test('A server that hangs fails every call, refuses further ones at once and is used again as soon as it answers', async (t) => {
    const wire = await openWire(new URL(url));
    t.after(() => wire.cut());
    const db = await open(wire.url, 2, HOURS_MS);
    const keep = sql('fault.keep', `update turn set value = value`);
    await Promise.all([db.query(ONE), db.query(ONE), db.queryRevision(PID)]);
    const inside = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const writing = db.transaction(async (query) => {
      await query(ONE);
      inside.resolve();
      await goOn.promise;
    });
    await inside.promise;
    wire.freeze();
    goOn.resolve();
    const silent = { ...UNAVAILABLE, message: /cannot be used: the server does not answer/, detail: { retryAfter: 1 } };
    const unknown = ({ detail }: AppError) => detail.reason === 'outcome_unknown';
    // More than there are connections.
    const reads = [1, 2, 3, 4].map(() => assert.rejects(db.query(ONE), silent));
    await Promise.all([...reads, assert.rejects(db.queryRevision(PID), silent), assert.rejects(writing, unknown)]);
    for (const call of [
      () => db.query(ONE),
      () => db.query(keep),
      () => db.queryRevision(PID),
      () => db.transaction(noWork),
    ]) {
      let isRefused = false;
      call().catch(() => {
        isRefused = true;
      });
      await new Promise(setImmediate);
      assert.ok(isRefused, 'without waiting for anything');
    }
    wire.thaw();
    await eventually(() => Promise.all([db.query(ONE), db.queryRevision(PID), db.transaction((query) => query(ONE))]));
    await db.close();
  });

  test('A server that is merely slow or busy is not taken for one that hangs', async (t) => {
    const wire = await openWire(new URL(url));
    t.after(() => wire.cut());
    const db = await open(wire.url, 1, PATIENT_MS);
    wire.slowDown(100);
    // One statement alone, longer than it takes to notice a server that hangs; the others wait for its connection.
    const results = await Promise.all([db.query(SLEEP, [2.5]), db.query(ONE), db.queryRevision(PID)]);
    assert.deepEqual(results[1], [{ one: 1 }]);
    await db.close();
  });

  test('A second connection replaces one that does not answer while the server does', async () => {
    const db = await open(url, 2, HOURS_MS);
    const pid = Number(await db.queryRevision(PID));
    process.kill(pid, 'SIGSTOP');
    try {
      assert.notEqual(Number(await db.queryRevision(PID)), pid);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await db.close();
  });

  test('A write whose answer is lost is reported as one with an unknown outcome, and a read is not', async (t) => {
    const wire = await openWire(new URL(url));
    t.after(() => wire.cut());
    const db = await open(wire.url, 1);
    await onServer(url, 'create table done (id int primary key)');
    const insert = sql('fault.insert', 'insert into done values ($1)');
    const unknown = ({ detail }: AppError) => detail.reason === 'outcome_unknown';
    wire.loseAnswerTo('db.commit');
    await assert.rejects(
      db.transaction((query) => query(insert, [1])),
      unknown,
    );
    wire.loseAnswerTo('insert into done');
    await assert.rejects(db.query(insert, [2]), unknown);
    assert.deepEqual(await onServer(url, 'select id from done order by id'), [{ id: 1 }, { id: 2 }]);
    wire.loseAnswerTo('select 1 as one');
    await assert.rejects(db.query(ONE), ({ kind, detail }: AppError) => kind === 'unavailable' && !detail.reason);
    // The connection ends before the COMMIT is sent, so it is known that nothing happened.
    const known = db.transaction(async (query) => {
      const pid = await pidOf(query);
      await onServer(server.url, `select pg_terminate_backend(${pid})`);
      await eventually(async () =>
        assert.deepEqual(await onServer(server.url, `select 1 from pg_stat_activity where pid = ${pid}`), []),
      );
      await new Promise((resolve) => setTimeout(resolve, 50));
    });
    await assert.rejects(known, ({ kind, detail }: AppError) => kind === 'unavailable' && !detail.reason);
    await db.close();
  });

  test('Queries work again after a server restart', async () => {
    const db = await open();
    await db.query(ONE);
    const restarted = server.restart();
    const refused: unknown[] = [];
    await eventually(async () => {
      await db.query(ONE).catch((error: unknown) => {
        refused.push(error);
        throw error;
      });
      await restarted;
    });
    await restarted;
    assert.deepEqual(await db.query(ONE), [{ one: 1 }]);
    assert.ok(refused.every((error) => error instanceof AppError && error.kind === 'unavailable'));
    await db.close();
  });

  test('A query fails as unavailable when no connection is free', async () => {
    const db = await open(url, 1);
    const inside = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const holding = db.transaction(async () => {
      inside.resolve();
      await goOn.promise;
    });
    await inside.promise;
    await assert.rejects(db.query(ONE), { ...UNAVAILABLE, message: /did not respond in time/ });
    goOn.resolve();
    await holding;
    await db.close();
  });

  test('A failed connection is reported with the reason and never with the password', async () => {
    const password = 'hunter2-canary';
    const at = (change: (url: URL) => void) => {
      const changed = new URL(url);
      changed.password = password;
      change(changed);
      return changed.href;
    };
    const cases: [string, RegExp][] = [
      [
        at((u) => {
          u.port = '1';
        }),
        /127\.0\.0\.1:1\/.*\(ECONNREFUSED\)/,
      ],
      [
        at((u) => {
          u.pathname = '/nothing';
        }),
        /no database with that name/,
      ],
      [
        at((u) => {
          u.username = 'nobody-here';
        }),
        /rejected this user/,
      ],
      [
        at((u) => {
          u.hostname = 'no-such-host.invalid';
        }),
        /no-such-host\.invalid.*(ENOTFOUND|EAI_AGAIN|did not respond)/,
      ],
      [`mysql://u:${password}@localhost/x`, /must be a URL that starts with postgres:\/\//],
      [`postgres://u:${password}@local host/x`, /must be a URL that starts with postgres:\/\//],
    ];
    for (const [address, message] of cases) {
      const error = await open(address).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof AppError, `${message} was not refused`);
      assert.equal(error.kind, 'unavailable');
      assert.match(error.message, message);
      assert.doesNotMatch(inspect(error, { depth: 10 }), /hunter2/);
    }
  });

  test('A wrong or missing password is reported as the reason of a failed connection', async () => {
    await server.demandPassword('guarded', 'right');
    const address = new URL(url);
    address.username = 'guarded';
    address.password = 'wrong-canary';
    const error = await open(address.href).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof AppError);
    assert.match(error.message, /rejected the user name or password/);
    assert.doesNotMatch(inspect(error, { depth: 10 }), /canary/);
    address.password = '';
    await assert.rejects(open(address.href), { ...UNAVAILABLE, message: /requires a password/ });
    address.password = 'right';
    const db = await open(address.href);
    assert.deepEqual(await db.query(ONE), [{ one: 1 }]);
    await db.close();
  });
});
