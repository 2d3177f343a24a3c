import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { nodeFault } from '../../src/base/node-version.ts';
import { describeLong } from '../support/checks/long.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { get, startServer } from '../support/server/process.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';

const run = promisify(execFile);

/** A Node on this system that is too old, if there is one. */
const OLDER = ['/usr/local/bin/node', '/usr/bin/node'].find((node) => {
  const { stdout, status } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return status === 0 && nodeFault(stdout.slice(1).trim()) !== undefined;
});

interface LockFile {
  readonly packages: Record<string, { readonly dev?: boolean; readonly optional?: boolean }>;
}

describeLong('npm run build', () => {
  it('npm run build produces plain JavaScript that serves with production dependencies only', async () => {
    // Other tests read the console meanwhile.
    const built = spawnSync(process.execPath, ['scripts/build.mjs', '--keep-console'], { encoding: 'utf8' });
    assert.equal(built.status, 0, built.stdout + built.stderr);
    const image = temporaryFolder();
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
    const packages = Object.entries(lock.packages)
      .filter(([path, { dev, optional }]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && !dev && !optional)
      .map(([path]) => path);
    for (const name of ['dist', 'bin', 'console', 'migrations', 'openapi', 'package.json']) {
      cpSync(name, join(image, name), { recursive: true });
    }
    for (const path of packages) {
      mkdirSync(dirname(join(image, path)), { recursive: true });
      symlinkSync(resolve(path), join(image, path));
    }

    const { place } = await newDemoPlace('pglite');
    const main = join(image, 'bin/atrium.mjs');
    const settings = {
      DATA_DIR: place.dataDir,
      ATRIUM_KEY: TEST_KEY,
      NODE_ENV: 'production',
      // A package finds only those that are linked next to it.
      NODE_PRESERVE_SYMLINKS: '1',
      // This copy is never started again.
      NODE_DISABLE_COMPILE_CACHE: '1',
    };
    const server = startServer({ main, args: ['serve'], env: settings });
    const address = await server.listening();
    const version = await get(`${address}/api/v1/version`);
    assert.equal(version.status, 200);
    assert.match(((await version.json()) as { version: string }).version, /^v\d+\.\d+\.\d+$/);
    assert.match(await (await get(`${address}/`)).text(), /<html/);
    assert.equal((await get(`${address}/api/v1/docs`)).status, 200);
    assert.match(await (await get(`${address}/api/v1/openapi.yaml`)).text(), /^openapi: 3\.1\.0$/m);
    const env = {
      PATH: process.env.PATH,
      NODE_PRESERVE_SYMLINKS: '1',
      HOME: image,
      ATRIUM_URL: address,
      ATRIUM_TOKEN: 'atr_none',
    };
    const atrium = (...args: string[]) => run(process.execPath, [join(image, 'bin/atrium.mjs'), ...args], { env });
    assert.match((await atrium('version')).stdout, /^program: +v\d.*\n.*\nserver: +v\d/);
    await assert.rejects(atrium('whoami'), /invalid username, password or token/);
    server.kill('SIGTERM');
    assert.equal((await server.ended).code, 0);

    for (const program of OLDER === undefined ? [] : ['bin/atrium.mjs', 'dist/main.js', 'dist/cli.js']) {
      const refused = spawnSync(OLDER ?? '', [join(image, program), 'serve'], { encoding: 'utf8', env });
      assert.equal(refused.status, 2, program);
      assert.match(
        refused.stderr,
        /^atrium: Node 24\.7\.0 or newer is required, this is v\d+\.\d+\.\d+[^\n]*\n$/,
        program,
      );
    }
  });
});
