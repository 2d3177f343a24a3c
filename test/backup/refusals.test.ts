import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { gunzip, gunzipSync, gzipSync } from 'node:zlib';
import { inspect } from '../../src/backup/inspection.ts';
import type { Db } from '../../src/db/db.ts';
import { backUpTo, contentOf, newFile, openPlace, restoreFrom } from '../support/backup.ts';
import { DRIVERS, migrated, newPlace } from '../support/db.ts';
import { openTestHouse } from '../support/house.ts';
import { statement } from '../support/statement.ts';

const KEY = Buffer.alloc(32, 9).toString('base64');
const unpack = promisify(gunzip);
let whole = '';
let bytes = Buffer.alloc(0);

before(async () => {
  const house = await openTestHouse({ env: { ATRIUM_KEY: KEY } });
  whole = await backUpTo(house.house.db);
  bytes = readFileSync(whole);
  await house.close();
});

function spoilt(change: (copy: Buffer) => Buffer): string {
  const file = newFile();
  writeFileSync(file, change(Buffer.from(bytes)));
  return file;
}

describe('Damaged backup files', () => {
  it('A truncated backup file is rejected wherever it was cut', async () => {
    for (const part of [0, 0.001, 0.1, 0.5, 0.9, 0.99]) {
      const file = spoilt((copy) => copy.subarray(0, Math.floor(copy.length * part)));
      await assert.rejects(inspect(file), /is not a whole backup .*: nothing was changed/, `cut at ${part}`);
    }
    for (const less of [1, 4, 8, 9]) {
      await assert.rejects(inspect(spoilt((copy) => copy.subarray(0, -less))), /is not a whole backup/, `less ${less}`);
    }
  });

  it('A backup file with a flipped bit is rejected unless it decompresses to the same content', async () => {
    let refused = 0;
    for (let place = 0; place < bytes.length; place += place < 12 ? 1 : 37) {
      const copy = Buffer.from(bytes);
      copy.writeUInt8(copy.readUInt8(place) ^ (1 << (place % 8)), place);
      // A packed text can be written in more than one way, and two bytes only say how and where it was packed.
      const isSame = await unpack(copy).then(
        (tar) => tar.equals(gunzipSync(bytes)),
        () => false,
      );
      if (isSame && place > 7) continue;
      refused++;
      await assert.rejects(inspect(spoilt(() => copy)), /is not a whole backup/, `byte ${place}`);
    }
    assert.ok(refused > 150);
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
      [/nobody knows what|does not begin|checksum|header/i, (tar) => tar.write('x', at(tar, 'backup.json'))],
    ];
    for (const [message, change] of cases) await assert.rejects(inspect(repack(change)), message);
    await assert.rejects(inspect(spoilt(() => gzipSync('no tar at all'))), /is not a whole backup/);
    await assert.rejects(inspect('/no/such/file'), /cannot be read: ENOENT/);
  });
});

describe('Restoring a backup', () => {
  for (const driver of DRIVERS) {
    it(`Restoring a backup with a newer or different schema is rejected and changes nothing on ${driver}`, async () => {
      const db = await openPlace(await newPlace(driver, migrated()));
      const content = await contentOf(db);
      const { manifest } = await inspect(whole);
      const { restore } = await import('../../src/backup/restore.ts');
      const attempt = (migrations: typeof manifest.migrations) =>
        restore({
          db,
          file: whole,
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
      const other = manifest.migrations.map((one) => (one.number === 3 ? { ...one, checksum: 'x' } : one));
      await assert.rejects(attempt(other), /made with another migration 0003_user.sql/);
      assert.deepEqual(await contentOf(db), content);
      await db.close();
    });

    it(`Restoring into a database that is not empty is rejected without --replace on ${driver}`, async () => {
      const db = await openPlace(await newPlace(driver, migrated()));
      await db.query(statement(`insert into account (kind, name) values ('user', 'somebody')`));
      const content = await contentOf(db);
      await assert.rejects(restoreFrom(whole, db), /not empty: nothing was changed; --replace/);
      assert.deepEqual(await contentOf(db), content);
      await restoreFrom(whole, db, true);
      assert.ok(!JSON.stringify(await contentOf(db)).includes('somebody'));
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
      for (let time = 1; time <= 3; time++) {
        await restoreFrom(whole, db, true);
        const after = await state();
        assert.ok(after.value > before.value);
        assert.deepEqual([after.pruned, after.changes], [after.value, 0n]);
        assert.ok(after.next > before.next);
        before = after;
      }
      await db.close();
    });

    it(`A restore that would drop objects that Atrium did not create is rejected on ${driver}`, async () => {
      const db = await openPlace(await newPlace(driver, migrated()));
      const run = (text: string) => db.query(statement(text));
      const foreign = [
        ['create table invoices (id int)', 'table invoices', 'drop table invoices'],
        ['create view report as select name from account', 'view report', 'drop view report'],
        [
          'create materialized view kept as select name from account',
          'materialized view kept',
          'drop materialized view kept',
        ],
        ['create sequence tickets', 'sequence tickets', 'drop sequence tickets'],
        [
          'create function twice(n int) returns int language sql return n * 2',
          'function twice(integer)',
          'drop function twice',
        ],
        ['create view other.report as select name from account', 'view other.report', 'drop view other.report'],
        [
          'create table other.notes (id int, account_id bigint references account)',
          'constraint notes_account_id_fkey on table other.notes',
          'drop table other.notes',
        ],
      ] as const;
      await run('create schema other');
      // What does not depend on ours, and stands elsewhere, stays as it is.
      await run('create table other.own (id serial primary key, name text default now()::text)');
      const content = await contentOf(db);
      for (const [make, name, drop] of foreign) {
        await run(make);
        await assert.rejects(restoreFrom(whole, db, true), ({ message }: Error) => {
          assert.ok(message.includes(`what is not Atrium's (${name}): nothing was changed`), message);
          return true;
        });
        await run(drop);
      }
      assert.deepEqual(await contentOf(db), content);
      await restoreFrom(whole, db, true);
      assert.deepEqual(await run('select count(*)::int as count from other.own'), [{ count: 0 }]);
      await db.close();
    });

    for (const place of ['email', 'commit']) {
      it(`A restore killed ${place === 'commit' ? 'before the commit' : `at the ${place} table`} leaves the previous data intact on ${driver}`, async () => {
        const target = await newPlace(driver, migrated());
        const db = await openPlace(target);
        await db.query(statement(`insert into account (kind, name) values ('user', 'kept')`));
        const content = await contentOf(db);
        await db.close();
        const args = ['test/support/restorer.ts', whole, place, target.dataDir, target.databaseUrl ?? ''];
        const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
        await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
        assert.equal(child.exitCode, null);
        child.kill('SIGKILL');
        await once(child, 'exit');
        const again = await openPlace(target);
        assert.deepEqual(await untilReadable(again), content);
        await restoreFrom(whole, again, true);
        assert.ok((await contentOf(again)).account?.some((line) => line.includes('"ann"')));
        await again.close();
      });
    }
  }

  it('A restore is rejected while a server is connected to the database', async () => {
    const house = await openTestHouse({ env: { ATRIUM_KEY: KEY } });
    const db = await openPlace({ dataDir: house.dataDir, databaseUrl: urlOf(house.house.config) });
    await assert.rejects(
      restoreFrom(whole, db, true),
      /servers are connected to the database \(\d+ connections, from [^)]+\): nothing was changed/,
    );
    await house.close();
    await untilAlone(db);
    await restoreFrom(whole, db, true);
    await db.close();
  });
});

/** PostgreSQL notices only after a moment that its client is gone, and holds the locks until then. */
async function untilReadable(db: Db) {
  await untilAlone(db);
  return await contentOf(db);
}

async function untilAlone(db: Db): Promise<void> {
  if (db.driver === 'pglite') return;
  const others = statement(
    `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and application_name = 'atrium'`,
  );
  while ((await db.query(others)).length > 0);
}

function urlOf({ DATABASE_URL }: { DATABASE_URL: string | undefined }): string {
  return DATABASE_URL ?? '';
}
