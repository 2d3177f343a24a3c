import assert from 'node:assert/strict';
import { existsSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/base/config/config.ts';
import type { AppError } from '../../src/base/errors.ts';
import { openDb } from '../../src/db/db.ts';
import { IS_LONG } from '../counts.ts';
import { itLong } from '../support/checks/long.ts';
import { newPlace, temporaryFolder } from '../support/server/db.ts';
import { startServer } from '../support/server/process.ts';
import { reopen } from '../support/server/reopen.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';
import { freePort, occupyPort } from '../support/services/ports.ts';
import { lacks } from '../support/services/requirements.ts';

const OTHER_KEY = Buffer.alloc(32, 2).toString('base64');
const SECRETS = ['geheim', TEST_KEY, OTHER_KEY];

/** The process must end by itself, with a message that tells the reader what to do, and without a secret. */
function fails(wanted: number, env: Record<string, string>, ...messages: RegExp[]): Promise<void> {
  return failsWith({ env }, wanted, ...messages);
}

async function failsWith(
  options: Parameters<typeof startServer>[0],
  wanted: number,
  ...messages: RegExp[]
): Promise<void> {
  const server = startServer(options);
  const { code } = await server.ended;
  const said = server.stderr();
  assert.equal(code, wanted, said);
  for (const message of messages) assert.match(said, message);
  assert.match(said, /^atrium cannot start: /m);
  assert.doesNotMatch(said, /\n\s+at /, 'no stack trace');
  assert.doesNotMatch(server.stdout(), /listening on|\n\s+at /);
  for (const secret of SECRETS) assert.ok(!(said + server.stdout()).includes(secret));
}

/** What the process would print, without starting one. */
function rejectsSettings(env: Record<string, string>, message: RegExp): void {
  assert.throws(
    () => readConfig(env),
    (error: Error) => error.name === 'ConfigError' && message.test(error.message) && !error.message.includes(TEST_KEY),
  );
}

/** The settings of a server that has the demo world. */
async function newDemoSettings(): Promise<Record<string, string>> {
  const { dataDir, databaseUrl = '' } = (await newDemoPlace()).place;
  return { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ATRIUM_KEY: TEST_KEY };
}

describe('Startup failures', () => {
  it('A start with invalid settings reports all of them at once', () =>
    fails(
      1,
      {
        PORT: 'http',
        ADMIN_PORT: '70000',
        DATABASE_URL: 'mysql://root:geheim@localhost/x',
        DEPLOYMENT: 'moon',
        ATRIUM_KEY: 'geheim',
        TRUSTED_PROXIES: '10.0.0.0/99',
        CLOUD_A_ALLOW: 'fe80::1%eth0',
      },
      /7 errors/,
      /PORT must be a whole number from 0 to 65535/,
      /ADMIN_PORT must be/,
      /DATABASE_URL must be a URL that starts with postgres:\/\//,
      /DEPLOYMENT must be one of standard, hosted, marketplace/,
      /ATRIUM_KEY must be 32 bytes/,
      /TRUSTED_PROXIES contains an entry that is not an address/,
      /CLOUD_A_ALLOW contains an entry that is not an address/,
    ));

  it('TRUSTED_PROXIES is rejected if it covers every address', () =>
    rejectsSettings(
      { TRUSTED_PROXIES: '10.0.0.0/8, 0.0.0.0/0' },
      /TRUSTED_PROXIES must not include every address \(0\.0\.0\.0\/0\)/,
    ));

  it('The settings of traces are rejected if they are not what a collector understands', () => {
    rejectsSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }, /OTEL_EXPORTER_OTLP_ENDPOINT must be a URL/);
    for (const share of ['2', '-1', 'half', '1e-3', '1.5']) {
      rejectsSettings({ OTEL_TRACES_SAMPLER_ARG: share }, /OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1/);
    }
    for (const headers of ['key', 'key=', '=value', 'a=b,c', 'a b=c']) {
      rejectsSettings({ OTEL_EXPORTER_OTLP_HEADERS: headers }, /OTEL_EXPORTER_OTLP_HEADERS must be name=value pairs/);
    }
  });

  it('RUN_MODE=dev is rejected together with NODE_ENV=production', () =>
    rejectsSettings({ RUN_MODE: 'dev', NODE_ENV: 'production' }, /RUN_MODE=dev .* not allowed with NODE_ENV/));

  it('The same PORT and ADMIN_PORT are rejected', () =>
    rejectsSettings({ PORT: '4000', ADMIN_PORT: '4000' }, /ADMIN_PORT must differ/));

  it('A setting is rejected if NAME and NAME_FILE are both set or the file is missing', () => {
    const ATRIUM_KEY_FILE = join(temporaryFolder(), 'none');
    rejectsSettings({ ATRIUM_KEY: TEST_KEY, ATRIUM_KEY_FILE }, /ATRIUM_KEY is set together with ATRIUM_KEY_FILE/);
    rejectsSettings({ ATRIUM_KEY_FILE }, /ATRIUM_KEY cannot be read from ATRIUM_KEY_FILE: ENOENT/);
  });

  it('A start on a port in use reports the setting to change', async (test) => {
    const { port, close } = await occupyPort();
    test.after(close);
    const taken = new RegExp(`port ${port} of 127.0.0.1 is in use; .* choose another with`);
    const DATA_DIR = join(temporaryFolder(), 'new');
    await fails(1, { DATA_DIR, ADMIN_PORT: '0', PORT: String(port) }, taken, /with PORT$/m);
    assert.ok(!existsSync(DATA_DIR), 'nothing was created or migrated before');
    if (!IS_LONG) return;
    const env = await newDemoSettings();
    await fails(1, { ...env, PORT: String(port) }, taken, /with PORT$/m);
    await fails(1, { ...env, ADMIN_PORT: String(port) }, taken, /with ADMIN_PORT$/m);
  });

  itLong('A start with a HOST that is not an address of this machine is rejected', async () => {
    const env = await newDemoSettings();
    await fails(1, { ...env, HOST: '192.0.2.1' }, /192\.0\.2\.1 is not an address of this machine; set HOST/);
    await fails(1, { ...env, HOST: 'no.such.host.invalid' }, /no\.such\.host\.invalid.*set HOST/);
  });

  it('A start with an unreachable database reports it and exits with 3', async () => {
    const url = `postgres://atrium:geheim@127.0.0.1:${await freePort()}/atrium`;
    await fails(3, { DATABASE_URL: url }, /the database at 127\.0\.0\.1:\d+\/atrium cannot be used: .*ECONNREFUSED/);
  });

  it('A start with a nonexistent database reports it', { skip: lacks('postgresql') }, async () => {
    const { databaseUrl = '', dataDir } = await newPlace('postgres');
    const url = new URL(databaseUrl);
    url.pathname = '/nowhere';
    url.password = 'geheim';
    await assert.rejects(reopen({ dataDir, databaseUrl: url.href }), ({ message, detail }: AppError) => {
      assert.match(message, /the server has no database with that name/);
      assert.ok(detail.retryAfter !== undefined, 'so the process exits with 3');
      return !message.includes('geheim');
    });
  });

  it('A start with a root key other than that of the database is rejected', async () => {
    const { place } = await newDemoPlace();
    await assert.rejects(reopen(place, { ATRIUM_KEY: OTHER_KEY }), ({ message }: Error) => {
      assert.match(message, /this database was created with another root key: set ATRIUM_KEY/);
      return SECRETS.every((secret) => !message.includes(secret));
    });
  });

  it('A start with a damaged key file reports that it must be restored from a backup', async () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, 'atrium.key'), 'half of a k');
    await assert.rejects(reopen({ dataDir }), /the key file .*atrium\.key is damaged: restore it from a backup/);
  });

  itLong('A start on a damaged table is reported in plain words', async () => {
    const { place } = await newDemoPlace('pglite');
    const db = await openDb({ ...place, say: () => undefined });
    const [row] = await db.query<{ path: string }>(statement(`select pg_relation_filepath('key_slot_pkey') as path`));
    await db.close();
    truncateSync(join(place.dataDir, 'pglite', row?.path ?? ''));
    const env = { DATA_DIR: place.dataDir, ATRIUM_KEY: TEST_KEY };
    await fails(1, env, /the database rejected a statement: could not read blocks .* \(XX001\); run "atrium doctor"/);
  });

  itLong('A start that may not open enough files reports which limit to raise', async () => {
    const { place } = await newDemoPlace('pglite');
    const env = { DATA_DIR: place.dataDir, ATRIUM_KEY: TEST_KEY };
    await failsWith({ env, prelude: 'ulimit -n 80' }, 1, /raise the limit to at least 1024 \(ulimit -n/);
  });

  itLong('A start with a DATA_DIR that is a file is rejected', async () => {
    const path = join(temporaryFolder(), 'file');
    writeFileSync(path, '');
    await fails(1, { DATA_DIR: path }, /EEXIST|ENOTDIR/, /DATA_DIR/);
  });
});
