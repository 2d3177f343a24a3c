import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Db, openDb, sql } from '../../src/db/db.ts';
import { migrate } from '../../src/db/migrate.ts';
import { DRIVERS, migrated, newPlace, openTestDb, temporaryFolder } from '../support/db.ts';

const ONE = `create table a (id int primary key);\ninsert into a values (1);\n`;
const TWO = `-- a body with semicolons\ncreate function f() returns int language plpgsql as $$ begin return 1; end $$;\ncreate table b (id int);\n`;
const TABLES = sql('test.tables', `select tablename as t from pg_tables where schemaname = 'public' order by 1`);
const ROWS = sql('test.rows', 'select number, name, applied_at is not null as dated from migration order by number');

function folderOf(files: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

async function tables(db: Db): Promise<unknown[]> {
  return (await db.query<{ t: string }>(TABLES)).map(({ t }) => t);
}

for (const driver of DRIVERS) {
  describe(`Migrations on ${driver}`, () => {
    test(`A migration run applies exactly the files that were not applied before on ${driver}`, async () => {
      const db = await openTestDb(driver);
      const lines: string[] = [];
      const say = (line: string) => lines.push(line);
      const folder = folderOf({ '0001_one.sql': ONE, '0002_two.sql': TWO, 'README.md': 'not SQL' });
      assert.deepEqual(await migrate(db, folder, say), { applied: ['0001_one.sql', '0002_two.sql'], version: 2 });
      assert.deepEqual(lines, ['migrating the database: 0001_one.sql', 'migrating the database: 0002_two.sql']);
      assert.deepEqual(await migrate(db, folder, say), { applied: [], version: 2 });
      writeFileSync(join(folder, '0003_three.sql'), 'create table c (id int)');
      assert.deepEqual(await migrate(db, folder, say), { applied: ['0003_three.sql'], version: 3 });
      assert.deepEqual(await tables(db), ['a', 'b', 'c', 'migration']);
      assert.deepEqual(await db.query(ROWS), [
        { number: 1, name: '0001_one.sql', dated: true },
        { number: 2, name: '0002_two.sql', dated: true },
        { number: 3, name: '0003_three.sql', dated: true },
      ]);
      await db.close();
    });

    test(`A failing migration is rolled back, keeps earlier ones and is reported with its line on ${driver}`, async () => {
      const db = await openTestDb(driver);
      const broken = 'create table half (id int);\n\ninsert into nowhere values (1);\n';
      const folder = folderOf({ '0001_one.sql': ONE, '0002_broken.sql': broken });
      await assert.rejects(
        migrate(db, folder, () => {}),
        {
          name: 'AppError',
          message: /^the migration 0002_broken.sql failed in line 3: .*nowhere.* does not exist/,
        },
      );
      assert.deepEqual(await tables(db), ['a', 'migration']);
      writeFileSync(join(folder, '0002_broken.sql'), 'create table whole (id int);');
      assert.deepEqual((await migrate(db, folder, () => {})).applied, ['0002_broken.sql']);
      await db.close();
    });

    test(`Test databases are copies of a migrated template on ${driver}`, async () => {
      const template = migrated(folderOf({ '0001_one.sql': `${ONE}-- copied` }));
      const copies = await Promise.all([1, 2, 3].map(() => openTestDb(driver, {}, template)));
      for (const db of copies) {
        assert.deepEqual(await tables(db), ['a', 'migration']);
        await db.close();
      }
    });

    test(`A migration that ends its own transaction is rejected on ${driver}`, async () => {
      const db = await openTestDb(driver);
      const folder = folderOf({ '0001_one.sql': 'create table a (id int); commit; create table b (id int);' });
      await assert.rejects(
        migrate(db, folder, () => {}),
        /0001_one.sql ended its own transaction/,
      );
      await db.close();
    });

    test(`A newer database, a changed file, a numbering gap or an invalid file name is rejected on ${driver}`, async () => {
      const db = await openTestDb(driver);
      await migrate(db, folderOf({ '0001_one.sql': ONE, '0002_two.sql': TWO }), () => {});
      const refusals: [Record<string, string>, RegExp][] = [
        [{ '0001_one.sql': ONE }, /newer than this release: it has migration 0002_two.sql, .* ends at number 1/],
        [{ '0001_one.sql': `${ONE}--`, '0002_two.sql': TWO }, /0001_one.sql was changed after/],
        [{ '0001_one.sql': ONE, '0003_two.sql': TWO }, /migration number 2 is missing/],
        [{ '0001_one.sql': ONE, '0001_two.sql': TWO }, /number 2 is missing or duplicated, near 0001_two.sql/],
        [{ '0001_one.sql': ONE, 'two.sql': TWO }, /two.sql is not named like 0001_what.sql/],
      ];
      for (const [files, message] of refusals) {
        await assert.rejects(
          migrate(db, folderOf(files), () => {}),
          { name: 'AppError', message },
        );
      }
      const windows = { '0001_one.sql': ONE.replaceAll('\n', '\r\n'), '0002_two.sql': TWO };
      assert.deepEqual((await migrate(db, folderOf(windows), () => {})).applied, []);
      await db.close();
    });
  });
}

describe('Migrations of replicas on postgres', () => {
  const slow = `select pg_sleep(1.3); create table a (id int);`;

  test('Replicas that start at once on postgres apply each migration once, despite the query timeout', async () => {
    const place = await newPlace('postgres');
    const replicas = await Promise.all(
      Array.from({ length: 4 }, () => openDb({ ...place, say: () => {}, queryTimeoutMs: 1_000 })),
    );
    const folder = folderOf({ '0001_slow.sql': slow, '0002_two.sql': TWO });
    const results = await Promise.all(replicas.map((db) => migrate(db, folder, () => {})));
    assert.deepEqual(results.flatMap(({ applied }) => applied).sort(), ['0001_slow.sql', '0002_two.sql']);
    assert.deepEqual(new Set(results.map(({ version }) => version)), new Set([2]));
    await Promise.all(replicas.map((db) => db.close()));
  });

  test('A replica on postgres that waits too long for another migration reports the reason', async () => {
    const place = await newPlace('postgres');
    const [first, second] = await Promise.all([1, 2].map(() => openDb({ ...place, say: () => {} })));
    assert.ok(first && second);
    const inside = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const holding = first.migration(async () => {
      inside.resolve();
      await goOn.promise;
    }, 1_000);
    await inside.promise;
    await assert.rejects(
      migrate(second, folderOf({ '0001_one.sql': ONE }), () => {}, { lockTimeoutMs: 100 }),
      {
        kind: 'unavailable',
        message: /another process has been migrating this database for too long/,
      },
    );
    goOn.resolve();
    await holding;
    await Promise.all([first.close(), second.close()]);
  });
});
