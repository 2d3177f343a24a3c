import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readMigrations } from '../../src/db/migration-files.ts';
import { SERVER_COMMANDS, type ServerCommand } from '../../src/operations/server-commands.ts';
import { IS_LONG } from '../counts.ts';
import { itLong } from '../support/checks/long.ts';
import { atrium } from '../support/server/atrium.ts';
import { newPlace, temporaryFolder } from '../support/server/db.ts';
import { onServer } from '../support/services/postgres.ts';
import { lacks } from '../support/services/requirements.ts';

describe('Server commands of atrium', () => {
  it('Server commands exit with 2 for wrong usage, 1 for an error and 3 for an unreachable database', async () => {
    const folder = temporaryFolder();
    const away = { DATABASE_URL: 'postgres://atrium@127.0.0.1:1/atrium', DATA_DIR: folder };
    const cases: readonly (readonly [number, RegExp, Record<string, string>, ...string[]])[] = [
      [2, /unknown command "restart"; use one of serve, migrate, doctor/, {}, 'restart'],
      [2, /Unknown option '--fast'/, {}, 'serve', '--fast'],
      [2, /Unknown option '--all'/, {}, 'migrate', '--all'],
      [2, /--dry-run or --status, not both/, {}, 'migrate', '--dry-run', '--status'],
      [2, /name exactly one file: atrium backup FILE/, {}, 'backup'],
      [2, /name exactly one file/, {}, 'backup', 'a', 'b'],
      [2, /is a folder; name a file in it/, {}, 'backup', folder],
      [2, /name exactly one file: atrium restore FILE/, {}, 'restore'],
      [2, /Unknown option '--force'/, {}, 'restore', 'x', '--force'],
      [2, /Unknown option '--fix'/, {}, 'doctor', '--fix'],
      [1, /there is no database in/, { DATA_DIR: join(folder, 'none') }, 'backup', join(folder, 'x')],
      [1, /there is no folder/, {}, 'backup', '/no/such/folder/x'],
      [1, /cannot be read: ENOENT/, {}, 'restore', '/no/such/file'],
      [1, /PORT must be/, { PORT: 'x' }, 'migrate'],
      [1, /BUS_URL must be a URL/, { BUS_URL: 'http://x' }, 'bus', 'config'],
      [3, /the database at 127\.0\.0\.1:1\/atrium cannot be used/, away, 'migrate'],
      [3, /cannot be used/, away, 'migrate', '--status'],
      [3, /cannot be used/, away, 'backup', join(folder, 'x')],
    ];
    // Each starts a process.
    const chosen = cases.filter((_one, index) => IS_LONG || index % 5 === 0);
    for (const [code, message, env, ...args] of chosen) {
      const said = await atrium({ DATA_DIR: folder, ...env }, ...args);
      assert.equal(said.code, code, `${args.join(' ')}: ${said.err}`);
      assert.match(said.err, message);
      assert.doesNotMatch(said.err, /\n\s+at /);
      const complaints = said.err.split('\n').filter((line) => line.startsWith('atrium: '));
      if (code !== 1) assert.equal(complaints.length, 1);
    }
    assert.deepEqual(readdirSync(folder), []);
  });

  it('Every server command but serve can be run, here or in the server', () => {
    for (const [name, command] of Object.entries<ServerCommand>(SERVER_COMMANDS)) {
      assert.ok(name === 'serve' || command.here || command.inServer, name);
    }
  });

  itLong('The help of atrium lists every server command with its usage and examples', async () => {
    const help = await atrium({});
    assert.equal(help.code, 0);
    assert.equal((await atrium({}, '--help')).out, help.out);
    for (const [name, { help: text }] of Object.entries(SERVER_COMMANDS)) {
      assert.ok(help.out.includes(`  ${name} `), name);
      const own = await atrium({}, name, '--help');
      assert.equal(own.code, 0);
      for (const line of [...text.usage, ...text.examples]) assert.ok(own.out.includes(line), line);
    }
  });

  it('atrium migrate reports pending and applied migrations and rejects a newer database', {
    skip: lacks('postgresql'),
  }, async () => {
    const { databaseUrl = '', dataDir } = await newPlace('postgres');
    const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir };
    const files = readMigrations('migrations');
    const names = [...files.map(({ name }) => name), 'tuples.sql'];
    const would = await atrium(env, 'migrate', '--dry-run');
    assert.equal(would.out, names.map((name) => `would apply ${name}\n`).join(''));
    assert.match((await atrium(env, 'migrate', '--status')).out, /^pending {2}- +0040_schema\.sql$/m);
    const did = await atrium(env, 'migrate');
    assert.equal(did.code, 0, did.err);
    assert.equal(
      did.out,
      `${names.map((name) => `applied ${name}\n`).join('')}the database is at ${files.at(-1)?.number}\n`,
    );
    assert.match((await atrium(env, 'migrate')).out, /^nothing to apply; the database is at \d+$/m);
    assert.match((await atrium(env, 'migrate', '--status')).out, /^applied {2}\d{4}-.*Z {2}0040_schema\.sql$/m);
    await onServer(databaseUrl, `insert into migration (number, name, checksum) values (9999, '9999_future.sql', '')`);
    const newer = await atrium(env, 'migrate');
    assert.equal(newer.code, 1);
    assert.match(newer.err, /the database is newer than this release: it has migration 9999_future\.sql/);
  });

  it('atrium migrate --dry-run creates no database', async () => {
    const folder = join(temporaryFolder(), 'none');
    assert.match((await atrium({ DATA_DIR: folder }, 'migrate', '--dry-run')).out, /^would apply 0040_schema\.sql$/m);
    assert.ok(!existsSync(folder));
  });
});
