import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { newPlace, temporaryFolder } from '../support/db.ts';
import { newNats } from '../support/nats.ts';
import { startServer, surroundings } from '../support/process.ts';

const SEED = /\bS[AOUNC][A-Z2-7]{56}\b/;

function atrium(args: readonly string[], env: Readonly<Record<string, string>>) {
  return spawnSync(process.execPath, [resolve('src/cli.ts'), ...args], {
    cwd: temporaryFolder(),
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...surroundings(), PORT: '0', ADMIN_PORT: '0', ...env },
  });
}

describe('atrium bus config', () => {
  it('atrium bus config prints a stable configuration that a NATS server starts with', async () => {
    const nats = await newNats();
    const { databaseUrl = '', dataDir } = await newPlace('postgres');
    const env = { ...nats.env, DATABASE_URL: databaseUrl, DATA_DIR: dataDir };
    const first = atrium(['bus', 'config', '--dir', nats.folder], env);
    assert.equal(first.status, 0, first.stderr);
    assert.doesNotMatch(first.stdout + first.stderr, SEED);
    assert.match(first.stdout, new RegExp(`store_dir: "${nats.folder}/jetstream"`));
    await nats.start(first.stdout);
    await nats.kill();
    assert.equal(atrium(['bus', 'config', '--dir', nats.folder], env).stdout, first.stdout);
  });

  it('atrium bus config prints the same with and without a server running on the built-in database', async () => {
    const { dataDir } = await newPlace('pglite');
    const env = { DATA_DIR: dataDir };
    const server = startServer({ env });
    await server.listening();
    const asked = atrium(['bus', 'config', '--dir', '/srv/bus'], env);
    assert.equal(asked.status, 0, asked.stderr);
    assert.match(asked.stdout, /^operator: eyJ/m);
    assert.match(asked.stdout, /store_dir: "\/srv\/bus\/jetstream"/);
    assert.match(asked.stdout, /No websocket: set BUS_WS_URL/);
    server.kill('SIGTERM');
    await server.ended;
    const alone = atrium(['bus', 'config', '--dir', '/srv/bus'], env);
    assert.equal(alone.stdout, asked.stdout);
  });

  it('atrium bus config explains wrong usage and rejects an invalid BUS_URL', () => {
    for (const args of [['bus'], ['bus', 'configuration']]) {
      const { status, stdout, stderr } = atrium(args, {});
      assert.equal(status, 2);
      assert.equal(stdout, '');
      assert.match(stderr, /^atrium: bus needs a word more: atrium bus config \[--dir FOLDER\]$/m);
    }
    const { status, stderr } = atrium(['bus', 'config', '--nonsense'], {});
    assert.equal(status, 2);
    assert.match(stderr, /^atrium: Unknown option '--nonsense'/m);
    assert.match(atrium(['bus', 'config'], { BUS_URL: 'http://x' }).stderr, /BUS_URL must be a URL/);
  });
});
