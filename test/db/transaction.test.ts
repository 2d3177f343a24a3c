import assert from 'node:assert/strict';
import { stat } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { type Db, isUniqueViolation, sql } from '../../src/db/db.ts';
import { countTrips } from '../support/checks/trips.ts';
import { until } from '../support/checks/until.ts';
import { DRIVERS, openTestDb } from '../support/server/db.ts';

const INSERT = sql('transaction.insert', 'insert into thing (id, name) values ($1, $2)');
const COUNT = sql('transaction.count', 'select count(*)::int as n from thing');
const ADD_ONE = sql('transaction.addOne', 'update counter set n = n + 1');
const READ = sql('transaction.read', 'select n from counter');
const SET = sql('transaction.set', 'update counter set n = $1');
const LONG = sql('transaction.long', 'select count(*) from generate_series(1, 300000)');

test('A statement name that is too long or used for two statements is rejected', () => {
  const first = sql('transaction.same', 'select 1');
  assert.deepEqual(sql('transaction.same', 'select 1'), first);
  assert.throws(() => sql('transaction.same', 'select 2'), /two statements are named "transaction.same"/);
  assert.throws(() => sql('x'.repeat(64), 'select 1'), /invalid statement name/);
});

for (const driver of DRIVERS) {
  describe(`Transactions on ${driver}`, () => {
    let db: Db;
    before(async () => {
      db = await openTestDb(driver);
      await db.query(sql('transaction.thing', 'create table thing (id int primary key, name text)'));
      await db.query(sql('transaction.name', 'create unique index thing_name on thing (name)'));
      await db.query(sql('transaction.counter', 'create table counter (n int)'));
      await db.query(sql('transaction.zero', 'insert into counter values (0)'));
    });
    after(() => db.close());
    const count = async () => (await db.query<{ n: number }>(COUNT))[0]?.n;

    test(`A timer that is due runs before the statement after a long one on ${driver}`, async () => {
      // Begins where a request begins: in the turn of the event loop that reads what has arrived.
      const isLate = await new Promise<boolean>((resolve, reject) => {
        stat('.', () => {
          let hasRun = false;
          setTimeout(() => {
            hasRun = true;
          }, 0);
          db.query(LONG).then(() => resolve(!hasRun), reject);
        });
      });
      assert.equal(isLate, false);
    });

    test(`Rows of a statement that travels later can be read once it has run, with another or with the COMMIT, on ${driver}`, async () => {
      const { first, second } = await db.transaction(async (query) => {
        const first = query.later<{ n: number }>(READ);
        assert.throws(first, /"transaction.read" has not run yet/);
        await query(COUNT);
        assert.deepEqual(first(), [{ n: 0 }]);
        return { first, second: query.later<{ n: number }>(READ) };
      });
      assert.deepEqual([first(), second()], [[{ n: 0 }], [{ n: 0 }]]);
      const failed: { rows?: () => unknown } = {};
      await assert.rejects(
        db.transaction(async (query) => {
          query.later(INSERT, [1, 1, 1]);
          failed.rows = query.later(READ);
        }),
      );
      assert.throws(() => failed.rows?.(), /has not run yet/);
    });

    test(`Other work is done between the long statements of a transaction on ${driver}`, async () => {
      let turns = 0;
      let isOver = false;
      const turn = () => {
        turns++;
        if (!isOver) setImmediate(turn);
      };
      setImmediate(turn);
      await db.transaction(async (query) => {
        for (let count = 0; count < 4; count++) await query(LONG);
      });
      isOver = true;
      assert.ok(turns >= 4, `${turns} turns of the event loop`);
    });

    test(`A transaction commits when its work resolves on ${driver}`, async () => {
      const answer = await db.transaction(async (query) => {
        await query(INSERT, [1, 'a']);
        await query(INSERT, [2, 'b']);
        return 'done';
      });
      assert.equal(answer, 'done');
      assert.equal(await count(), 2);
    });

    test(`A transaction rolls back and rethrows the error when its work throws on ${driver}`, async () => {
      const error = new Error('changed my mind');
      const work = db.transaction(async (query) => {
        await query(INSERT, [3, 'c']);
        throw error;
      });
      await assert.rejects(work, (thrown) => thrown === error);
      assert.equal(await count(), 2);
    });

    test(`A unique violation is recognized by its index on ${driver}`, async () => {
      const error = await db.query(INSERT, [9, 'a']).catch((thrown: unknown) => thrown);
      assert.ok(isUniqueViolation(error));
      assert.ok(isUniqueViolation(error, 'thing_name'));
      assert.ok(!isUniqueViolation(error, 'thing_pkey'));
      const inside = await db.transaction((query) => query(INSERT, [1, 'z'])).catch((thrown: unknown) => thrown);
      assert.ok(isUniqueViolation(inside, 'thing_pkey'));
      assert.ok(!isUniqueViolation(new Error('other')));
      assert.ok(!isUniqueViolation(undefined));
    });

    test(`A transaction that ignores a failed query is rolled back with an error on ${driver}`, async () => {
      const work = db.transaction(async (query) => {
        await query(INSERT, [4, 'd']);
        await query(INSERT, [4, 'again']).catch(() => {});
      });
      await assert.rejects(work, { name: 'AppError', kind: 'internal' });
      assert.equal(await count(), 2);
    });

    test(`A query after the end of its transaction is rejected on ${driver}`, async () => {
      const leaked = await db.transaction(async (query) => ({ query }));
      await assert.rejects(leaked.query(INSERT, [5, 'e']), /after its transaction had ended/);
      assert.equal(await count(), 2);
    });

    test(`Queries of one transaction can be sent concurrently on ${driver}`, async () => {
      await db.transaction(async (query) => {
        await Promise.all([query(ADD_ONE), query(ADD_ONE), query(ADD_ONE)]);
        await query(SET, [0]);
      });
    });

    test(`A statement that is sent later runs before the next one, or before the commit, on ${driver}`, async () => {
      const seen = await db.transaction(async (query) => {
        query.later(SET, [7]);
        const [row] = await query(READ);
        query.later(ADD_ONE);
        return row;
      });
      assert.deepEqual(seen, { n: 7 });
      assert.deepEqual(await db.query(READ), [{ n: 8 }]);
      await db.query(SET, [0]);
    });

    test(`A transaction whose only statement is sent later commits it on ${driver}`, async () => {
      await db.transaction(async (query) => query.later(ADD_ONE));
      assert.deepEqual(await db.query(READ), [{ n: 1 }]);
      await db.query(SET, [0]);
    });

    test(`A statement that is sent later and fails undoes the transaction, with its own error, on ${driver}`, async () => {
      const atCommit = db.transaction(async (query) => {
        await query(ADD_ONE);
        query.later(INSERT, [1, 'taken']);
      });
      await assert.rejects(atCommit, (error) => isUniqueViolation(error, 'thing_pkey'));
      const before = db.transaction(async (query) => {
        query.later(INSERT, [1, 'taken']);
        await query(ADD_ONE);
      });
      await assert.rejects(before, (error) => isUniqueViolation(error, 'thing_pkey'));
      assert.deepEqual(await db.query(READ), [{ n: 0 }]);
      // The connection is as good as before, and knows which statements it has prepared.
      await db.transaction(async (query) => {
        await Promise.all([query(SET, [3]), query(ADD_ONE), query(COUNT)]);
      });
      assert.deepEqual(await db.query(READ), [{ n: 4 }]);
      await db.query(SET, [0]);
    });

    test(`A statement that the transaction did not wait for is part of it on ${driver}`, async () => {
      await db.transaction(async (query) => {
        void query(ADD_ONE);
      });
      assert.deepEqual(await db.query(READ), [{ n: 1 }]);
      await db.query(SET, [0]);
    });

    test(`After a statement that fails, those that travel with it are not run on ${driver}`, async () => {
      const work = db.transaction(async (query) => {
        const results = await Promise.allSettled([query(ADD_ONE), query(INSERT, [1, 'taken']), query(ADD_ONE)]);
        assert.equal(results[1]?.status, 'rejected');
        assert.equal(results[2]?.status, 'rejected');
        throw new Error('undo');
      });
      await assert.rejects(work, /undo/);
      assert.deepEqual(await db.query(READ), [{ n: 0 }]);
    });

    test(`Values that cannot be written fail alone, and the transaction goes on, on ${driver}`, async () => {
      await db.transaction(async (query) => {
        await query(ADD_ONE);
        await assert.rejects(query(SET, [() => 1]), TypeError);
        assert.throws(() => query.later(SET, [() => 1]), TypeError);
        await query(ADD_ONE);
      });
      assert.deepEqual(await db.query(READ), [{ n: 2 }]);
      await db.query(SET, [0]);
    });

    test(`Queries outside an open transaction neither see nor join it on ${driver}`, async () => {
      const inside = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<void>();
      const work = db.transaction(async (query) => {
        await query(INSERT, [6, 'f']);
        inside.resolve();
        await goOn.promise;
        throw new Error('undo');
      });
      await inside.promise;
      const outside = db.query(INSERT, [7, 'g']);
      const seen = count();
      goOn.resolve();
      await assert.rejects(work, /undo/);
      await outside;
      assert.ok([2, 3].includes((await seen) ?? 0));
      assert.equal(await count(), 3);
    });

    test(`A hundred concurrent transactions lose no update on ${driver}`, async () => {
      const one = () => db.transaction(async (query) => void (await query(ADD_ONE)));
      await Promise.all(Array.from({ length: 100 }, one));
      assert.deepEqual(await db.query(READ), [{ n: 100 }]);
    });

    test(`A failing statement is reported with the error code of the database on ${driver}`, async () => {
      await assert.rejects(db.query(sql('transaction.wrong', 'select nothing from nowhere')), { code: '42P01' });
      await assert.rejects(db.query(sql('transaction.divide', 'select 1 / $1::int as n'), [0]), { code: '22012' });
      assert.deepEqual(await db.query(sql('transaction.divide', 'select 1 / $1::int as n'), [1]), [{ n: 1 }]);
    });
  });
}

test('A transaction sends what it asks at once in one trip, with BEGIN and COMMIT, on postgres', async (context) => {
  const db = await openTestDb('postgres');
  await db.query(sql('transaction.counter', 'create table counter (n int)'));
  await db.query(sql('transaction.zero', 'insert into counter values (0)'));
  const trips = await countTrips(context, db);
  await db.transaction(async (query) => {
    query.later(SET, [1]);
    await Promise.all([query(ADD_ONE), query(READ)]);
    query.later(ADD_ONE);
  });
  assert.equal(trips(), 2);
  assert.deepEqual(await db.query(READ), [{ n: 3 }]);
  await db.transaction(async (query) => {
    await query(ADD_ONE);
    await query(READ);
  });
  assert.equal(trips(), 4, 'the query, and three for two statements that wait for each other');
  await db.transaction(async () => undefined);
  assert.equal(trips(), 0, 'nothing to do');
  await db.close();
});

test('A statement that travels with a lock sees what was committed while it waited on postgres', async () => {
  const db = await openTestDb('postgres');
  const lock = sql('transaction.lock', 'select pg_advisory_xact_lock(42)');
  const waiters = sql(
    'transaction.waiters',
    `select count(*)::int as n from pg_locks where locktype = 'advisory' and objid = 42 and not granted
        and database = (select oid from pg_database where datname = current_database())`,
  );
  await db.query(sql('transaction.counter', 'create table counter (n int)'));
  await db.query(sql('transaction.zero', 'insert into counter values (0)'));
  let second: Promise<unknown> | undefined;
  await db.transaction(async (query) => {
    await query(lock);
    second = db.transaction(async (other) => (await Promise.all([other(lock), other(READ)]))[1]);
    await until(async () => (await db.query<{ n: number }>(waiters))[0]?.n === 1);
    await query(SET, [9]);
  });
  assert.deepEqual(await second, [{ n: 9 }]);
  await db.close();
});

test('Waiting for a transaction that does not end fails as unavailable on pglite', async () => {
  const db = await openTestDb('pglite', { queryTimeoutMs: 100 });
  const work = db.transaction(async () => db.query(sql('transaction.self', 'select 1')));
  await assert.rejects(work, { name: 'AppError', kind: 'unavailable', message: /busy with another transaction/ });
  await db.close();
  await assert.rejects(db.query(sql('transaction.self', 'select 1')), { kind: 'unavailable', message: /closed/ });
  await db.close();
});
