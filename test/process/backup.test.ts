import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inspect } from '../../src/backup/inspection.ts';
import { atrium } from '../support/atrium.ts';
import { auditOf, brokenLinks } from '../support/audit.ts';
import { newFile, openPlace, restoreFrom } from '../support/backup.ts';
import { DRIVERS, newPlace, temporaryFolder } from '../support/db.ts';
import { onServer } from '../support/postgres.ts';
import { get, openWire, startServer } from '../support/process.ts';
import { statement } from '../support/statement.ts';

interface Demo {
  readonly users: Record<string, { token: string }>;
  readonly orgs: Record<string, { id: number }>;
}

function demoOf(dataDir: string): Demo {
  return JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
}

function caller(url: string, token: string) {
  return async (method: string, path: string, body?: object) => {
    const headers = { Authorization: `token ${token}`, ...(body && { 'Content-Type': 'application/json' }) };
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };
}

for (const driver of DRIVERS) {
  describe(`atrium backup next to a running server on ${driver}`, () => {
    it(`A backup taken on ${driver} during writes is consistent and can be restored on either database`, async () => {
      const { dataDir, databaseUrl = '' } = await newPlace(driver);
      const env = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ATRIUM_KEY: randomBytes(32).toString('base64') };
      const server = startServer({ args: ['demo'], env });
      const url = await server.listening();
      const { users, orgs } = demoOf(dataDir);
      const ann = caller(url, users.ann?.token ?? '');
      const credential = (await ann('GET', '/user/credentials/ann-aws')).text;
      let [isOver, written, slowest] = [false, 0, 0];
      const write = async (lane: number) => {
        for (let n = 0; !isOver; n++) {
          const began = performance.now();
          const permissions = [{ namespace: 'cluster_mgmt', action: 'view clusters' }];
          const made = await ann('POST', '/authz/roles?org=acme', { name: `role ${lane} ${n}`, permissions });
          assert.equal(made.status, 201, made.text);
          if (n % 3 === 0) {
            const id = /"id":(\d+)/.exec(made.text)?.[1];
            assert.equal((await ann('DELETE', `/authz/roles/${id}?org=acme`)).status, 204);
          }
          slowest = Math.max(slowest, performance.now() - began);
          written++;
        }
      };
      const writing = Promise.all([1, 2, 3].map(write));
      const files = [newFile(), newFile()];
      for (const file of files) {
        const { code, out, err } = await atrium(env, 'backup', file);
        assert.equal(code, 0, err);
        assert.match(out, /\d+ rows of \d+ tables, schema \d{4}_\w+\.sql, [\d.]+ MiB, in [\d.]+ s$/m);
        assert.match(err, /the root key is NOT in the file/);
        assert.equal(statSync(file).mode & 0o777, 0o600);
      }
      isOver = true;
      await writing;
      assert.ok(written > 5, `${written} roles were written meanwhile, the slowest in ${slowest.toFixed(0)} ms`);
      assert.deepEqual(
        readdirSync(dataDir).filter((name) => name.includes('backup')),
        [],
        'no copy is left',
      );
      const checked = await atrium(env, 'restore', files[1] ?? '', '--check');
      assert.match(checked.out, new RegExp(`is whole: .*\\nmade at .* from ${driver}, .*, without the root key`));
      const running = await atrium(env, 'restore', files[1] ?? '', '--replace');
      assert.equal(running.code, 1);
      assert.match(running.err, driver === 'pglite' ? /in use by process \d+/ : /servers are connected/);
      server.kill('SIGTERM');
      assert.equal((await server.ended).code, 0);

      for (const to of DRIVERS) {
        const place = await newPlace(to);
        const target = { ...env, DATA_DIR: place.dataDir, DATABASE_URL: place.databaseUrl ?? '' };
        const restored = await atrium(target, 'restore', files[1] ?? '');
        assert.equal(restored.code, 0, restored.err);
        const db = await openPlace(place);
        const acme = BigInt(orgs.acme?.id ?? 0);
        const entries = await auditOf(db, acme);
        assert.deepEqual(brokenLinks(entries), []);
        // One moment: the record and the roles agree, and each role has its permission.
        const [count] = await db.query<{ roles: bigint; alone: bigint }>(
          statement(`select count(distinct r.id) as roles, count(*) filter (where p.role_id is null and r.name like 'role %') as alone
                       from role r left join role_permission p on p.role_id = r.id where r.organization_id = $1`),
          [acme],
        );
        const of = (verb: string) => entries.filter(({ action }) => action === verb).length;
        assert.equal(Number(count?.roles), of('role.create') - of('role.delete'));
        assert.equal(count?.alone, 0n);
        assert.ok(of('role.create') > 1);
        await db.close();
        const second = startServer({ env: target });
        const there = caller(await second.listening(), users.ann?.token ?? '');
        assert.equal((await there('GET', '/user')).status, 200);
        assert.equal((await there('GET', '/user/credentials/ann-aws')).text, credential);
        second.kill('SIGTERM');
        assert.equal((await second.ended).code, 0);
      }
    });
  });
}

describe('The root key in backups', () => {
  it('A restore requires the right root key, never replaces one and takes it from the file if none exists', async () => {
    const { dataDir } = await newPlace('pglite');
    const env = { DATA_DIR: dataDir };
    const server = startServer({ args: ['demo'], env });
    await server.listening();
    const { users } = demoOf(dataDir);
    server.kill('SIGTERM');
    await server.ended;
    const [without, withKeys] = [newFile(), newFile()];
    assert.equal((await atrium(env, 'backup', without)).code, 0);
    const loud = await atrium(env, 'backup', withKeys, '--with-keys');
    assert.match(loud.err, /WARNING: the file holds the root key/);
    const key = readFileSync(join(dataDir, 'atrium.key'), 'utf8').trim();
    assert.ok((await inspect(withKeys)).rootKey?.equals(Buffer.from(key, 'base64')));
    assert.equal((await inspect(without)).rootKey, undefined);
    assert.ok(!loud.out.includes(key) && !loud.err.includes(key));

    const empty = join(temporaryFolder(), 'data');
    const missing = await atrium({ DATA_DIR: empty }, 'restore', without);
    assert.equal(missing.code, 1);
    assert.match(
      missing.err,
      /the root key is missing, and the backup cannot be opened without it: set ATRIUM_KEY, or put the key file at/,
    );
    assert.ok(!existsSync(empty), 'nothing was made');

    const other = { DATA_DIR: empty, ATRIUM_KEY: randomBytes(32).toString('base64') };
    for (const [file, help] of [
      [without, /give the key of the server/],
      [withKeys, /move it away, and the key in the backup/],
    ] as const) {
      const wrong = await atrium(other, 'restore', file);
      assert.equal(wrong.code, 1);
      assert.match(wrong.err, /the root key in ATRIUM_KEY does not open this backup: nothing was changed/);
      assert.match(wrong.err, help);
    }
    assert.ok(!existsSync(empty));
    const noKey = await atrium(
      { ...env, ATRIUM_KEY: randomBytes(32).toString('base64') },
      'backup',
      newFile(),
      '--with-keys',
    );
    assert.equal(noKey.code, 1);
    assert.match(noKey.err, /the root key of this database is not here/);

    const taken = await atrium({ DATA_DIR: empty }, 'restore', withKeys);
    assert.equal(taken.code, 0, taken.err);
    assert.equal(readFileSync(join(empty, 'atrium.key'), 'utf8').trim(), key);
    assert.equal(statSync(join(empty, 'atrium.key')).mode & 0o777, 0o600);
    const second = startServer({ env: { DATA_DIR: empty } });
    assert.equal((await get(`${await second.listening()}/api/v1/user`, users.ann?.token)).status, 200);
    second.kill('SIGTERM');
    await second.ended;
  });
});

describe('A server disconnected during a restore', () => {
  for (const place of ['the same database', 'another database under the same name']) {
    it(`A server disconnected during a restore to ${place} discards its cached data`, async (test) => {
      const { dataDir, databaseUrl = '' } = await newPlace('postgres');
      const wire = await openWire(new URL(databaseUrl));
      test.after(() => wire.cut());
      const env = { DATA_DIR: dataDir, DATABASE_URL: wire.url, ATRIUM_KEY: randomBytes(32).toString('base64') };
      const server = startServer({ args: ['demo'], env });
      const eve = caller(await server.listening(), demoOf(dataDir).users.eve?.token ?? '');
      const path = '/authz/roles?org=acme';
      assert.equal((await eve('GET', path)).status, 403);
      const file = newFile();
      assert.equal((await atrium(env, 'backup', file)).code, 0);
      // What the server remembers from now on has a revision that the backup knows nothing of.
      await letEveIn(databaseUrl);
      assert.equal((await eve('GET', path)).status, 200);

      await wire.cut();
      await untilAlone(databaseUrl);
      const target = place === 'the same database' ? { dataDir, databaseUrl } : await newPlace('postgres');
      const db = await openPlace(target);
      await restoreFrom(file, db, true);
      await db.close();
      if (target.databaseUrl !== databaseUrl) await takeName(databaseUrl, target.databaseUrl ?? '');
      await wire.mend();
      assert.equal((await eve('GET', '/user')).status, 200, 'the server is connected again');
      assert.equal((await eve('GET', path)).status, 403);
      await letEveIn(databaseUrl);
      assert.equal((await eve('GET', path)).status, 200, 'and hears of changes as before');
      server.kill('SIGTERM');
      assert.equal((await server.ended).code, 0);
    });
  }
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
  while ((await onServer(databaseUrl, others)).length > 0);
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

describe('Server commands of atrium', () => {
  it('Server commands exit with 2 for wrong usage, 1 for an error and 3 for an unreachable database', async () => {
    const folder = temporaryFolder();
    const away = { DATABASE_URL: 'postgres://atrium@127.0.0.1:1/atrium', DATA_DIR: folder };
    const cases: readonly (readonly [number, RegExp, Record<string, string>, ...string[]])[] = [
      [2, /unknown command "restart": one of serve, migrate, doctor/, {}, 'restart'],
      [2, /Unknown option '--fast'/, {}, 'serve', '--fast'],
      [2, /Unknown option '--all'/, {}, 'migrate', '--all'],
      [2, /--dry-run or --status, not both/, {}, 'migrate', '--dry-run', '--status'],
      [2, /name one file: atrium backup FILE/, {}, 'backup'],
      [2, /name one file/, {}, 'backup', 'a', 'b'],
      [2, /is a folder: name a file in it/, {}, 'backup', folder],
      [2, /name one file: atrium restore FILE/, {}, 'restore'],
      [2, /Unknown option '--force'/, {}, 'restore', 'x', '--force'],
      [2, /Unknown option '--fix'/, {}, 'doctor', '--fix'],
      [2, /say what to do: atrium installer/, { DATA_DIR: folder }, 'installer'],
      [1, /there is no database in/, { DATA_DIR: join(folder, 'none') }, 'backup', join(folder, 'x')],
      [1, /there is no folder/, {}, 'backup', '/no/such/folder/x'],
      [1, /cannot be read: ENOENT/, {}, 'restore', '/no/such/file'],
      [1, /PORT must be/, { PORT: 'x' }, 'migrate'],
      [3, /the database at 127\.0\.0\.1:1\/atrium cannot be used/, away, 'migrate'],
      [3, /cannot be used/, away, 'migrate', '--status'],
      [3, /cannot be used/, away, 'backup', join(folder, 'x')],
    ];
    for (const [code, message, env, ...args] of cases) {
      const said = await atrium({ DATA_DIR: folder, ...env }, ...args);
      assert.equal(said.code, code, `${args.join(' ')}: ${said.err}`);
      assert.match(said.err, message);
      assert.doesNotMatch(said.err, /\n\s+at /);
      if (code !== 1)
        assert.equal(
          said.err
            .trimEnd()
            .split('\n')
            .filter((line) => line.startsWith('atrium: ')).length,
          1,
        );
    }
    assert.ok(!existsSync(join(folder, 'x')));
  });

  it('The help of atrium lists every server command with its usage and examples', async () => {
    const listed = JSON.parse(readFileSync('src/server-commands.json', 'utf8')) as {
      name: string;
      usage: string[];
      examples: string[];
    }[];
    const help = await atrium({}, '--help');
    assert.equal(help.code, 0);
    for (const { name, usage, examples } of listed) {
      assert.ok(help.out.includes(`  ${name} `), name);
      const own = await atrium({}, name, '--help');
      assert.equal(own.code, 0);
      for (const line of [...usage, ...examples]) assert.ok(own.out.includes(line), line);
    }
  });

  it('atrium migrate reports pending and applied migrations and rejects a newer database', async () => {
    const { databaseUrl = '', dataDir } = await newPlace('postgres');
    const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir };
    const names = readdirSync('migrations').sort();
    const would = await atrium(env, 'migrate', '--dry-run');
    assert.equal(would.out, names.map((name) => `would apply ${name}\n`).join(''));
    assert.match((await atrium(env, 'migrate', '--status')).out, /^pending {2}- +0001_house\.sql$/m);
    const did = await atrium(env, 'migrate');
    assert.equal(did.code, 0, did.err);
    assert.equal(did.out, `${names.map((name) => `applied ${name}\n`).join('')}the database is at ${names.length}\n`);
    assert.match((await atrium(env, 'migrate')).out, /^nothing to apply: the database is at \d+$/m);
    assert.match((await atrium(env, 'migrate', '--status')).out, /^applied {2}\d{4}-.*Z {2}0001_house\.sql$/m);
    await onServer(databaseUrl, `insert into migration (number, name, checksum) values (9999, '9999_future.sql', '')`);
    const newer = await atrium(env, 'migrate');
    assert.equal(newer.code, 1);
    assert.match(newer.err, /the database is newer than this release: it has had migration 9999_future\.sql/);
    const folder = join(temporaryFolder(), 'none');
    assert.match((await atrium({ DATA_DIR: folder }, 'migrate', '--dry-run')).out, /^would apply 0001_house\.sql$/m);
    assert.ok(!existsSync(folder), 'looking makes no database');
  });
});
