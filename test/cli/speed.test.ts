import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { relative, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { IS_LONG } from '../counts.ts';
import { temporaryFolder } from '../support/server/db.ts';

const PROGRAM = resolve('bin/atrium.mjs');
/** Prints at exit what was loaded: files, and Node's own modules. */
const TRACE = `
  import { registerHooks } from 'node:module';
  const files = [];
  registerHooks({ load: (url, context, next) => (url.startsWith('file:') && files.push(url), next(url, context)) });
  process.on('exit', () => process.stderr.write(JSON.stringify({ files, modules: process.moduleLoadList })));`;

const surroundings = () => ({
  PATH: process.env.PATH ?? '',
  HOME: temporaryFolder(),
  XDG_CACHE_HOME: resolve('node_modules/.cache'),
});

/** `npm run bench -- cli` measures. This test notices if something heavy is loaded at the start. */
describe('Start of the CLI', () => {
  it('The CLI loads few files for a command, none of a package or of the server, and not the fetch of Node', async () => {
    const server = createServer((_request, reply) => {
      reply.setHeader('Content-Type', 'application/json').end('[]');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      for (const args of [['--help'], ['team', 'list', '--json']]) {
        const { stdout, stderr } = await promisify(execFile)(
          process.execPath,
          ['--import', `data:text/javascript,${encodeURIComponent(TRACE)}`, PROGRAM, ...args],
          { env: { ...surroundings(), ATRIUM_URL: url, ATRIUM_TOKEN: 'x', ATRIUM_ORG: 'acme' } },
        );
        assert.notEqual(stdout, '');
        const loaded: { files: string[]; modules: string[] } = JSON.parse(stderr);
        const files = loaded.files.map((file) => relative('.', fileURLToPath(file)));
        assert.ok(files.includes('cli/main.ts'));
        assert.deepEqual(
          files.filter((file) => !/^(bin|cli|client)\//.test(file)),
          [],
        );
        assert.ok(files.length <= 40, `${files.length} files for atrium ${args.join(' ')}`);
        assert.deepEqual(
          loaded.modules.filter((name) => /undici/.test(name)),
          [],
        );
      }
    } finally {
      server.close();
    }
  });

  it('The CLI starts in less than five times the time of bare Node', {
    skip: !IS_LONG && 'only in npm run test:long',
  }, () => {
    const env = surroundings();
    const quickest = (args: readonly string[]) =>
      Math.min(
        ...Array.from({ length: 7 }, () => {
          const started = performance.now();
          assert.equal(spawnSync(process.execPath, args, { env }).status, 0);
          return performance.now() - started;
        }),
      );
    quickest([PROGRAM, '--help']);
    const [bare, program] = [quickest(['-e', '0']), quickest([PROGRAM, '--help'])];
    assert.ok(program < 5 * bare, `${program.toFixed(0)} ms, a bare Node ${bare.toFixed(0)} ms`);
  });
});
