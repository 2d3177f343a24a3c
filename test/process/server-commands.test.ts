import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { after, before, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { listenForCommands } from '../../src/operations/command-socket.ts';
import { runInServer } from '../../src/operations/server-commands.ts';
import { COUNTS } from '../counts.ts';
import { auditOf, brokenLinks } from '../support/checks/audit.ts';
import { describeLong } from '../support/checks/long.ts';
import { atrium } from '../support/server/atrium.ts';
import { newFile, openPlace, restoreFrom } from '../support/server/backup.ts';
import { DRIVERS, newPlace } from '../support/server/db.ts';
import { examine, faultsOf } from '../support/server/doctor.ts';
import { get, startServer } from '../support/server/process.ts';
import { openTestServer, TEST_KEY, type TestServer } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';
import { freePort } from '../support/services/ports.ts';

// Every process can connect to PostgreSQL. With the built-in database, the server runs the commands.
for (const driver of DRIVERS) {
  describeLong(`Operator commands next to a running server on ${driver}`, () => {
    let server: TestServer;
    let env: Record<string, string> = {};
    let isClosed = false;
    let closeOperator = () => {};
    const file = newFile();

    before(async () => {
      const ports = { PORT: String(await freePort()), ADMIN_PORT: String(await freePort()) };
      // The writer of the rotation creates more credentials than a user may usually have.
      server = await openTestServer({ driver, env: { ...ports, LIMIT_CREDENTIALS_PER_USER: '100000' } });
      const { DATABASE_URL = '', DATA_DIR } = server.instance.config;
      env = { ...ports, DATA_DIR, DATABASE_URL, ATRIUM_KEY: TEST_KEY };
      // Every process can connect to PostgreSQL. The built-in database belongs to its server, which runs the commands
      // itself.
      if (driver === 'pglite') {
        closeOperator = await listenForCommands(DATA_DIR, (request, print) =>
          runInServer(server.instance, request, print),
        );
      }
    });
    after(close);

    async function close(): Promise<void> {
      if (isClosed) return;
      isClosed = true;
      closeOperator();
      await server.close();
    }

    /** Calls as ann, who owns acme. */
    async function call(method: string, path: string, body?: object) {
      const { status, text } = await server.as('ann')(method, path, body);
      return { status, text };
    }

    it(`A backup taken on ${driver} during writes is consistent`, async () => {
      const lanes = Array.from({ length: COUNTS.backupWriters }, (_, lane) => lane);
      const writers = await Promise.all(lanes.map((lane) => repeat(100, (n) => writeRole(lane, n))));
      const { code, out, err } = await atrium(env, 'backup', file);
      assert.equal(code, 0, err);
      assert.match(out, /\d+ rows of \d+ tables, schema \d{4}_\w+\.sql, [\d.]+ MiB, in [\d.]+ s$/m);
      assert.match(err, /the root key is NOT in the file/);
      assert.equal(statSync(file).mode & 0o777, 0o600);
      for (const writer of writers) assert.ok((await writer.stop()) > 2, 'the server went on meanwhile');
      const copies = readdirSync(server.dataDir).filter((name) => name.includes('backup'));
      assert.deepEqual(copies, [], 'no copy is left');
      const metrics = await server.instance.metrics.registry.metrics();
      const age = Number(/^atrium_backup_age_seconds (\S+)$/m.exec(metrics)?.[1]);
      assert.ok(age >= 0 && age < 60, `the server knows of the backup: ${age}`);
      const checked = await atrium(env, 'restore', file, '--check');
      assert.match(checked.out, new RegExp(`is complete: .*\\ncreated at .* from ${driver}, .*, without the root key`));
      await assertOneMoment(file, server.world.orgs.acme?.id ?? 0n);
    });

    async function writeRole(lane: number, n: number): Promise<void> {
      const permissions = [{ namespace: 'cluster_mgmt', action: 'view clusters' }];
      const made = await call('POST', '/authz/roles?org=acme', { name: `role ${lane} ${n}`, permissions });
      assert.equal(made.status, 201, made.text);
      if (n % 3 !== 0) return;
      const id = /"id":(\d+)/.exec(made.text)?.[1];
      assert.equal((await call('DELETE', `/authz/roles/${id}?org=acme`)).status, 204);
    }

    it(`A restore with atrium is rejected next to a running server on ${driver}`, async () => {
      const running = await atrium(env, 'restore', file, '--replace');
      assert.equal(running.code, 1);
      assert.match(running.err, driver === 'pglite' ? /in use by process \d+/ : /servers are connected/);
    });

    it(`atrium rotate-keys renews all keys without a failed read or write on ${driver}`, async () => {
      const secret = '/user/credentials/ann-aws';
      const expected = await call('GET', secret);
      assert.equal(expected.status, 200);
      const reader = await repeat(10, async () => assert.deepEqual(await call('GET', secret), expected));
      const writer = await repeat(10, async (count) => {
        assert.equal((await call('POST', '/user/credentials', { name: `w${count}`, count })).status, 201);
        assert.match((await call('GET', `/user/credentials/w${count}`)).text, new RegExp(`"count":${count}\\b`));
      });
      for (let round = 1; round <= COUNTS.keyRotations; round++) {
        const { code, out, err } = await atrium(env, 'rotate-keys');
        assert.equal(code, 0, err);
        assert.match(out, /^created 1 data keys and resealed \d+ secrets in [\d.]+ s$/m);
      }
      const keysOf = async () =>
        ((await (await get(`${server.url}/.well-known/webhook-keys`)).json()) as { keys: { id: string }[] }).keys;
      const [former] = await keysOf();
      const renewed = await atrium(env, 'rotate-keys', '--webhook-key');
      assert.match(renewed.out, /^webhooks are signed with the key \S{16}, and until \S+Z with the former one, too$/m);
      const isKnown = (await keysOf()).some(({ id }) => renewed.out.includes(id) && id !== former?.id);
      // Each process looks at the keys once a minute; the built-in database has one process.
      assert.equal(isKnown, driver === 'pglite');
      assert.ok((await reader.stop()) > 2);
      assert.ok((await writer.stop()) > 2);
      assert.doesNotMatch(server.logged(), /"level":"error"/);
    });

    if (driver !== 'pglite') return;

    it('A server that runs a command itself rejects wrong usage with exit code 2', async () => {
      const cases: readonly (readonly [RegExp, ...string[]])[] = [
        [/^atrium: missing subcommand, for example: atrium bus config --dir FOLDER$/m, 'bus'],
        [/^atrium: unknown subcommand "configuration"/m, 'bus', 'configuration'],
        [/^atrium: Unknown option '--nonsense'/m, 'bus', 'config', '--nonsense'],
        [/^atrium: Unknown option '--nonsense'/m, 'rotate-keys', '--nonsense'],
        [/missing subcommand; use one of create, show, link, revoke/, 'installer'],
      ];
      for (const [message, ...args] of cases) {
        const { code, out, err } = await atrium(env, ...args);
        assert.equal(code, 2, err);
        assert.equal(out, '');
        assert.match(err, message);
      }
    });

    it('A start on a data folder in use reports the process that holds it', async () => {
      const second = startServer({ env: { DATA_DIR: server.dataDir, ATRIUM_KEY: TEST_KEY } });
      assert.equal((await second.ended).code, 1);
      const holder = new RegExp(
        `^atrium cannot start: .* in use by process ${process.pid} on .*: stop that process, or set another DATA_DIR`,
        'm',
      );
      assert.match(second.stderr(), holder);
      assert.equal((await get(`${server.url}/api/v1/version`)).status, 200, 'the first is not disturbed');
    });

    it('atrium doctor finds no fault in a running PGlite deployment', async () => {
      const people = await atrium(env, 'doctor');
      assert.equal(people.code, 0, people.out);
      assert.match(people.out, /^ok {6}settings {8}all settings are valid$/m);
      assert.match(people.out, /^\d+ ok, \d+ warnings, 0 faults$/m);
      const report = await examine(env);
      assert.deepEqual(faultsOf(report), []);
      assert.match(report.text('locks'), /a server is using the database in .*pglite, and responds/);
      assert.match(
        report.text('ports'),
        /an Atrium server answers on PORT \d+[\s\S]*an Atrium server answers on ADMIN_PORT/,
      );
      assert.match(report.text('server'), /the server is ready/);
      const checks = [
        'settings',
        'database',
        'schema',
        'time',
        'revisions',
        'keys',
        'secrets',
        'audit',
        'disk',
        'key file',
      ];
      for (const check of checks) assert.equal(report.level(check), 'ok', `${check}: ${report.text(check)}`);
    });

    it('atrium bus config prints the configuration of the server that runs on the built-in database', async () => {
      const { code, out, err } = await atrium(env, 'bus', 'config', '--dir', '/srv/bus');
      assert.equal(code, 0, err);
      assert.match(out, /^operator: eyJ/m);
      assert.match(out, /store_dir: "\/srv\/bus\/jetstream"/);
      assert.match(out, /No websocket: set BUS_WS_URL/);
      await close();
      assert.equal((await atrium(env, 'bus', 'config', '--dir', '/srv/bus')).out, out, 'the same without a server');
    });

    it('atrium doctor finds no fault in a stopped PGlite deployment', async () => {
      await close();
      const report = await examine(env);
      assert.deepEqual(faultsOf(report), []);
      assert.match(report.text('ports'), /PORT \d+ is free/);
      assert.equal(report.level('audit'), 'ok', report.text('audit'));
    });
  });
}

interface Repetition {
  /** Resolves with the number of repetitions. */
  stop(): Promise<number>;
}

/** Does something once, and then repeatedly with short breaks, which leave the processor to the command under test. */
async function repeat(breakMs: number, action: (n: number) => Promise<void>): Promise<Repetition> {
  await action(0);
  let isOver = false;
  const done = (async () => {
    let n = 1;
    for (; !isOver; n++) {
      await action(n);
      await pause(breakMs);
    }
    return n;
  })();
  return {
    stop: () => {
      isOver = true;
      return done;
    },
  };
}

/** The audit log and the roles agree, and each role has its permission. */
async function assertOneMoment(file: string, organizationId: bigint): Promise<void> {
  const db = await openPlace(await newPlace());
  await restoreFrom(file, db);
  const entries = await auditOf(db, organizationId);
  assert.deepEqual(brokenLinks(entries), []);
  const [count] = await db.query<{ roles: bigint; alone: bigint }>(
    statement(`select count(distinct r.id) as roles, count(*) filter (where p.role_id is null and r.name like 'role %') as alone
                 from role r left join role_permission p on p.role_id = r.id where r.organization_id = $1`),
    [organizationId],
  );
  const of = (verb: string) => entries.filter(({ action }) => action === verb).length;
  assert.equal(Number(count?.roles), of('role.create') - of('role.delete'));
  assert.equal(count?.alone, 0n);
  assert.ok(of('role.create') > 1);
  await db.close();
}
