import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../../src/base/config/config.ts';
import { placeRoot } from '../../src/base/keys.ts';
import { inspect } from '../../src/operations/backup/inspection.ts';
import { runBackup } from '../../src/operations/commands/backup-command.ts';
import { runRestore } from '../../src/operations/commands/restore-command.ts';
import { describeLong } from '../support/checks/long.ts';
import { openWire } from '../support/faults/wire.ts';
import { atrium } from '../support/server/atrium.ts';
import { backUpTo, newFile, openPlace, restoreFrom } from '../support/server/backup.ts';
import { newPlace, temporaryFolder } from '../support/server/db.ts';
import { get } from '../support/server/process.ts';
import { reopen } from '../support/server/reopen.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';
import { onServer } from '../support/services/postgres.ts';
import { lacks } from '../support/services/requirements.ts';

describe('The root key in backups', () => {
  it('A restore requires the right root key, never replaces one and takes it from the file if none exists', async () => {
    const { place, world } = await newDemoPlace();
    placeRoot(Buffer.from(TEST_KEY, 'base64'), place.dataDir);
    const env = { DATA_DIR: place.dataDir, DATABASE_URL: place.databaseUrl ?? '' };
    const otherKey = randomBytes(32).toString('base64');
    const [without, withKeys] = [newFile(), newFile()];
    assert.equal((await atrium(env, 'backup', without)).code, 0);
    const loud = await runHere(runBackup, env, withKeys, '--with-keys');
    assert.match(loud, /WARNING: the file contains the root key/);
    assert.ok((await inspect(withKeys)).rootKey?.equals(Buffer.from(TEST_KEY, 'base64')));
    assert.equal((await inspect(without)).rootKey, undefined);
    assert.ok(!loud.includes(TEST_KEY));
    await assert.rejects(
      runHere(runBackup, { ...env, ATRIUM_KEY: otherKey }, newFile(), '--with-keys'),
      /the root key of this database is not available/,
    );

    const empty = join(temporaryFolder(), 'data');
    await assert.rejects(
      runHere(runRestore, { DATA_DIR: empty }, without),
      /the root key is missing, and the backup cannot be opened without it; set ATRIUM_KEY, or put the key at/,
    );
    assert.ok(!existsSync(empty), 'nothing was made');
    for (const [file, help] of [
      [without, /use the key of the server/],
      [withKeys, /move it away to use the key in the backup/],
    ] as const) {
      await assert.rejects(
        runHere(runRestore, { DATA_DIR: empty, ATRIUM_KEY: otherKey }, file),
        ({ message }: Error) => {
          assert.match(message, /the root key in ATRIUM_KEY does not open this backup, so nothing was changed/);
          assert.match(message, help);
          return true;
        },
      );
    }
    assert.ok(!existsSync(empty));

    const fresh = await newPlace();
    const target = { DATA_DIR: fresh.dataDir, DATABASE_URL: fresh.databaseUrl ?? '' };
    const taken = await atrium(target, 'restore', withKeys);
    assert.equal(taken.code, 0, taken.err);
    const keyFile = join(fresh.dataDir, 'atrium.key');
    assert.equal(readFileSync(keyFile, 'utf8').trim(), TEST_KEY);
    assert.equal(statSync(keyFile).mode & 0o777, 0o600);
    const instance = await reopen(fresh);
    assert.equal((await get(`${await instance.listen()}/api/v1/user`, world.users.ann?.token)).status, 200);
    await instance.close(0);
  });
});

/** Runs a command in this process, and returns what it printed. */
async function runHere(
  command: typeof runBackup,
  settings: Record<string, string>,
  ...args: readonly string[]
): Promise<string> {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  await command(args, readConfig(settings), { say: print, complain: print, isTerminal: false });
  return lines.join('\n');
}

describeLong('A server disconnected during a restore', { skip: lacks('postgresql') }, () => {
  it('A server disconnected during a restore discards its cached data, also if another database took the name', async (test) => {
    const { place, world } = await newDemoPlace('postgres');
    const { databaseUrl = '' } = place;
    const wire = await openWire(new URL(databaseUrl));
    test.after(() => wire.cut());
    const instance = await reopen({ ...place, databaseUrl: wire.url }, { ATRIUM_KEY: TEST_KEY });
    const url = await instance.listen();
    const statusFor = async (path: string) => (await get(`${url}/api/v1${path}`, world.users.eve?.token)).status;
    const path = '/authz/roles?org=acme';
    assert.equal(await statusFor(path), 403);
    const db = await openPlace(place);
    const file = await backUpTo(db);
    await db.close();

    for (const target of [place, await newPlace('postgres')]) {
      // What the server caches from now on has a revision that the backup does not contain.
      await letEveIn(databaseUrl);
      assert.equal(await statusFor(path), 200);
      await wire.cut();
      await untilAlone(databaseUrl);
      const db = await openPlace(target);
      await restoreFrom(file, db, true);
      await db.close();
      if (target !== place) await takeName(databaseUrl, target.databaseUrl ?? '');
      await wire.mend();
      assert.equal(await statusFor('/user'), 200, 'the server is connected again');
      assert.equal(await statusFor(path), 403);
    }
    await letEveIn(databaseUrl);
    assert.equal(await statusFor(path), 200, 'and hears of changes as before');
    await instance.close();
  });
});

async function letEveIn(databaseUrl: string): Promise<void> {
  const ofAcme = `t.organization_id = (select id from account where name = 'acme')`;
  await onServer(
    databaseUrl,
    `insert into team_member (team_id, account_id) select t.id, a.id from team t, account a
      where ${ofAcme} and t.name = 'Owners' and a.name = 'eve';
     update revision set value = value + 1000;
     insert into change (revision, kind, id) select r.value, 'account', a.id from revision r, account a where a.name = 'eve';
     insert into change (revision, kind, id, organization_id) select r.value, 'team', t.id, t.organization_id
       from revision r, team t where ${ofAcme}`,
  );
}

async function untilAlone(databaseUrl: string): Promise<void> {
  const others = 'select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
  while ((await onServer(databaseUrl, others)).length > 0) await pause(20);
}

async function takeName(databaseUrl: string, other: string): Promise<void> {
  const name = (url: string) => new URL(url).pathname.slice(1);
  const admin = new URL(databaseUrl);
  admin.pathname = '/postgres';
  await untilAlone(databaseUrl);
  await untilAlone(other);
  await onServer(admin.href, `alter database ${name(databaseUrl)} rename to ${name(databaseUrl)}_old`);
  await onServer(admin.href, `alter database ${name(other)} rename to ${name(databaseUrl)}`);
}
