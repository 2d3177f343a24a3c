import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type Db, openDb, type Statement } from '../../src/db/db.ts';
import { lockForRemoval } from '../../src/users/account-removal.store.ts';
import { describeLong } from '../support/checks/long.ts';
import { migrated, newPlace } from '../support/server/db.ts';
import { API_DRIVERS } from '../support/server/drivers.ts';
import { statement } from '../support/server/statement.ts';

/** More than are locked by one statement. */
const OWN = 510;
const OTHERS = 20_000;
const [ORGANIZATION, DOOMED] = [1_000_000n, 1_000_001n];

for (const driver of API_DRIVERS) {
  describeLong(`Locking what a removed account leaves, on ${driver}`, () => {
    let db: Db;
    const asked: (readonly [statement: Statement, values: readonly unknown[]])[] = [];
    before(async () => {
      db = await openDb({ ...(await newPlace(driver, migrated())), say: () => undefined });
      for (const text of [
        `insert into account (id, kind, name) values (${ORGANIZATION}, 'organization', 'o'), (${DOOMED}, 'user', 'doomed')`,
        `insert into team (organization_id, name, permission, type)
         select ${ORGANIZATION}, 't' || n, 'read', 'custom' from generate_series(1, ${OWN + OTHERS}) n`,
        `insert into team_member (team_id, account_id) select id, ${DOOMED} from team order by id limit ${OWN}`,
        'analyze team',
        'analyze team_member',
      ])
        await db.query(statement(text));
      await db.transaction(async (query) => {
        await lockForRemoval((...call) => {
          asked.push([call[0], call[1] ?? []]);
          return query(...call);
        }, DOOMED);
      });
    });
    after(() => db?.close());

    it(`The teams of a removed account are locked in order, at most 500 by one statement, on ${driver}`, () => {
      const locked = asked.filter(([{ name }]) => name === 'removal.lockTeams').map(([, [ids]]) => ids as bigint[]);
      assert.deepEqual(
        locked.map((ids) => ids.length),
        [500, OWN - 500],
      );
      const all = locked.flat();
      assert.deepEqual(
        all,
        all.toSorted((one, other) => Number(one - other)),
      );
    });

    it(`No team of anybody else is read in order to remove an account on ${driver}`, async () => {
      const about = asked.filter(([{ text }]) => text.includes('team'));
      assert.ok(about.length > 0);
      for (const [{ text }, values] of about) {
        const rows = await db.query<{ 'QUERY PLAN': string }>(statement(`explain (analyze) ${text}`), values);
        const plan = rows.map((row) => row['QUERY PLAN'].replace(/{[\d,]{99,}}/, '{…}')).join('\n');
        assert.doesNotMatch(plan, /Rows Removed by Filter: \d{4}|Seq Scan on team\b/, plan);
      }
    });
  });
}
