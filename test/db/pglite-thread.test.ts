import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type Db, openDb, sql } from '../../src/db/db.ts';
import type { StartBackend } from '../../src/db/pglite/pglite-backend.ts';
import { startInThread } from '../../src/db/pglite/pglite-in-thread.ts';
import { IS_LONG } from '../counts.ts';
import { itLong } from '../support/checks/long.ts';
import { newPlace, openTestDb, temporaryFolder } from '../support/server/db.ts';

const quiet = { say: () => {} };
const SLEEP = sql('thread.sleep', 'select pg_sleep(0.5)');
const ONE = sql('thread.one', 'select 1 as one');
const MANY = sql('thread.many', `select n as id, repeat(md5(n::text), 4) as body from generate_series(1, 40000) n`);

/** How many turns the event loop took meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const count = setInterval(() => turns++, 5);
  try {
    await work();
  } finally {
    clearInterval(count);
  }
  return turns;
}

describe('The thread of the built-in database', () => {
  it('The event loop turns while a statement runs', async () => {
    const db = await openTestDb('pglite');
    await db.query(ONE);
    const turns = await turnsDuring(() => db.query(SLEEP));
    assert.ok(turns > 20, `${turns} turns in half a second`);
    await db.close();
  });

  it('A long answer is read in parts, complete and in order, and the event loop turns in between', async () => {
    const { dataDir } = await newPlace('pglite');
    let turns = 0;
    let atAnswer = 0;
    const turn = () => {
      turns++;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);
    const startPglite: StartBackend = async (options, watch) => {
      const backend = await startInThread(options, watch);
      return {
        ...backend,
        async exchange(messages) {
          const answer = await backend.exchange(messages);
          atAnswer = turns;
          return answer;
        },
      };
    };
    const db = await openDb({ ...quiet, dataDir, startPglite });
    const rows = await db.query<{ id: number; body: string }>(MANY);
    clearImmediate(next);
    // 6 MB.
    assert.ok(turns - atAnswer > 15, `${turns - atAnswer} turns`);
    assert.equal(rows.length, 40_000);
    assert.ok(rows.every(({ id, body }, at) => id === at + 1 && body.length === 128));
    await db.close();
  });

  itLong('A process that has not closed its database ends all the same', async () => {
    const { dataDir } = await newPlace('pglite');
    const script = join(temporaryFolder(), 'script.ts');
    const text = `
      import { openDb, sql } from '${pathToFileURL(resolve('src/db/db.ts'))}';
      const db = await openDb({ dataDir: process.env.DATA_DIR, say: () => {} });
      const [{ one }] = await db.query(sql('one', 'select 1 as one'));
      console.log(one);`;
    writeFileSync(script, text);
    const env = { ...process.env, DATA_DIR: dataDir };
    const { stdout, status } = spawnSync(process.execPath, [script], {
      env,
      encoding: 'utf8',
      timeout: 60_000,
    });
    assert.deepEqual([stdout, status], ['1\n', 0]);
  });

  it('If the thread is gone, the database has stopped, whether somebody was waiting or not', async () => {
    for (const isBusy of IS_LONG ? [true, false] : [true]) {
      const { dataDir } = await newPlace('pglite');
      let lose = (): void => undefined;
      const stops: string[] = [];
      const startPglite: StartBackend = (options, watch) =>
        startInThread(options, watch, (thread) => {
          lose = () => void thread.terminate();
        });
      const db = await openDb({ ...quiet, dataDir, startPglite, onStopped: ({ message }) => stops.push(message) });
      const pending = isBusy ? assert.rejects(db.query(SLEEP), { kind: 'unavailable' }) : db.query(ONE);
      if (!isBusy) await pending;
      lose();
      await pending;
      await rejectsSoon(db);
      assert.equal(stops.length, 1);
      assert.match(
        stops[0] ?? '',
        /stopped: it is gone \(its thread ended\); everything that was acknowledged is safe/,
      );
      await db.close();
      const again = await openDb({ ...quiet, dataDir });
      assert.deepEqual(await again.query(ONE), [{ one: 1 }]);
      await again.close();
    }
  });
});

/** The end of the thread is heard of a moment after it. */
async function rejectsSoon(db: Db): Promise<void> {
  for (let times = 0; times < 200; times++) {
    const error = await db.query(ONE).then(
      () => undefined,
      (reason: Error) => reason,
    );
    if (error !== undefined) return assert.match(error.message, /its thread ended/);
  }
  assert.fail('the database still answers');
}
