import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { newPlace, temporaryFolder } from '../support/db.ts';
import { get, startServer } from '../support/process.ts';

const run = promisify(execFile);

interface LockFile {
  readonly packages: Record<string, { readonly dev?: boolean; readonly optional?: boolean }>;
}

describe('npm run build', () => {
  it('npm run build produces plain JavaScript that serves with production dependencies only', async () => {
    const built = spawnSync(process.execPath, ['scripts/build.mjs'], { encoding: 'utf8' });
    assert.equal(built.status, 0, built.stdout + built.stderr);
    const image = temporaryFolder();
    for (const name of ['dist', 'bin', 'console', 'migrations', 'package.json']) {
      cpSync(name, join(image, name), { recursive: true });
    }
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
    for (const [path, { dev, optional }] of Object.entries(lock.packages)) {
      if (/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && !dev && !optional) {
        cpSync(path, join(image, path), { recursive: true });
      }
    }

    const place = await newPlace('pglite');
    const main = join(image, 'dist/main.js');
    const server = startServer({ main, env: { DATA_DIR: place.dataDir, NODE_ENV: 'production' } });
    const address = await server.listening();
    const version = await get(`${address}/api/v1/version`);
    assert.equal(version.status, 200);
    assert.match(((await version.json()) as { version: string }).version, /^v\d+\.\d+\.\d+$/);
    assert.match(await (await get(`${address}/`)).text(), /<html/);
    assert.equal((await get(`${address}/api/v1/docs`)).status, 200);
    const env = { PATH: process.env.PATH, HOME: image, ATRIUM_URL: address, ATRIUM_TOKEN: 'atr_none' };
    const atrium = (...args: string[]) => run(process.execPath, [join(image, 'bin/atrium.mjs'), ...args], { env });
    assert.match((await atrium('version')).stdout, /^program: +v\d.*\n.*\nserver: +v\d/);
    await assert.rejects(atrium('whoami'), /invalid username, password or token/);
    server.kill('SIGTERM');
    assert.equal((await server.ended).code, 0);
  });
});
