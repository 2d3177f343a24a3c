import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { type Db, openDb, sql } from '../../src/db/db.ts';
import { migrate, migrationStatus } from '../../src/db/migrate.ts';
import { readMigrations } from '../../src/db/migration-files.ts';
import { lockTable } from '../support/faults/table-lock.ts';
import { migrated, newPlace, openTestDb, temporaryFolder } from '../support/server/db.ts';
import { API_DRIVERS, COUNTED_DRIVERS } from '../support/server/drivers.ts';
import { contractions, oldestCompatible } from '../support/server/previous-release.ts';
import { lacks } from '../support/services/requirements.ts';

const ONE = `create table a (id int primary key);\ninsert into a values (1);\n`;
const TWO = `-- a body with semicolons\ncreate function f() returns int language plpgsql as $$ begin return 1; end $$;\ncreate table b (id int);\n`;
const BASELINE = `-- baseline-of: 0002_two.sql ${'0'.repeat(64)} abc\n${ONE}`;
const TABLES = sql('test.tables', `select tablename as t from pg_tables where schemaname = 'public' order by 1`);
const quiet = { say: () => {} };
/** A server whose statements may wait for little more than a second. */
const impatient = { ...quiet, queryTimeoutMs: 1_500 };
const ROWS = sql('test.rows', 'select number, name, applied_at is not null as dated from migration order by number');

function folderOf(files: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

async function tables(db: Db): Promise<unknown[]> {
  return (await db.query<{ t: string }>(TABLES)).map(({ t }) => t);
}

for (const driver of COUNTED_DRIVERS) {
  describe(`Migrations on ${driver}`, () => {
    test(`A migration run applies exactly the files that were not applied before on ${driver}`, async () => {
      const db = await openTestDb(driver);
      const lines: string[] = [];
      const say = (line: string) => lines.push(line);
      const folder = folderOf({ '0001_one.sql': ONE, '0002_two.sql': TWO, 'README.md': 'not SQL' });
      assert.deepEqual(await migrate(db, folder, say), {
        applied: ['0001_one.sql', '0002_two.sql'],
        version: 2,
        isAhead: false,
      });
      assert.deepEqual(lines, ['migrating the database: 0001_one.sql', 'migrating the database: 0002_two.sql']);
      assert.deepEqual(await migrate(db, folder, say), { applied: [], version: 2, isAhead: false });
      writeFileSync(join(folder, '0003_three.sql'), 'create table c (id int)');
      assert.deepEqual(await migrate(db, folder, say), {
        applied: ['0003_three.sql'],
        version: 3,
        isAhead: false,
      });
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
        [{ '0002_two.sql': TWO, '0003_three.sql': TWO }, /migration number 1 is missing/],
        [{ '0002_all.sql': BASELINE, '0004_four.sql': TWO }, /migration number 3 is missing/],
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

for (const driver of API_DRIVERS) {
  describe(`A database that is newer than the release on ${driver}`, () => {
    const THREE = 'create table c (id int);\n';
    const compatible = (from: number, text = THREE) => `-- compatible-from: ${from}\n${text}`;
    const newer = {
      '0001_one.sql': ONE,
      '0002_two.sql': `-- Why.\n${compatible(1, TWO)}`,
      '0003_three.sql': compatible(2),
    };

    test(`A release starts on a newer database exactly if every later migration says so on ${driver}`, async () => {
      const db = await openTestDb(driver);
      await migrate(db, folderOf(newer), () => {});
      const [second] = [folderOf({ '0001_one.sql': ONE, '0002_two.sql': newer['0002_two.sql'] })];
      assert.deepEqual(await migrate(db, second, () => {}), { applied: [], version: 3, isAhead: true });
      const status = await db.transaction((query) => migrationStatus(query, second));
      assert.deepEqual([status.applied.length, status.pending, status.isAhead], [3, [], true]);
      const first = folderOf({ '0001_one.sql': ONE });
      const tooNew = { name: 'AppError', message: /newer than this release: it has migration 0003_three.sql, .*/ };
      await assert.rejects(
        migrate(db, first, () => {}),
        tooNew,
      );
      await assert.rejects(
        db.transaction((query) => migrationStatus(query, first)),
        tooNew,
      );
      const changed = folderOf({ '0001_one.sql': ONE, '0002_two.sql': TWO });
      await assert.rejects(
        migrate(db, changed, () => {}),
        /0002_two.sql was changed after it was applied/,
      );
      const further = {
        ...newer,
        '0004_four.sql': 'create table d (id int)',
        '0005_five.sql': compatible(2, 'select 1'),
      };
      await migrate(db, folderOf(further), () => {});
      await assert.rejects(
        migrate(db, second, () => {}),
        /it has migration 0004_four.sql, but this release ends at number 2/,
      );
      await db.close();
    });

    test(`A database whose migrations an older release recorded is migrated on ${driver}`, async () => {
      const db = await openTestDb(driver);
      await migrate(db, folderOf({ '0001_one.sql': ONE }), () => {});
      await db.query(sql('test.older', 'alter table migration drop column compatible_from'));
      await db.transaction((query) => migrationStatus(query, folderOf({ '0001_one.sql': ONE })));
      await migrate(db, folderOf(newer), () => {});
      const rows = await db.query(sql('test.floors', 'select number, compatible_from from migration order by number'));
      assert.deepEqual(rows, [
        { number: 1, compatible_from: null },
        { number: 2, compatible_from: 1 },
        { number: 3, compatible_from: 2 },
      ]);
      await db.close();
    });
  });
}

test('Every migration declares which releases can run on its schema', () => {
  for (const { name, text } of readMigrations('migrations')) assert.match(text, /^-- compatible-from: \d+$/m, name);
  for (const wrong of ['-- compatible-from: 2', '-- compatible-from: 0']) {
    assert.throws(
      () => readMigrations(folderOf({ '0001_one.sql': `${wrong}\n${ONE}` })),
      /0001_one.sql: compatible-from must be a number from 1 to 1/,
    );
  }
});

describe('What a migration does to the previous release', () => {
  it('No migration that declares itself compatible takes away what the previous release uses', () => {
    for (const file of readMigrations('migrations')) assert.deepEqual(contractions(file), [], file.name);
  });

  it('A migration that takes something away is noticed, unless it declares that older releases must stop', () => {
    const taking = [
      'alter table a drop column b;',
      'alter table a drop b;',
      'DROP TABLE a',
      'drop table if exists a cascade;',
      'alter table a rename to b;',
      'alter table a\n  rename column b to c;',
      'alter table a alter column b type text;',
      'alter table a alter b set data type text;',
      'alter table a alter column b set not null;',
      'alter table a add column b int not null;',
      'alter table a alter column b drop default;',
      'drop table a; create view b as select 1;',
      'alter table a rename column b to c; create view a as select 1;',
    ];
    for (const text of taking) {
      assert.equal(contractions({ number: 2, compatibleFrom: 1, text }).length, 1, text);
      assert.deepEqual(contractions({ number: 2, compatibleFrom: 2, text }), [], text);
    }
    const giving = [
      "alter table a add column b text not null default '';",
      'alter table a add column b int;\n-- drop table a',
      'create table b (id int not null); drop index c;',
      'alter table a add constraint c check (b > 0) not valid;',
      'alter table a rename to b; create view a as select id from b;',
      'drop table a;\ncreate view a as select id from b;',
    ];
    for (const text of giving) assert.deepEqual(contractions({ number: 2, compatibleFrom: 1, text }), [], text);
  });

  it('The oldest release that may run next to this one follows from what the migrations declare', () => {
    const files = {
      '0001_one.sql': ONE,
      '0002_two.sql': TWO,
      '0003_three.sql': '-- compatible-from: 2\nselect 1;',
      '0004_four.sql': '-- compatible-from: 1\nselect 1;',
    };
    assert.equal(oldestCompatible(folderOf(files)), 2);
    assert.equal(oldestCompatible(folderOf({ ...files, '0004_four.sql': 'select 1;' })), 4);
  });
});

describe('Migrations of replicas on postgres', { skip: lacks('postgresql') }, () => {
  test('A migration that waits for an open transaction lets other statements through, and is applied after it', async () => {
    const place = await newPlace('postgres');
    const [first, server] = await Promise.all([openDb({ ...place, ...quiet }), openDb({ ...place, ...impatient })]);
    const folder = folderOf({ '0001_one.sql': ONE });
    await migrate(first, folder, () => {});
    writeFileSync(join(folder, '0002_more.sql'), 'alter table a add column more int');
    const open = await lockTable(place.databaseUrl ?? '', 'a', 'access share');
    const said: string[] = [];
    const migrating = migrate(first, folder, (line) => said.push(line));
    const read = sql('test.read', 'select id from a');
    // With each try the migration waits for its lock, and these wait behind it.
    let tries = 0;
    while (tries < 3) {
      await server.query(read);
      tries = said.filter((line) => line === 'migrating the database: 0002_more.sql').length;
    }
    assert.ok(said.includes('waiting for open transactions on these tables to end'));
    await open.release();
    assert.deepEqual((await migrating).applied, ['0002_more.sql']);
    await Promise.all([first.close(), server.close()]);
  });

  test('A migration that gets no lock reports whose transactions to look for', async () => {
    const place = await newPlace('postgres');
    const db = await openDb({ ...place, ...quiet });
    const folder = folderOf({ '0001_one.sql': ONE });
    await migrate(db, folder, () => {});
    writeFileSync(join(folder, '0002_more.sql'), 'alter table a add column more int');
    const open = await lockTable(place.databaseUrl ?? '', 'a', 'access share');
    await assert.rejects(
      migrate(db, folder, () => {}, { lockTimeoutMs: 600 }),
      { kind: 'unavailable', message: /^transactions on the tables of the next migration have been open for too long/ },
    );
    await open.release();
    await db.close();
  });

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
