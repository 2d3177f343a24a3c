import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/base/config/config.ts';
import { placeRoot } from '../../src/base/keys.ts';
import { examineConnections, examineWorkers } from '../../src/operations/doctor/worker-checks.ts';
import { itLong } from '../support/checks/long.ts';
import { contentOf, openPlace } from '../support/server/backup.ts';
import { migrated, newPlace, type Place, temporaryFolder } from '../support/server/db.ts';
import { examine, faultsOf } from '../support/server/doctor.ts';
import { startServer } from '../support/server/process.ts';
import { reopen } from '../support/server/reopen.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';
import { newNats } from '../support/services/nats.ts';
import { freePort } from '../support/services/ports.ts';
import { onServer } from '../support/services/postgres.ts';
import { lacks } from '../support/services/requirements.ts';
import { startSmtp } from '../support/services/smtp.ts';
import { readEmail } from '../support/world/email.ts';

const settingsOf = ({ dataDir, databaseUrl = '' }: Place) => ({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl });

// server-commands.test.ts tests what the command prints, and what it finds next to a running PGlite server.
describe('atrium doctor', () => {
  it('atrium doctor reports every invalid setting at once, without its secret value', async () => {
    const report = await examine({ PORT: 'x', DEPLOYMENT: 'moon', ATRIUM_KEY: 'geheim' });
    assert.deepEqual(faultsOf(report), ['settings', 'settings', 'settings']);
    assert.doesNotMatch(report.text('settings'), /geheim/);
  });

  it('atrium doctor warns of names in the settings that no organization has', async () => {
    const { place } = await newDemoPlace();
    const mappings = [{ group: 'staff', organization: 'Nowhere', team: 'Viewers' }];
    const provider = { name: 'login', issuer: 'https://login.example.com', client_id: 'x', group_mappings: mappings };
    const env = { ...settingsOf(place), ATRIUM_KEY: TEST_KEY };
    const report = await examine({
      ...env,
      SCIM_DOMAINS: 'acme:acme.example,phantom:phantom.example',
      OIDC_PROVIDERS: JSON.stringify([provider]),
    });
    assert.equal(report.level('organizations'), 'warning');
    assert.match(report.text('organizations'), /do not exist: phantom, nowhere/);
    assert.equal((await examine({ ...env, SCIM_DOMAINS: 'ACME:acme.example' })).level('organizations'), 'ok');
  });

  it('atrium doctor reports a credential for buckets of the audit log that is not there, and a push that is late', async () => {
    const { place } = await newDemoPlace();
    const env = { ...settingsOf(place), ATRIUM_KEY: TEST_KEY, AUDIT_PUSH: 's3://siem' };
    const { level: none } = await examine(settingsOf(place));
    assert.equal(none('audit storage'), undefined);
    const found = async (credential: string) => {
      const report = await examine({ ...env, AUDIT_CREDENTIAL: credential });
      return `${report.level('audit storage')}: ${report.text('audit storage')}`;
    };
    assert.match(await found('ann/siem'), /^fault: ann is not an active site administrator/);
    assert.match(await found('root/siem'), /^fault: root has no credential siem, so nothing gets into the buckets/);
    const db = await openPlace(place);
    const run = (text: string) => db.query(statement(text));
    await run(
      `insert into credential (owner_id, name, type, sealed) select id, 'siem', 'Aws', '' from account where name = 'root'`,
    );
    await db.close();
    assert.match(await found('root/siem'), /^warning: the audit log has never been pushed/);
    const pushedAt = async (ago: string) => {
      const again = await openPlace(place);
      const values = `values (now(), now() - interval '${ago}')`;
      const change = 'on conflict (id) do update set pushed_at = excluded.pushed_at';
      await again.query(statement(`insert into audit_push (due_at, pushed_at) ${values} ${change}`));
      await again.close();
    };
    await pushedAt('200 minutes');
    assert.match(await found('root/siem'), /^warning: the last complete push of the audit log was 200 min ago/);
    await pushedAt('20 minutes');
    assert.match(await found('root/siem'), /^ok: root has the credential siem/);
  });

  it('atrium doctor reports workers that the database or the machine does not allow', async () => {
    const alone = await examine({ DATA_DIR: join(temporaryFolder(), 'none'), WORKERS: '4' });
    assert.equal(alone.level('workers'), 'warning');
    assert.match(alone.text('workers'), /WORKERS=4 needs PostgreSQL/);
    const config = readConfig({ WORKERS: '4', DATABASE_URL: 'postgres://127.0.0.1/atrium' });
    assert.match(examineWorkers(config, 2)[0]?.advice ?? '', /^Set WORKERS=auto/);
    assert.equal(examineWorkers(config, 4)[0]?.level, 'ok');
    // Four workers and, while they are replaced, a fifth, with eleven connections each.
    assert.deepEqual(
      [55, 54].map((most) => examineConnections(config, most)[0]?.level),
      ['ok', 'warning'],
    );
  });

  it('atrium doctor creates nothing where no data exists, and calls that a fault unless the deployment is new', async () => {
    const dataDir = join(temporaryFolder(), 'none');
    const absent = await examine({ DATA_DIR: dataDir });
    assert.deepEqual(faultsOf(absent), ['database']);
    assert.match(absent.text('database'), /there is no deployment here .*settings of the server.*doctor --new/);
    assert.deepEqual(faultsOf(await examine({ DATA_DIR: dataDir }, '--new')), []);
    assert.equal(statSync(dataDir, { throwIfNoEntry: false }), undefined);
    const empty = settingsOf(await newPlace());
    assert.match((await examine(empty)).text('schema'), /the database is empty: there is no deployment here/);
    assert.deepEqual(faultsOf(await examine(empty, '--new')), []);
  });

  it('atrium doctor reports open permissions, a taken port, a bad base URL and unreachable mail and database', async (test) => {
    const other = createServer((_request, response) => response.end('hello'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    test.after(() => other.close());
    const { port } = other.address() as AddressInfo;
    const smtp = await startSmtp();
    test.after(() => smtp.close());
    const dataDir = temporaryFolder();
    chmodSync(dataDir, 0o755);
    const away = await examine({
      DATA_DIR: dataDir,
      PORT: String(port),
      BASE_URL: 'http://atrium.example.com',
      DATABASE_URL: 'postgres://atrium:geheim@127.0.0.1:1/atrium',
      SMTP_URL: `smtp://127.0.0.1:${await freePort()}`,
    });
    assert.deepEqual(faultsOf(away).sort(), ['base url', 'database', 'mail', 'ports']);
    assert.match(away.text('data folder'), /mode 0755.*chmod 700/);
    assert.match(away.text('ports'), /PORT \d+ is in use by another program/);
    assert.match(away.text('database'), /127\.0\.0\.1:1\/atrium.*DATABASE_URL/s);
    assert.doesNotMatch(JSON.stringify(away.findings), /geheim/);
    const kind = await examine({ DATA_DIR: dataDir, SMTP_URL: smtp.url, BASE_URL: 'https://atrium.example.com' });
    assert.equal(kind.level('mail'), 'ok', kind.text('mail'));
    assert.equal(kind.level('base url'), 'ok');
    assert.deepEqual(smtp.letters, []);
  });

  it('atrium doctor --mail sends one email with both parts, and reports a mail server that does not take it', async (test) => {
    const env = { DATA_DIR: temporaryFolder(), BASE_URL: 'https://atrium.example.com', MAIL_FROM: 'Atrium <a@x.org>' };
    const smtp = await startSmtp();
    test.after(() => smtp.close());
    const taken = await examine({ ...env, SMTP_URL: smtp.url }, '--mail', 'ann@example.com');
    assert.match(taken.text('mail'), /took an email to ann@example\.com/);
    assert.equal(taken.level('mail'), 'ok');
    const [email, ...more] = smtp.letters.map(readEmail);
    assert.deepEqual([email?.to, more], [['ann@example.com'], []]);
    for (const part of [email?.text, email?.html])
      assert.match(part ?? '', /https:\/\/atrium\.example\.com.*doctor --mail/s);
    const grim = await startSmtp('refuse');
    test.after(() => grim.close());
    const rejected = await examine({ ...env, SMTP_URL: grim.url }, '--mail', 'ann@example.com');
    assert.deepEqual([rejected.level('mail'), rejected.code], ['fault', 1]);
    assert.match(rejected.text('mail'), /did not take an email .*no such person/);
    const away = await examine(
      { ...env, SMTP_URL: `smtp://127.0.0.1:${await freePort()}` },
      '--mail',
      'ann@example.com',
    );
    assert.match(away.text('mail'), /ECONNREFUSED|ESOCKET/);
    const without = await examine(env, '--mail', 'ann@example.com');
    assert.deepEqual([without.level('mail'), /Set SMTP_URL/.test(without.text('mail'))], ['fault', true]);
    await assert.rejects(examine({ ...env, SMTP_URL: smtp.url }, '--mail', 'nobody'), /--mail needs an email address/);
    assert.equal(smtp.letters.length, 1);
  });

  it('atrium doctor changes nothing, and reports faults in the keys, secrets, audit log, revision and schema', {
    skip: lacks('postgresql'),
  }, async () => {
    const { place } = await newDemoPlace('postgres');
    const { dataDir, databaseUrl = '' } = place;
    placeRoot(Buffer.from(TEST_KEY, 'base64'), dataDir);
    const env = settingsOf(place);
    const atrium = await reopen(place);
    await atrium.listen();
    const content = await contentOf(atrium.db);
    const healthy = await examine(env);
    assert.deepEqual(faultsOf(healthy), []);
    assert.match(healthy.text('locks'), /servers have \d+ connections/);
    assert.deepEqual(await contentOf(atrium.db), content);
    await atrium.close(0);
    chmodSync(join(dataDir, 'atrium.key'), 0o644);
    assert.match((await examine(env)).text('key file'), /other users can read .*chmod 600/);
    chmodSync(join(dataDir, 'atrium.key'), 0o600);
    assert.match(
      (await examine({ ...env, ATRIUM_KEY: randomBytes(32).toString('base64') })).text('keys'),
      /the root key does not open/,
    );

    await onServer(
      databaseUrl,
      `update credential set sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) where name = 'ann-aws'`,
    );
    await onServer(databaseUrl, `update audit set after = '{"name":"other"}' where id = (select max(id) from audit)`);
    await onServer(databaseUrl, `update revision set value = 3`);
    const ill = await examine(env);
    assert.deepEqual(faultsOf(ill).sort(), ['audit', 'revisions', 'secrets']);
    assert.match(ill.text('secrets'), /1 of a sample of \d+ cannot be opened \(credential \d+\)/);
    await onServer(databaseUrl, `delete from migration where number = (select max(number) from migration)`);
    assert.equal((await examine(env)).level('schema'), 'warning');
    await onServer(databaseUrl, `insert into migration (number, name, checksum) values (9999, '9999_future.sql', '')`);
    assert.match((await examine(env)).text('schema'), /newer than this release/);
  });

  it('A release that is older than its database, but compatible, starts and leaves the keys alone', async () => {
    const { place } = await newDemoPlace();
    const db = await openPlace(place);
    await db.query(
      statement(`insert into migration (number, name, checksum, compatible_from)
                 select max(number) + 1, '9999_future.sql', '', max(number) from migration`),
    );
    await db.close();
    const atrium = await reopen(place, { ATRIUM_KEY: TEST_KEY });
    await assert.rejects(atrium.rotateKeys(), /newer than this release: rotate the keys with the newer release/);
    await atrium.close(0);
    const report = await examine({ ...settingsOf(place), ATRIUM_KEY: TEST_KEY });
    assert.deepEqual(faultsOf(report), []);
    assert.match(report.text('schema'), /at 9999_future\.sql, which is newer than this release but compatible with it/);
    assert.match(report.text('open files'), /this process may open \d+ files|there is no limit/);
  });

  itLong('atrium doctor warns of a limit of open files that leaves little for clients', async () => {
    const { dataDir, databaseUrl = '' } = await newPlace(undefined, migrated());
    const env = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ATRIUM_KEY: TEST_KEY };
    const doctor = startServer({ main: 'src/cli.ts', args: ['doctor'], env, prelude: 'ulimit -n 500' });
    assert.equal((await doctor.ended).code, 0, doctor.stderr());
    assert.match(
      doctor.stdout(),
      /warning +open files +this process may open 500 files; .*\n.*Raise the limit to at least/,
    );
  });

  itLong(
    'atrium doctor reports a bus that is unreachable, lacks its stream or belongs to another deployment',
    {
      skip: lacks('nats-server'),
    },
    async () => {
      const nats = await newNats();
      const place = await newPlace(undefined, migrated());
      const env = { ...nats.env, ...settingsOf(place) };
      assert.match((await examine(env)).text('keys'), /there are none yet/);
      const config = await busConfig(place, nats);
      assert.equal((await examine(env)).level('bus'), 'fault');
      await nats.start(config);
      const fresh = await examine(env);
      assert.equal(fresh.level('bus'), 'warning', fresh.text('bus'));
      assert.match(fresh.text('bus'), /has no stream HISTORY/);
      assert.match((await examine(env)).text('bus'), /has no stream HISTORY/, 'the doctor did not make it');
      await nats.kill();
      await nats.start(await busConfig(await newPlace(undefined, migrated()), { ...nats, folder: temporaryFolder() }));
      const refused = await examine(env);
      assert.match(refused.text('bus'), /rejects our credentials/, refused.text('bus'));
      await nats.kill();
    },
  );

  it('atrium doctor checks the central server and the address ranges of a marketplace deployment', async (test) => {
    let status = 404;
    const central = createServer((_request, response) => response.writeHead(status).end());
    await new Promise<void>((resolve) => central.listen(0, '127.0.0.1', resolve));
    test.after(() => central.close());
    const place = await newPlace(undefined, migrated());
    const url = `http://127.0.0.1:${(central.address() as AddressInfo).port}`;
    const env = { ...settingsOf(place), DEPLOYMENT: 'marketplace', CENTRAL_MARKETPLACE_URL: url };
    const first = await examine(env);
    assert.equal(first.level('central server'), 'ok');
    assert.match(first.text('address ranges'), /none are known/);
    status = 500;
    assert.match((await examine(env)).text('central server'), /answers with 500/);
    const db = await openPlace(place);
    await db.query(
      statement(
        `insert into address_ranges (source, sync_token, prefixes, first_seen_at, last_seen_at) values ('/ranges.json', 1, '{}', now(), now() - interval '30 hours')`,
      ),
    );
    await db.close();
    assert.equal((await examine({ ...env, CLOUD_A_RANGES: '/ranges.json' })).level('address ranges'), 'warning');
  });
});

/** The configuration of a NATS server for the deployment in this place. */
async function busConfig(
  place: Place,
  nats: { env: Readonly<Record<string, string>>; folder: string },
): Promise<string> {
  const atrium = await reopen(place, nats.env);
  const config = await atrium.features.bus.serverConfig(nats.folder);
  await atrium.close(0);
  return config;
}
