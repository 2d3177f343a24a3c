import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newPlace, temporaryFolder } from '../support/db.ts';
import { get, startServer } from '../support/process.ts';

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
    server.kill('SIGTERM');
    assert.equal((await server.ended).code, 0);
  });

  it('A second start prints no token, and the first token still works', async () => {
    const server = startServer({ env: { DATA_DIR: dataDir } });
    const address = await server.listening();
    assert.equal((await get(`${address}/api/v1/user`, token)).status, 200);
    assert.doesNotMatch(server.stdout(), TOKEN);
    server.kill('SIGKILL');
    assert.equal((await server.ended).signal, 'SIGKILL');
  });

  it('A server starts again after it is killed', async () => {
    const server = startServer({ env: { DATA_DIR: dataDir } });
    const address = await server.listening();
    assert.equal((await get(`${address}/api/v1/user`, token)).status, 200);
    server.kill('SIGINT');
    assert.equal((await server.ended).code, 0);
  });
});

describe('Settings from files', () => {
  it('A setting is read from the file that NAME_FILE names, also in .env', async () => {
    const { databaseUrl = '' } = await newPlace('postgres');
    const cwd = temporaryFolder();
    const key = Buffer.alloc(32, 7).toString('base64');
    writeFileSync(join(cwd, 'key'), `${key}\n`);
    writeFileSync(join(cwd, 'url'), `${databaseUrl}\n`);
    writeFileSync(join(cwd, '.env'), `DATABASE_URL_FILE=${join(cwd, 'url')}\nLOG_LEVEL=error\n`);
    const first = startServer({ cwd, env: { ATRIUM_KEY_FILE: join(cwd, 'key') } });
    assert.match(await first.listening(), /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(first.stderr(), '', 'LOG_LEVEL of .env counts');
    first.kill('SIGTERM');
    await first.ended;

    const second = startServer({ env: { ATRIUM_KEY: key, DATABASE_URL: databaseUrl } });
    await second.listening();
    assert.doesNotMatch(second.stdout(), TOKEN, 'the same database, and the same key');
    second.kill('SIGTERM');
    await second.ended;
  });
});

describe('Replicas starting together on an empty database', () => {
  it('Replicas starting together on an empty database print one token in total', async () => {
    const { databaseUrl = '' } = await newPlace('postgres');
    const env = { DATABASE_URL: databaseUrl, ATRIUM_KEY: Buffer.alloc(32, 1).toString('base64') };
    const servers = [startServer({ env }), startServer({ env }), startServer({ env })];
    await Promise.all(servers.map((server) => server.listening()));
    const shown = servers.flatMap((server) => server.stdout().match(TOKEN) ?? []);
    assert.equal(shown.length, 1);
    for (const server of servers) server.kill('SIGTERM');
    for (const server of servers) assert.equal((await server.ended).code, 0);
  });
});
