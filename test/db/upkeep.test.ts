import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { yieldToEventLoop } from '../../src/base/scheduling/slices.ts';
import { oneOff, sql } from '../../src/db/db.ts';
import { createMutex, createSerialQueue } from '../../src/db/mutex.ts';
import { createUpkeep } from '../../src/db/pglite/upkeep.ts';
import type { Session } from '../../src/db/transaction.ts';
import { until } from '../support/checks/until.ts';
import { openTestDb } from '../support/server/db.ts';

describe('The upkeep of the built-in database', () => {
  it('Other requests are served between any two steps', async () => {
    let turn = 0;
    const counting = setInterval(() => undefined, 1000);
    const count = () => {
      turn++;
      if (turn < 10_000) next = setImmediate(count);
    };
    let next = setImmediate(count);
    const steps: { readonly text: string; readonly turn: number }[] = [];
    const session: Session = {
      run: async () => {
        const rows = [
          { name: 'one', columns: ['id', '"order"'] },
          { name: 'other', columns: ['id'] },
        ];
        return [{ rows, command: 'SELECT' }];
      },
      command: async (text) => void steps.push({ text, turn }),
    };
    const upkeep = createUpkeep(session, createMutex(1000), assert.fail);
    for (let segment = 0; segment < 16; segment++) upkeep.onSegment();
    await until(() => steps.length === 9);
    upkeep.stop();
    clearImmediate(next);
    clearInterval(counting);
    assert.deepEqual(
      steps.map(({ text }) => text),
      [
        'CHECKPOINT',
        'select pg_stat_force_next_flush()',
        'VACUUM one',
        'SET default_statistics_target = 10; ANALYZE one; RESET default_statistics_target',
        'ANALYZE one (id)',
        'ANALYZE one ("order")',
        'VACUUM other',
        'SET default_statistics_target = 10; ANALYZE other; RESET default_statistics_target',
        'ANALYZE other (id)',
      ],
    );
    assert.equal(new Set(steps.map((step) => step.turn)).size, steps.length);
  });

  it('A worn table is analyzed in steps, with full statistics, and is not worn afterwards', async () => {
    const db = await openTestDb('pglite');
    const wear = `create table worn (id int primary key, "Order" int, body text);
      create index worn_body on worn (lower(body));
      insert into worn select n, n % 50, 'Body ' || n from generate_series(1, 20000) n; delete from worn where id % 3 = 0`;
    await db.migration((_query, script) => script(wear), 1000);
    const errors: Error[] = [];
    const steps: string[] = [];
    let looks = 0;
    // An upkeep of the test's own, which need not be waited for.
    const session: Session = {
      run: async (asked) => {
        const rows = await Promise.all(asked.map(({ statement }) => db.query(statement)));
        looks++;
        return rows.map((some) => ({ rows: some, command: 'SELECT' }));
      },
      command: async (text) => {
        steps.push(text);
        // Several statements, or one that must not be in a transaction.
        if (text.includes(';')) await db.migration((_query, script) => script(text), 1000);
        else await db.query(oneOff('upkeep.test.step', text));
      },
    };
    /** Returns the steps for one table. */
    const look = async (last: string) => {
      const upkeep = createUpkeep(session, createSerialQueue(), (error) => errors.push(error));
      const looksBefore = looks;
      steps.length = 0;
      for (let segment = 0; segment < 16; segment++) upkeep.onSegment();
      await until(() => errors.length > 0 || (looks > looksBefore && (last === '' || steps.includes(last))));
      // A step that follows begins in the next turn of the event loop.
      for (let turn = 0; turn < 3; turn++) await yieldToEventLoop();
      upkeep.stop();
      return steps.filter((text) => text.includes('worn'));
    };
    assert.equal((await look('ANALYZE public.worn (body)')).length, 5);
    const statistics = sql(
      'upkeep.test',
      `select s.tablename::text as of, s.attname::text as name, array_length(s.most_common_vals::text::text[], 1) as common
         from pg_stats s where s.tablename like 'worn%' order by 1, 2`,
    );
    assert.deepEqual(await db.query(statistics), [
      { of: 'worn', name: 'Order', common: 50 },
      { of: 'worn', name: 'body', common: null },
      { of: 'worn', name: 'id', common: null },
      { of: 'worn_body', name: 'lower', common: null },
    ]);
    assert.deepEqual(await look(''), []);
    assert.deepEqual(errors, []);
    await db.close();
  });
});
