import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Finding, Level } from '../../src/doctor/finding.ts';
import { atrium } from '../support/atrium.ts';
import { contentOf, openPlace } from '../support/backup.ts';
import { newPlace, temporaryFolder } from '../support/db.ts';
import { newNats } from '../support/nats.ts';
import { freePort } from '../support/ports.ts';
import { onServer } from '../support/postgres.ts';
import { startServer } from '../support/process.ts';
import { startSmtp } from '../support/smtp.ts';

interface Report {
  readonly code: number | null;
  readonly findings: readonly Finding[];
  /** The worst that was found under that name. */
  level(check: string): Level | undefined;
  text(check: string): string;
}

async function examine(env: Record<string, string>): Promise<Report> {
  const { code, out, err } = await atrium(env, 'doctor', '--json');
  assert.equal(err, '');
  const { healthy, findings } = JSON.parse(out) as { healthy: boolean; findings: Finding[] };
  assert.equal(code, healthy ? 0 : 1);
  for (const { level, advice } of findings) {
    if (level === 'ok') assert.equal(advice, undefined);
    else assert.match(advice ?? '', /^\S.*[^ ]$/, 'what to do');
  }
  const of = (check: string) => findings.filter((finding) => finding.check === check);
  return {
    code,
    findings,
    level: (check) =>
      (['fault', 'warning', 'ok'] as const).find((level) => of(check).some((one) => one.level === level)),
    text: (check) =>
      of(check)
        .map(({ message, advice }) => `${message} ${advice ?? ''}`)
        .join('\n'),
  };
}

const faultsOf = ({ findings }: Report) => findings.filter(({ level }) => level === 'fault').map(({ check }) => check);

describe('atrium doctor', () => {
  it('atrium doctor finds no fault in a healthy PGlite deployment, running or stopped, and changes nothing', async () => {
    const { dataDir } = await newPlace('pglite');
    const [port, adminPort] = [await freePort(), await freePort()];
    const env = { DATA_DIR: dataDir, PORT: String(port), ADMIN_PORT: String(adminPort) };
    const server = startServer({ args: ['demo'], env });
    await server.listening();
    const running = await examine(env);
    assert.deepEqual(faultsOf(running), []);
    assert.match(running.text('locks'), /a server has the database in .*pglite, and answers/);
    assert.match(
      running.text('ports'),
      /a server of ours answers on PORT \d+[\s\S]*a server of ours answers on ADMIN_PORT/,
    );
    assert.match(running.text('server'), /it is ready/);
    for (const check of [
      'settings',
      'database',
      'schema',
      'time',
      'clock',
      'keys',
      'secrets',
      'audit',
      'disk',
      'key file',
    ]) {
      assert.equal(running.level(check), 'ok', `${check}: ${running.text(check)}`);
    }
    server.kill('SIGTERM');
    await server.ended;
    const look = async () => {
      const db = await openPlace({ dataDir });
      const content = await contentOf(db);
      await db.close();
      return content;
    };
    const before = await look();
    const alone = await examine(env);
    assert.deepEqual(faultsOf(alone), []);
    assert.match(alone.text('ports'), /PORT \d+ is free/);
    assert.deepEqual(await look(), before);
    const people = await atrium(env, 'doctor');
    assert.match(people.out, /^ok {6}settings {8}every setting can be read$/m);
    assert.match(people.out, /^\d+ ok, \d+ warnings, 0 faults$/m);
  });

  it('atrium doctor reports every invalid setting at once, without its secret value', async () => {
    const report = await examine({ PORT: 'x', DEPLOYMENT: 'moon', ATRIUM_KEY: 'geheim' });
    assert.deepEqual(faultsOf(report), ['settings', 'settings', 'settings']);
    assert.doesNotMatch(report.text('settings'), /geheim/);
  });

  it('atrium doctor creates nothing where no data exists', async () => {
    const dataDir = join(temporaryFolder(), 'none');
    const report = await examine({ DATA_DIR: dataDir });
    assert.equal(report.code, 0);
    assert.equal(statSync(dataDir, { throwIfNoEntry: false }), undefined);
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
    assert.match(away.text('ports'), /PORT \d+ is taken by another program/);
    assert.match(away.text('database'), /127\.0\.0\.1:1\/atrium.*DATABASE_URL/s);
    assert.doesNotMatch(JSON.stringify(away.findings), /geheim/);
    const kind = await examine({ DATA_DIR: dataDir, SMTP_URL: smtp.url, BASE_URL: 'https://atrium.example.com' });
    assert.equal(kind.level('mail'), 'ok', kind.text('mail'));
    assert.equal(kind.level('base url'), 'ok');
    assert.deepEqual(smtp.letters, []);
  });

  it('atrium doctor reports faults in the keys, secrets, audit log, revision and schema', async () => {
    const { dataDir, databaseUrl = '' } = await newPlace('postgres');
    const env = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl };
    const server = startServer({ args: ['demo'], env });
    await server.listening();
    const healthy = await examine(env);
    assert.deepEqual(faultsOf(healthy), []);
    assert.match(healthy.text('locks'), /servers hold \d+ connections/);
    server.kill('SIGTERM');
    await server.ended;
    chmodSync(join(dataDir, 'atrium.key'), 0o644);
    assert.match((await examine(env)).text('key file'), /others may read .*chmod 600/);
    chmodSync(join(dataDir, 'atrium.key'), 0o600);
    assert.match(
      (await examine({ ...env, ATRIUM_KEY: randomBytes(32).toString('base64') })).text('keys'),
      /the root key is not the one/,
    );

    await onServer(
      databaseUrl,
      `update credential set sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) where name = 'ann-aws'`,
    );
    await onServer(databaseUrl, `update audit set after = '{"name":"other"}' where id = (select max(id) from audit)`);
    await onServer(databaseUrl, `update revision set value = 3`);
    const ill = await examine(env);
    assert.deepEqual(faultsOf(ill).sort(), ['audit', 'clock', 'secrets']);
    assert.match(ill.text('secrets'), /1 of a sample of \d+ cannot be opened \(credential \d+\)/);
    await onServer(databaseUrl, `delete from migration where number = (select max(number) from migration)`);
    assert.equal((await examine(env)).level('schema'), 'warning');
    await onServer(databaseUrl, `insert into migration (number, name, checksum) values (9999, '9999_future.sql', '')`);
    assert.match((await examine(env)).text('schema'), /newer than this release/);
  });

  it('atrium doctor reports a bus that is unreachable, lacks its stream or belongs to another deployment', async () => {
    const nats = await newNats();
    const { dataDir, databaseUrl = '' } = await newPlace('postgres');
    const env = { ...nats.env, DATA_DIR: dataDir, DATABASE_URL: databaseUrl };
    assert.equal((await atrium(env, 'migrate')).code, 0);
    assert.match((await examine(env)).text('keys'), /there are none yet/);
    const config = await atrium(env, 'bus', 'config', '--dir', nats.folder);
    assert.equal((await examine(env)).level('bus'), 'fault');
    await nats.start(config.out);
    const fresh = await examine(env);
    assert.equal(fresh.level('bus'), 'warning', fresh.text('bus'));
    assert.match(fresh.text('bus'), /has no stream HISTORY/);
    assert.match((await examine(env)).text('bus'), /has no stream HISTORY/, 'the doctor did not make it');
    await nats.kill();
    const other = await newPlace('postgres');
    const stranger = await atrium(
      { ...nats.env, DATA_DIR: other.dataDir, DATABASE_URL: other.databaseUrl ?? '' },
      'bus',
      'config',
      '--dir',
      temporaryFolder(),
    );
    await nats.start(stranger.out);
    const refused = await examine(env);
    assert.match(refused.text('bus'), /refuses our credentials/, refused.text('bus'));
    await nats.kill();
  });

  it('atrium doctor checks the central server and the address ranges of a marketplace deployment', async (test) => {
    let status = 404;
    const central = createServer((_request, response) => response.writeHead(status).end());
    await new Promise<void>((resolve) => central.listen(0, '127.0.0.1', resolve));
    test.after(() => central.close());
    const { dataDir, databaseUrl = '' } = await newPlace('postgres');
    const url = `http://127.0.0.1:${(central.address() as AddressInfo).port}`;
    const env = {
      DATA_DIR: dataDir,
      DATABASE_URL: databaseUrl,
      DEPLOYMENT: 'marketplace',
      CENTRAL_MARKETPLACE_URL: url,
    };
    assert.equal((await atrium(env, 'migrate')).code, 0);
    const first = await examine(env);
    assert.equal(first.level('central server'), 'ok');
    assert.match(first.text('address ranges'), /none are known/);
    status = 500;
    assert.match((await examine(env)).text('central server'), /answers with 500/);
    const ranges = { ...env, CLOUD_A_RANGES: '/ranges.json' };
    await onServer(
      databaseUrl,
      `insert into address_ranges (source, sync_token, prefixes, first_seen_at, last_seen_at) values ('/ranges.json', 1, '{}', now(), now() - interval '30 hours')`,
    );
    assert.equal((await examine(ranges)).level('address ranges'), 'warning');
  });
});
