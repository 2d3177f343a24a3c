import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Db, openDb, type Statement } from '../../../src/db/db.ts';
import { readLastDeliveries } from '../../../src/marketplace/deliveries/last-deliveries.store.ts';
import { migrated, newPlace } from '../../support/server/db.ts';
import { statement } from '../../support/server/statement.ts';

const DELIVERIES = 5_000;

describe('The last delivery of each marketplace', () => {
  let db: Db;
  before(async () => {
    db = await openDb({ ...(await newPlace(undefined, migrated())), say: () => undefined });
    await db.query(
      statement(
        `insert into delivery (marketplace, natural_key, subject, event_type, event_time, notification, source, request_id, received_at, state)
         select case when n = 1 then 'CloudA' else 'CloudB' end, int8send(n), '', '', '', '{}', '', '', to_timestamp(n), 'done'
           from generate_series(1, ${DELIVERIES}) n`,
      ),
    );
    await db.query(statement('analyze delivery'));
  });
  after(() => db?.close());

  it('Each marketplace is listed with the time of its last delivery, and one that never sent any is missing', async () => {
    const last = await readLastDeliveries(db.query);
    assert.deepEqual([...last].sort(), [
      ['CloudA', new Date(1000)],
      ['CloudB', new Date(DELIVERIES * 1000)],
    ]);
  });

  it('It is found at once, even if nearly all deliveries are from another marketplace', async () => {
    const asked: (readonly [statement: Statement, values: readonly unknown[]])[] = [];
    await readLastDeliveries(async (...[statement, values = []]) => {
      asked.push([statement, values]);
      return [];
    });
    const [found, values] = asked[0] ?? assert.fail('nothing was asked');
    const rows = await db.query<{ 'QUERY PLAN': string }>(statement(`explain (analyze) ${found.text}`), values);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    assert.match(plan, /Scan Backward using delivery_marketplace on delivery/, plan);
    assert.doesNotMatch(plan, /Rows Removed by Filter: \d{2}/, plan);
  });
});
