import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Db, openDb, type Statement } from '../../src/db/db.ts';
import { createUserStore } from '../../src/users/users.store.ts';
import { migrated, newPlace } from '../support/server/db.ts';
import { statement } from '../support/server/statement.ts';
import { lacks } from '../support/services/requirements.ts';

const USERS = 5_000;

describe('Plans of user lists', { skip: lacks('postgresql') }, () => {
  let db: Db;
  before(async () => {
    db = await openDb({ ...(await newPlace('postgres', migrated())), say: () => undefined });
    await db.query(
      statement(
        `insert into account (kind, name, active, prohibit_login)
         select 'user', 'user' || n, n % 1000 <> 0, n % 1000 = 1 from generate_series(1, ${USERS}) n`,
      ),
    );
    await db.query(statement('analyze account'));
  });
  after(() => db?.close());

  for (const state of ['inactive', 'prohibited'] as const) {
    it(`The few users who are ${state} are counted and listed from their index`, async () => {
      const asked: (readonly [text: string, values: readonly unknown[]])[] = [];
      const query = async ({ text }: Statement, values: readonly unknown[] = []) => {
        asked.push([text, values]);
        return asked.length === 1 ? [{ total: 0 }] : [];
      };
      const store = createUserStore({ query } as unknown as Db, async () => assert.fail('nothing is written'));
      await store.people('', state, { offset: 0, limit: 50 });
      assert.equal(asked.length, 2);
      for (const [text, values] of asked) {
        const rows = await db.query<{ 'QUERY PLAN': string }>(statement(`explain ${text}`), values);
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        assert.match(plan, /Scan using account_barred on account a/, plan);
      }
    });
  }
});
