import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createFirstAdministrator } from '../../src/operations/first-start.ts';
import { COUNTS } from '../counts.ts';
import { describeLong, itLong } from '../support/checks/long.ts';
import { until } from '../support/checks/until.ts';
import { newPlace, temporaryFolder } from '../support/server/db.ts';
import { get, startServer } from '../support/server/process.ts';
import { reopen } from '../support/server/reopen.ts';
import { TEST_KEY } from '../support/server/server.ts';
import { lacks } from '../support/services/requirements.ts';

const TOKEN = /atr_[0-9A-Za-z]{33}/g;
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('Starting on an empty folder', () => {
  const cwd = temporaryFolder();
  const dataDir = join(temporaryFolder(), 'data');
  let token = '';

  it('The first start creates a database, keys and root, and prints a working token once', async () => {
    writeFileSync(join(cwd, 'folder'), `${dataDir}\n`);
    writeFileSync(join(cwd, '.env'), `DATA_DIR_FILE=${join(cwd, 'folder')}\nLOG_LEVEL=error\nWORKERS=3\n`);
    const server = startServer({ cwd });
    const address = await server.listening();
    assert.match(address, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.match(server.stdout(), /creating the database in .*, this takes a few seconds/);
    assert.match(server.stdout(), /^WORKERS=3 needs PostgreSQL .*: only one process can open the built-in database/m);
    const shown = [...new Set(server.stdout().match(TOKEN))];
    assert.equal(shown.length, 1, 'one token is shown');
    assert.ok(server.stdout().includes(`  ${address}/welcome#token=${shown[0]}\n`), 'and a link with it');
    assert.equal(server.stderr(), '', 'nothing below the LOG_LEVEL of .env');
    token = shown[0] ?? '';

    const answer = await get(`${address}/api/v1/user`, token);
    assert.equal(answer.status, 200);
    const { login, is_admin } = (await answer.json()) as { login: string; is_admin: boolean };
    assert.deepEqual({ login, is_admin }, { login: 'root', is_admin: true });
    server.kill('SIGKILL');
    assert.equal((await server.ended).signal, 'SIGKILL');
  });

  it('A setting is read from .env and from the file that NAME_FILE names', () => {
    assert.equal(modeOf(dataDir), '700');
    assert.equal(modeOf(join(dataDir, 'atrium.key')), '600');
  });

  it('The database of a killed server opens again, prints no second token, and accepts the first one', async () => {
    const atrium = await reopen({ dataDir });
    await createFirstAdministrator(atrium, '', (line) => assert.fail(line));
    assert.equal((await get(`${await atrium.listen()}/api/v1/user`, token)).status, 200);
    await atrium.close(0);
  });
});

describeLong('A first start that is killed', { skip: lacks('postgresql') }, () => {
  it('A first start that is killed at any moment can be repeated, and keeps one key', async () => {
    for (let kill = 0; kill < COUNTS.firstStartKills; kill++) {
      const { dataDir, databaseUrl = '' } = await newPlace('postgres');
      const env = { DATA_DIR: dataDir, DATABASE_URL: databaseUrl };
      const lines = 1 + ((kill * 7) % 18);
      const killed = startServer({ env });
      await until(() => killed.stdout().split('\n').length > lines || /listening/.test(killed.stdout()));
      killed.kill('SIGKILL');
      await killed.ended;
      const atrium = await reopen({ dataDir, databaseUrl });
      const said: string[] = [];
      await createFirstAdministrator(atrium, '', (line) => said.push(line));
      const token = (killed.stdout() + said.join('\n')).match(TOKEN)?.at(-1);
      assert.equal((await get(`${await atrium.listen()}/api/v1/user`, token)).status, 200, `after ${lines} lines`);
      await atrium.close(0);
      assert.deepEqual(
        readdirSync(dataDir).filter((name) => name.startsWith('atrium.key')),
        ['atrium.key'],
      );
    }
  });
});

describe('Replicas starting together on an empty database', { skip: lacks('postgresql') }, () => {
  it('Two instances that open an empty database at once create one administrator', async () => {
    const place = await newPlace('postgres');
    const both = await Promise.all([reopen(place, { ATRIUM_KEY: TEST_KEY }), reopen(place, { ATRIUM_KEY: TEST_KEY })]);
    const said: string[] = [];
    await Promise.all(both.map((atrium) => createFirstAdministrator(atrium, '', (line) => said.push(line))));
    assert.equal(new Set(said.join('\n').match(TOKEN)).size, 1);
    for (const atrium of both) await atrium.close(0);
  });

  itLong('Replicas starting together on an empty database print one token in total', async () => {
    const { databaseUrl = '' } = await newPlace('postgres');
    const env = { DATABASE_URL: databaseUrl, ATRIUM_KEY: TEST_KEY };
    const servers = Array.from({ length: COUNTS.startingReplicas }, () => startServer({ env }));
    await Promise.all(servers.map((server) => server.listening()));
    const shown = servers.flatMap((server) => [...new Set(server.stdout().match(TOKEN))]);
    assert.equal(shown.length, 1);
    for (const [index, server] of servers.entries()) server.kill(index === 0 ? 'SIGINT' : 'SIGTERM');
    for (const server of servers) assert.equal((await server.ended).code, 0);
  });
});

describe('The memory of a server that has just started', { skip: lacks('postgresql') }, () => {
  itLong('An idle server on PostgreSQL uses less than 150 MiB, also when it starts for the first time', async () => {
    const { databaseUrl = '' } = await newPlace('postgres');
    const server = startServer({ env: { DATABASE_URL: databaseUrl, ATRIUM_KEY: TEST_KEY, NODE_COMPILE_CACHE: '' } });
    assert.equal((await get(`${await server.listening()}/api/v1/version`)).status, 200);
    const kib = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]);
    assert.ok(kib < 150 * 1024, `${Math.round(kib / 1024)} MiB`);
    server.kill('SIGTERM');
    assert.equal((await server.ended).code, 0, server.stderr());
  });
});
