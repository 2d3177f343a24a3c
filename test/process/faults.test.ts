import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newPlace, temporaryFolder } from '../support/db.ts';
import { freePort, occupyPort } from '../support/ports.ts';
import { get, startServer } from '../support/process.ts';

const KEY = Buffer.alloc(32, 1).toString('base64');
const OTHER_KEY = Buffer.alloc(32, 2).toString('base64');

/** It is a matter of a second, but a busy machine may be slow. */
const END_WITHIN_MS = 30_000;

/** The server must end by itself, soon, in words that a person can act on, and without a secret. */
async function refuses(env: Record<string, string>, ...messages: RegExp[]): Promise<void> {
  await refusesWith(1, env, ...messages);
}

async function refusesWith(wanted: number, env: Record<string, string>, ...messages: RegExp[]): Promise<void> {
  const server = startServer({ env });
  const { code, ms } = await server.ended;
  const said = server.stderr();
  assert.equal(code, wanted, said);
  assert.ok(ms < END_WITHIN_MS, `it took ${ms} ms`);
  for (const message of messages) assert.match(said, message);
  assert.match(said, /^atrium cannot start: /m);
  assert.doesNotMatch(said, /\n\s+at /, 'no stack trace');
  assert.doesNotMatch(server.stdout(), /listening on|\n\s+at /);
  for (const secret of ['geheim', KEY, OTHER_KEY]) assert.ok(!(said + server.stdout()).includes(secret));
}

describe('Startup failures', () => {
  it('A start with invalid settings reports all of them at once', () =>
    refuses(
      {
        PORT: 'http',
        ADMIN_PORT: '70000',
        DATABASE_URL: 'mysql://root:geheim@localhost/x',
        DEPLOYMENT: 'moon',
        ATRIUM_KEY: 'geheim',
        TRUSTED_PROXIES: '10.0.0.0/99',
        CLOUD_A_ALLOW: 'fe80::1%eth0',
      },
      /7 faults/,
      /PORT must be a whole number from 0 to 65535/,
      /ADMIN_PORT must be/,
      /DATABASE_URL must be a URL that starts with postgres:\/\//,
      /DEPLOYMENT must be one of standard, hosted, marketplace/,
      /ATRIUM_KEY must hold 32 bytes/,
      /TRUSTED_PROXIES holds something/,
      /CLOUD_A_ALLOW holds something/,
    ));

  it('A start with TRUSTED_PROXIES covering every address is rejected', () =>
    refuses(
      { TRUSTED_PROXIES: '10.0.0.0/8, 0.0.0.0/0' },
      /TRUSTED_PROXIES must not hold every address \(0\.0\.0\.0\/0\)/,
    ));

  it('A start with RUN_MODE=dev and NODE_ENV=production is rejected', () =>
    refuses({ RUN_MODE: 'dev', NODE_ENV: 'production' }, /RUN_MODE=dev .* refused with NODE_ENV=production/));

  it('A start with the same PORT and ADMIN_PORT is rejected', () =>
    refuses({ PORT: '4000', ADMIN_PORT: '4000' }, /ADMIN_PORT must differ/));

  it('A start with both NAME and NAME_FILE, or with a missing file, is rejected', async () => {
    const path = join(temporaryFolder(), 'none');
    await refuses({ ATRIUM_KEY: KEY, ATRIUM_KEY_FILE: path }, /ATRIUM_KEY is set together with ATRIUM_KEY_FILE/);
    await refuses({ ATRIUM_KEY_FILE: path }, /ATRIUM_KEY cannot be read from ATRIUM_KEY_FILE: ENOENT/);
  });

  it('A start on a data folder in use reports the process that holds it', async () => {
    const { dataDir } = await newPlace('pglite');
    const first = startServer({ env: { DATA_DIR: dataDir } });
    const address = await first.listening();
    await refuses(
      { DATA_DIR: dataDir },
      /in use by process \d+ on .*: stop it first, or give this one its own DATA_DIR/,
    );
    assert.equal((await get(`${address}/api/v1/version`)).status, 200, 'the first is not disturbed');
    first.kill('SIGTERM');
    await first.ended;
  });

  it('A start on a port in use reports the setting to change', async (test) => {
    const { dataDir } = await newPlace('pglite');
    const { port, close } = await occupyPort();
    test.after(close);
    const taken = new RegExp(`port ${port} of 127.0.0.1 is taken: .* choose another with`);
    await refuses({ DATA_DIR: dataDir, PORT: String(port) }, taken, /with PORT$/m);
    await refuses({ DATA_DIR: dataDir, ADMIN_PORT: String(port) }, taken, /with ADMIN_PORT$/m);
  });

  it('A start with a HOST that is not an address of this machine is rejected', async () => {
    const { dataDir } = await newPlace('pglite');
    await refuses({ DATA_DIR: dataDir, HOST: '192.0.2.1' }, /192\.0\.2\.1 is not an address of this machine: set HOST/);
    await refuses({ DATA_DIR: dataDir, HOST: 'no.such.host.invalid' }, /no\.such\.host\.invalid.*set HOST/);
  });

  it('A start with an unreachable database reports it and exits with 3', async () => {
    const url = `postgres://atrium:geheim@127.0.0.1:${await freePort()}/atrium`;
    await refusesWith(
      3,
      { DATABASE_URL: url },
      /the database at 127\.0\.0\.1:\d+\/atrium cannot be used: .*ECONNREFUSED/,
    );
  });

  it('A start with a nonexistent database reports it and exits with 3', async () => {
    const { databaseUrl = '' } = await newPlace('postgres');
    const url = new URL(databaseUrl);
    url.pathname = '/nowhere';
    url.password = 'geheim';
    await refusesWith(3, { DATABASE_URL: url.href }, /it has no database of that name/);
  });

  it('A start with a root key other than that of the database is rejected', async () => {
    const { databaseUrl = '' } = await newPlace('postgres');
    const first = startServer({ env: { DATABASE_URL: databaseUrl, ATRIUM_KEY: KEY } });
    await first.listening();
    first.kill('SIGTERM');
    await first.ended;
    const wrong = /the root key is not the one that this database was made with: set ATRIUM_KEY/;
    await refuses({ DATABASE_URL: databaseUrl, ATRIUM_KEY: OTHER_KEY }, wrong);
  });

  it('A start with a damaged key file reports that it must be restored from a backup', async () => {
    const { dataDir } = await newPlace('pglite');
    writeFileSync(join(dataDir, 'atrium.key'), 'half of a k');
    await refuses({ DATA_DIR: dataDir }, /the key file .*atrium\.key is damaged: restore it from a backup/);
  });

  it('A start with a DATA_DIR that is a file is rejected', async () => {
    const path = join(temporaryFolder(), 'file');
    writeFileSync(path, '');
    await refuses({ DATA_DIR: path }, /EEXIST|ENOTDIR/, /DATA_DIR/);
  });
});
