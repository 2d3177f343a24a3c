import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { readConfig } from '../../src/base/config/config.ts';
import { placeRoot } from '../../src/base/keys.ts';
import { openDb } from '../../src/db/db.ts';
import { runBackup } from '../../src/operations/commands/backup-command.ts';
import { runMigrate } from '../../src/operations/commands/migrate-command.ts';
import { runRestore } from '../../src/operations/commands/restore-command.ts';
import { itLong } from '../support/checks/long.ts';
import { backUpTo, newFile, openPlace } from '../support/server/backup.ts';
import { migrated, newPlace, type Place, temporaryFolder } from '../support/server/db.ts';
import { examine } from '../support/server/doctor.ts';
import { COUNTED_DRIVERS } from '../support/server/drivers.ts';
import { reopen } from '../support/server/reopen.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';
import { onServer } from '../support/services/postgres.ts';
import { lacks } from '../support/services/requirements.ts';

const silent = { say: () => undefined, complain: () => undefined, isTerminal: false };
const envOf = ({ dataDir, databaseUrl = '' }: Place) => ({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl });
const configOf = (place: Place) => readConfig(envOf(place));
const keyOf = ({ dataDir }: Place) => join(dataDir, 'atrium.key');
const placeKey = ({ dataDir }: Place) => placeRoot(Buffer.from(TEST_KEY, 'base64'), dataDir);

/** Every file with its size and the time of its last change. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => existsSync(path) && statSync(path).isFile())
    .map((path) => `${path} ${statSync(path).size} ${statSync(path).mtimeMs}`)
    .sort();
}

async function leavesAsItIs(folder: string, work: () => Promise<unknown>): Promise<void> {
  const earlier = filesIn(folder);
  await work();
  assert.deepEqual(filesIn(folder), earlier);
}

describe('A built-in database that is not whole', () => {
  let place: Place;
  let folder = '';
  let backup = '';

  before(async () => {
    place = (await newDemoPlace('pglite')).place;
    folder = join(place.dataDir, 'pglite');
    const db = await openPlace(place);
    backup = await backUpTo(db);
    await db.close();
  });

  it('Nothing that opens the database touches a folder without PG_VERSION', async () => {
    placeKey(place);
    const version = readFileSync(join(folder, 'PG_VERSION'));
    rmSync(join(folder, 'PG_VERSION'));
    const message = /the database in .*pglite is incomplete \(PG_VERSION missing or empty\); put them back, or move .*/;
    const doors: Record<string, () => Promise<unknown>> = {
      start: () => reopen(place),
      'start with ATRIUM_KEY': () => reopen(place, { ATRIUM_KEY: TEST_KEY }),
      migrate: () => runMigrate([], configOf(place), silent),
      'migrate --status': () => runMigrate(['--status'], configOf(place), silent),
      backup: () => runBackup([newFile()], configOf(place), silent),
      restore: () => runRestore([backup, '--replace'], configOf(place), silent),
    };
    for (const [name, open] of Object.entries(doors)) {
      await leavesAsItIs(place.dataDir, () => assert.rejects(open(), { kind: 'unavailable', message }, name));
    }
    await leavesAsItIs(place.dataDir, async () =>
      assert.match((await examine(envOf(place))).text('database'), message),
    );
    writeFileSync(join(folder, 'PG_VERSION'), version);
    rmSync(keyOf(place));
    await (await reopen(place, { ATRIUM_KEY: TEST_KEY })).close(0);
  });

  itLong(
    'A folder without one of its parts, a link that leads nowhere or a file in its place is rejected',
    async () => {
      const away = join(temporaryFolder(), 'away');
      const rejects = (message: RegExp) =>
        leavesAsItIs(place.dataDir, () => assert.rejects(openDb({ ...place, say: assert.fail }), { message }));
      for (const part of ['base', 'global/pg_control', 'pg_wal', 'pg_xact']) {
        renameSync(join(folder, part), away);
        await rejects(new RegExp(`is incomplete \\(${part} missing`));
        renameSync(away, join(folder, part));
      }
      truncateSync(join(folder, 'PG_VERSION'));
      await rejects(/is incomplete \(PG_VERSION missing or empty/);
      writeFileSync(join(folder, 'PG_VERSION'), '18\n');
      renameSync(folder, away);
      symlinkSync(join(temporaryFolder(), 'not mounted'), folder);
      await rejects(/is a link to .*not mounted, which does not exist; is a volume not mounted\?/);
      rmSync(folder);
      writeFileSync(folder, '');
      await rejects(/must be a folder/);
      rmSync(folder);
      renameSync(away, folder);
      await (await openPlace(place)).close();
    },
  );

  itLong(
    'A missing or empty folder next to a key is rejected until the key is moved away or a backup restored',
    async () => {
      const lost: Place = { dataDir: temporaryFolder() };
      placeKey(lost);
      const message =
        /atrium\.key is the key of a deployment, but there is no database in .*To start a new deployment, move the key away/;
      for (const isEmpty of [false, true]) {
        if (isEmpty) mkdirSync(join(lost.dataDir, 'pglite'));
        await leavesAsItIs(lost.dataDir, async () => {
          await assert.rejects(reopen(lost), { message });
          await assert.rejects(reopen(lost, { ATRIUM_KEY: TEST_KEY }), { message });
          await assert.rejects(runMigrate([], configOf(lost), silent), { message });
          await assert.rejects(runBackup([newFile()], configOf(lost), silent), /there is no database in/);
          assert.match((await examine(envOf(lost))).text('database'), message);
        });
      }
      // As a first start that got this far: a new database would take seconds.
      const { dataDir } = await newPlace('pglite');
      rmSync(join(lost.dataDir, 'pglite'), { recursive: true });
      cpSync(join(dataDir, 'pglite'), join(lost.dataDir, 'pglite'), { recursive: true });
      await assert.rejects(reopen(lost), /atrium\.key is the key of a deployment, but the database is empty/);
      await runRestore([backup], configOf(lost), silent);
      await (await reopen(lost)).close(0);
      assert.equal(readFileSync(keyOf(lost), 'utf8').trim(), TEST_KEY);
    },
  );
});

describe('The root key and its database', () => {
  for (const driver of COUNTED_DRIVERS) {
    it(`A database whose key is missing is rejected on ${driver}, and no other key is written`, async () => {
      const { place } = await newDemoPlace(driver);
      const message =
        /the root key of this database is missing \(nothing was changed\): set ATRIUM_KEY, or put it back/;
      await assert.rejects(reopen(place), { message });
      assert.deepEqual(
        readdirSync(place.dataDir).filter((name) => name.startsWith('atrium')),
        [],
      );
      placeKey(place);
      await (await reopen(place)).close(0);
    });
  }

  it('A key next to an empty PostgreSQL database is rejected, and nothing is created in it', {
    skip: lacks('postgresql'),
  }, async () => {
    const place = await newPlace('postgres');
    placeKey(place);
    const message =
      /atrium\.key is the key of a deployment, but the database is empty .* correct DATABASE_URL or restore/;
    await assert.rejects(reopen(place), { message });
    await assert.rejects(runMigrate([], configOf(place), silent), { message });
    assert.match((await examine(envOf(place))).text('keys'), message);
    const tables = `select 1 from pg_tables where schemaname = 'public'`;
    assert.deepEqual(await onServer(place.databaseUrl ?? '', tables), []);
    await (await reopen(place, { ATRIUM_KEY: TEST_KEY })).close(0);
  });

  it('A first start that was interrupted at any point can be repeated, with one key in the end', async () => {
    const place = await newPlace(undefined, migrated());
    const proposal = `${keyOf(place)}.new`;
    // The key was proposed, but the database does not know it yet.
    writeFileSync(proposal, `${TEST_KEY}\n`, { mode: 0o600 });
    const first = await reopen(place);
    await first.close(0);
    assert.equal(readFileSync(keyOf(place), 'utf8').trim(), TEST_KEY, 'not a second one');
    assert.ok(!existsSync(proposal));
    // The database knows the key, but it is not yet at its place.
    renameSync(keyOf(place), proposal);
    await (await reopen(place)).close(0);
    assert.equal(readFileSync(keyOf(place), 'utf8').trim(), TEST_KEY);
    assert.ok(!existsSync(proposal));
    // The proposal of a deployment whose database was replaced by another one.
    rmSync(keyOf(place));
    writeFileSync(proposal, `${Buffer.alloc(32, 7).toString('base64')}\n`);
    await assert.rejects(reopen(place), /the root key of this database is missing/);
    assert.ok(!existsSync(keyOf(place)));
  });
});
