import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip, gunzipSync, gzipSync } from 'node:zlib';
import type { Db } from '../../src/db/db.ts';
import { inspect } from '../../src/operations/backup/inspection.ts';
import { COUNTS } from '../counts.ts';
import { itLong } from '../support/checks/long.ts';
import { backUpTo, contentOf, newFile, openPlace, restoreFrom } from '../support/server/backup.ts';
import { migrated, newPlace } from '../support/server/db.ts';
import { COUNTED_DRIVERS } from '../support/server/drivers.ts';
import { startServer } from '../support/server/process.ts';
import { newDemoPlace, openTestServer } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';
import { lacks } from '../support/services/requirements.ts';

const unpack = promisify(gunzip);
/** A backup of the demo world, created by whichever suite comes first. */
let whole: Promise<string> | undefined;

async function backUpDemo(): Promise<string> {
  const db = await openPlace((await newDemoPlace()).place);
  const file = await backUpTo(db);
  await db.close();
  return file;
}

describe('Damaged backup files', () => {
  let bytes = Buffer.alloc(0);

  before(async () => {
    whole ??= backUpDemo();
    bytes = readFileSync(await whole);
  });

  function spoilt(change: (copy: Buffer) => Buffer): string {
    const file = newFile();
    writeFileSync(file, change(Buffer.from(bytes)));
    return file;
  }

  it('A truncated backup file is rejected wherever it was cut', async () => {
    for (const part of [0, 0.001, 0.1, 0.5, 0.9, 0.99]) {
      const file = spoilt((copy) => copy.subarray(0, Math.floor(copy.length * part)));
      await assert.rejects(inspect(file), /is not a complete backup .*, so nothing was changed/, `cut at ${part}`);
    }
    for (const less of [1, 4, 8, 9]) {
      await assert.rejects(
        inspect(spoilt((copy) => copy.subarray(0, -less))),
        /is not a complete backup/,
        `less ${less}`,
      );
    }
  });

  it('A backup file with a flipped bit is rejected unless it decompresses to the same content', async () => {
    const tar = gunzipSync(bytes);
    const step = Math.max(1, Math.floor(bytes.length / COUNTS.flippedBits));
    let refused = 0;
    for (let place = 0; place < bytes.length; place += place < 12 ? 1 : step) {
      const copy = Buffer.from(bytes);
      copy.writeUInt8(copy.readUInt8(place) ^ (1 << (place % 8)), place);
      // Compressed text can be encoded in more than one way, and two bytes only say how and where it was compressed.
      const isSame = await unpack(copy).then(
        (unpacked) => unpacked.equals(tar),
        () => false,
      );
      if (isSame && place > 7) continue;
      refused++;
      await assert.rejects(inspect(spoilt(() => copy)), /is not a complete backup/, `byte ${place}`);
    }
    assert.ok(refused > COUNTS.flippedBits / 2);
  });

  it('A damaged backup file is not mistaken for one in another format', async () => {
    const tar = gunzipSync(bytes);
    const [found] = /"format": *1/.exec(tar.toString('latin1')) ?? [];
    assert.ok(found);
    tar.write('7', tar.indexOf(found) + found.length - 1);
    const packed = gzipSync(tar);
    await assert.rejects(inspect(spoilt(() => packed)), /has format 7, but this release reads format 1/);
    const checksum = packed.length - 8;
    packed.writeUInt8(packed.readUInt8(checksum) ^ 1, checksum);
    await assert.rejects(inspect(spoilt(() => packed)), /is not a complete backup \(incorrect data check\)/);
  });

  it('A repacked backup file with altered contents is rejected', async () => {
    const repack = (change: (tar: Buffer) => void) =>
      spoilt((copy) => {
        const tar = gunzipSync(copy);
        change(tar);
        return gzipSync(tar);
      });
    const at = (tar: Buffer, text: string) => tar.indexOf(text);
    const cases: readonly (readonly [RegExp, (tar: Buffer) => void])[] = [
      [/the checksum of account is wrong/, (tar) => tar.write('bxb', at(tar, '"bob"') + 1)],
      [/unknown entry|does not start|checksum|header/i, (tar) => tar.write('x', at(tar, 'backup.json'))],
    ];
    for (const [message, change] of cases) await assert.rejects(inspect(repack(change)), message);
    await assert.rejects(inspect(spoilt(() => gzipSync('no tar at all'))), /is not a complete backup/);
    await assert.rejects(inspect('/no/such/file'), /cannot be read: ENOENT/);
  });
});

describe('Restoring a backup', () => {
  let file = '';
  before(async () => {
    whole ??= backUpDemo();
    file = await whole;
  });

  // The rules are the same SQL on both. What differs, a restore that succeeds, runs on both in the everyday suite.
  for (const driver of COUNTED_DRIVERS) {
    it(`Restoring a backup with a newer or different schema is rejected and changes nothing on ${driver}`, async () => {
      const db = await openPlace(await newPlace(driver, migrated()));
      const content = await contentOf(db);
      const { manifest } = await inspect(file);
      const { restore } = await import('../../src/operations/backup/restore.ts');
      const attempt = (migrations: typeof manifest.migrations) =>
        restore({
          db,
          file,
          manifest: { ...manifest, migrations },
          replace: true,
          migrationsFolder: 'migrations',
          say: () => undefined,
        });
      const last = manifest.migrations.at(-1);
      const newer = [...manifest.migrations, { number: 9999, name: '9999_future.sql', checksum: '' }];
      const names = new RegExp(
        `newer than this release: its schema is 9999_future.sql, this release ends at ${last?.name}`,
      );
      await assert.rejects(attempt(newer), names);
      const other = manifest.migrations.map((one) => (one.number === 40 ? { ...one, checksum: 'x' } : one));
      await assert.rejects(attempt(other), /migration 0040_schema.sql of the backup differs/);
      const old = [{ number: 1, name: '0001_house.sql', checksum: 'x' }];
      const tooOld =
        /too old for this release: its schema is 0001_house.sql, .*; restore it with commit f71fe67a, then/;
      await assert.rejects(attempt(old), tooOld);
      assert.deepEqual(await contentOf(db), content);
      await db.close();
    });

    it(`Restoring into a database that is not empty is rejected without --replace on ${driver}`, async () => {
      const db = await openPlace(await newPlace(driver, migrated()));
      await db.query(statement(`insert into account (kind, name) values ('user', 'somebody')`));
      const content = await contentOf(db);
      await assert.rejects(restoreFrom(file, db), /not empty, so nothing was changed; add --replace/);
      assert.deepEqual(await contentOf(db), content);
      await db.close();
    });

    it(`Every restore advances the revision and never moves a sequence back on ${driver}`, async () => {
      const db = await openPlace(await newPlace(driver));
      const state = async () => {
        const [row] = await db.query<{ value: bigint; pruned: bigint; changes: bigint; next: bigint }>(
          statement(
            `select value, pruned, (select count(*) from change) as changes, nextval('data_key_id_seq') as next from revision`,
          ),
        );
        return row ?? assert.fail();
      };
      let before = { value: BigInt(Date.now()) * 1000n - 1n, next: 0n };
      for (let time = 1; time <= COUNTS.repeatedRestores; time++) {
        await restoreFrom(file, db, true);
        const after = await state();
        assert.ok(after.value > before.value);
        assert.deepEqual([after.pruned, after.changes], [after.value, 0n]);
        assert.ok(after.next > before.next);
        before = after;
      }
      await db.close();
    });

    it(`A restore that would drop objects that Atrium did not create is rejected on ${driver}, until they are gone`, async () => {
      const db = await openPlace(await newPlace(driver, migrated()));
      const run = (text: string) => db.query(statement(text));
      const foreign = [
        ['table invoices', 'create table invoices (id int)'],
        ['view report', 'create view report as select name from account'],
        ['materialized view kept', 'create materialized view kept as select name from account'],
        ['sequence tickets', 'create sequence tickets'],
        ['function twice(integer)', 'create function twice(n int) returns int language sql return n * 2'],
        ['view other.report', 'create view other.report as select name from account'],
        [
          'constraint notes_account_id_fkey on table other.notes',
          'create table other.notes (id int, account_id bigint references account)',
        ],
      ] as const;
      await run(`insert into account (kind, name) values ('user', 'somebody')`);
      await run('create schema other');
      // Objects in another schema that do not depend on ours stay as they are.
      await run('create table other.own (id serial primary key, name text default now()::text)');
      for (const [, make] of foreign) await run(make);
      const content = await contentOf(db);
      await assert.rejects(restoreFrom(file, db, true), ({ message }: Error) => {
        const [, named = ''] = /objects that are not Atrium's \((.*)\), so nothing was changed/.exec(message) ?? [];
        assert.deepEqual(named.split(', ').sort(), foreign.map(([name]) => name).sort());
        return true;
      });
      assert.deepEqual(await contentOf(db), content);
      await run('drop table invoices, other.notes');
      await run('drop view report, other.report');
      await run('drop materialized view kept');
      await run('drop sequence tickets');
      await run('drop function twice');
      await restoreFrom(file, db, true);
      assert.deepEqual(await run('select count(*)::int as count from other.own'), [{ count: 0 }]);
      assert.deepEqual(await run(`select name from account where name in ('ann', 'somebody')`), [{ name: 'ann' }]);
      await db.close();
    });
  }

  for (const driver of COUNTED_DRIVERS) {
    for (const place of ['email', 'commit']) {
      itLong(
        `A restore killed ${place === 'commit' ? 'before the commit' : `at the ${place} table`} leaves the previous data intact on ${driver}`,
        async () => {
          const { place: target } = await newDemoPlace(driver);
          const child = startServer({
            main: 'test/support/server/restorer.ts',
            args: [file, place, target.dataDir, target.databaseUrl ?? ''],
            cwd: '.',
          });
          while (!child.stdout().endsWith('here\n')) {
            const ended = await Promise.race([child.ended, pause(20)]);
            if (ended) assert.fail(child.stderr());
          }
          child.kill('SIGKILL');
          await child.ended;
          const [content = ''] = child.stdout().split('\n');
          assert.ok(content.includes('before-the-restore'));
          const db = await openPlace(target);
          await untilAlone(db);
          assert.deepEqual(await contentOf(db), JSON.parse(content));
          await restoreFrom(file, db, true);
          assert.ok(!JSON.stringify(await contentOf(db)).includes('before-the-restore'));
          await db.close();
        },
      );
    }
  }

  it('A restore is rejected while a server is connected to the database', { skip: lacks('postgresql') }, async () => {
    const atrium = await openTestServer({ driver: 'postgres' });
    const db = await openPlace({ dataDir: atrium.dataDir, databaseUrl: atrium.instance.config.DATABASE_URL ?? '' });
    await assert.rejects(
      restoreFrom(file, db, true),
      /servers are connected to the database \(\d+ connections, from [^)]+\), so nothing was changed/,
    );
    await atrium.close();
    await db.close();
  });
});

/** PostgreSQL notices only after a moment that its client is gone, and holds the locks until then. */
async function untilAlone(db: Db): Promise<void> {
  if (db.driver === 'pglite') return;
  const others = statement(
    `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name = 'atrium'`,
  );
  while ((await db.query(others)).length > 0) await pause(20);
}
