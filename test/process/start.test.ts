import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { COUNTS } from '../counts.ts';
import { newPlace, temporaryFolder } from '../support/db.ts';
import { newDemoPlace, TEST_KEY } from '../support/house.ts';
import { get, startServer } from '../support/process.ts';
import { reopen } from '../support/reopen.ts';
import { lacks } from '../support/requirements.ts';

const TOKEN = /atr_[0-9A-Za-z]{33}/g;
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('Starting on an empty folder', () => {
  const dataDir = join(temporaryFolder(), 'data');
  let token = '';

  it('The first start creates a database, keys and root, and prints a working token once', async () => {
    const server = startServer({ env: { DATA_DIR: dataDir } });
    const address = await server.listening();
    assert.match(server.stdout(), /creating the database in .*, this takes some seconds/);
    const shown = server.stdout().match(TOKEN) ?? [];
    assert.equal(shown.length, 1, 'the token is shown exactly once');
    assert.doesNotMatch(server.stderr(), TOKEN);
    token = shown[0] ?? '';

    const answer = await get(`${address}/api/v1/user`, token);
    assert.equal(answer.status, 200);
    const { login, is_admin } = (await answer.json()) as { login: string; is_admin: boolean };
    assert.deepEqual({ login, is_admin }, { login: 'root', is_admin: true });
    assert.equal(modeOf(join(dataDir, 'atrium.key')), '600');
    assert.equal(modeOf(dataDir), '700');
    server.kill('SIGKILL');
    assert.equal((await server.ended).signal, 'SIGKILL');
  });

  it('The database of a killed server opens again, and the first token still works', async () => {
    const house = await reopen({ dataDir });
    assert.equal((await get(`${await house.listen()}/api/v1/user`, token)).status, 200);
    await house.close(0);
  });
});

describe('Settings from files', () => {
  it('A setting is read from the file that NAME_FILE names, also in .env', async () => {
    const { place, world } = await newDemoPlace();
    const [name, value] = place.databaseUrl ? ['DATABASE_URL', place.databaseUrl] : ['DATA_DIR', place.dataDir];
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'key'), `${TEST_KEY}\n`);
    writeFileSync(join(cwd, 'place'), `${value}\n`);
    writeFileSync(join(cwd, '.env'), `${name}_FILE=${join(cwd, 'place')}\nLOG_LEVEL=error\n`);
    const server = startServer({ cwd, env: { ATRIUM_KEY_FILE: join(cwd, 'key') } });
    const address = await server.listening();
    assert.match(address, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(server.stderr(), '', 'LOG_LEVEL of .env counts');
    assert.equal((await get(`${address}/api/v1/user`, world.users.ann?.token)).status, 200, 'the right place and key');
    assert.doesNotMatch(server.stdout(), TOKEN, 'only the first start prints one');
    server.kill('SIGINT');
    assert.equal((await server.ended).code, 0, 'Ctrl-C is as good as SIGTERM');
  });
});

describe('Replicas starting together on an empty database', { skip: lacks('postgresql') }, () => {
  it('Replicas starting together on an empty database print one token in total', async () => {
    const { databaseUrl = '' } = await newPlace('postgres');
    const env = { DATABASE_URL: databaseUrl, ATRIUM_KEY: TEST_KEY };
    const servers = Array.from({ length: COUNTS.startingReplicas }, () => startServer({ env }));
    await Promise.all(servers.map((server) => server.listening()));
    const shown = servers.flatMap((server) => server.stdout().match(TOKEN) ?? []);
    assert.equal(shown.length, 1);
    for (const server of servers) server.kill('SIGTERM');
    for (const server of servers) assert.equal((await server.ended).code, 0);
  });
});
