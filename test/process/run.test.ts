import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { describeLong, itLong } from '../support/checks/long.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { occupyPort } from '../support/services/ports.ts';

/** Replaces npm: records that it was called, and installs a Node by linking this one. */
const NPM = `
const fs = require('node:fs');
fs.appendFileSync('npm.log', process.argv.slice(2).join(' ') + '\\n');
if (process.env.NPM_FAILS) process.exit(7);
fs.rmSync('node_modules', { recursive: true, force: true });
fs.mkdirSync('node_modules/.bin', { recursive: true });
fs.symlinkSync(${JSON.stringify(process.execPath)}, 'node_modules/.bin/node');
`;
const MAIN = `
process.on('SIGTERM', () => { console.log('got SIGTERM'); process.exit(5); });
console.log('main ' + process.argv.slice(2).join(' '));
if (process.argv[2] === 'wait') setInterval(() => {}, 1000); else process.exit(Number(process.argv[2] ?? 0));
`;

const MARKS: string = new URL('../../scripts/build-marks.mjs', import.meta.url).href;
const { bundleOf } = (await import(MARKS)) as { bundleOf(root: string): string };

describe('scripts/run.mjs', () => {
  let clone = '';
  const path = (name: string) => join(clone, name);
  const installs = () =>
    existsSync(path('npm.log')) ? readFileSync(path('npm.log'), 'utf8').split('\n').length - 1 : 0;
  const environment = () => ({ PATH: process.env.PATH, npm_execpath: path('npm.js'), PORT: '0' });
  const run = (args: string[], env = {}) =>
    spawnSync(process.execPath, ['scripts/run.mjs', ...args], {
      cwd: clone,
      encoding: 'utf8',
      env: { ...environment(), ...env },
    });

  beforeEach(() => {
    clone = temporaryFolder();
    for (const name of ['scripts', 'src', 'packages/rebac/src']) mkdirSync(path(name), { recursive: true });
    for (const name of ['run.mjs', 'build-marks.mjs', 'debian-packages.mjs']) {
      cpSync(join('scripts', name), path(`scripts/${name}`));
    }
    writeFileSync(path('src/main.ts'), MAIN);
    writeFileSync(path('package-lock.json'), '{}');
    writeFileSync(path('npm.js'), NPM);
  });

  it('scripts/run.mjs installs dependencies on the first run only and reports it', () => {
    const first = run(['src/main.ts']);
    assert.equal(first.status, 0, first.stderr);
    assert.match(first.stderr, /node_modules is missing: running npm ci/);
    assert.match(readFileSync(path('npm.log'), 'utf8'), /^ci --include=dev/);
    const second = run(['src/main.ts']);
    assert.equal(second.stderr, '');
    assert.equal(installs(), 1);
  });

  it('scripts/run.mjs reports a port in use before it installs anything', async (test) => {
    const { port, close } = await occupyPort();
    test.after(close);
    const taken = `atrium: port ${port} of 127.0.0.1 is in use; stop the program that uses it, or choose another with PORT\n`;
    const fromEnvironment = run(['src/main.ts'], { PORT: String(port) });
    assert.deepEqual([fromEnvironment.status, fromEnvironment.stderr, installs()], [1, taken, 0]);
    writeFileSync(path('.env'), `PORT="${port}"\n`);
    const fromFile = run(['src/main.ts', 'demo'], { PORT: undefined });
    assert.deepEqual([fromFile.status, fromFile.stderr, installs()], [1, taken, 0]);
    assert.equal(run(['src/main.ts'], { PORT: '0' }).status, 0);
  });

  itLong('scripts/run.mjs installs what only tests and benchmarks need for these, and for nothing else', () => {
    mkdirSync(path('test'));
    mkdirSync(path('bench'));
    writeFileSync(path('test/package-lock.json'), '{}');
    writeFileSync(path('bench/main.ts'), MAIN);
    assert.equal(run(['src/main.ts', '0', 'test/x']).status, 0);
    assert.ok(!existsSync(path('test/node_modules')));
    const bench = run(['--expose-gc', 'bench/main.ts', '0']);
    assert.match(bench.stderr, /^atrium: test\/node_modules is missing: running npm ci$/m);
    assert.ok(existsSync(path('test/node_modules/.installed')));
    assert.equal(run(['bench/main.ts', '0']).stderr, '');
  });

  itLong(
    'scripts/run.mjs tells tests what npm start runs, but not those of the long suite, which may change the sources',
    () => {
      mkdirSync(path('test/runner'), { recursive: true });
      writeFileSync(path('test/package-lock.json'), '{}');
      writeFileSync(path('test/runner/main.ts'), "console.log('server ' + process.env.TEST_SERVER);");
      assert.match(run(['test/runner/main.ts', 'everyday']).stdout, /^server src\/main\.ts$/m);
      writeFileSync(path('scripts/server.mjs'), '');
      mkdirSync(path('node_modules/rolldown'));
      mkdirSync(bundleOf(clone), { recursive: true });
      writeFileSync(join(bundleOf(clone), 'main.js'), '');
      assert.match(run(['test/runner/main.ts', 'everyday']).stdout, /^server \S+\.cache\/server\/\w{16}\/main\.js$/m);
      assert.match(run(['test/runner/main.ts', 'long']).stdout, /^server undefined$/m);
    },
  );

  itLong('scripts/run.mjs reinstalls after a lock file change or an unfinished install', () => {
    run(['src/main.ts']);
    writeFileSync(path('package-lock.json'), '{ }');
    assert.match(run(['src/main.ts']).stderr, /package-lock\.json or the platform changed/);
    rmSync(path('node_modules/.installed'));
    assert.match(run(['src/main.ts']).stderr, /not installed by this script, or not completely/);
    assert.equal(installs(), 3);
  });

  itLong('scripts/run.mjs reinstalls when the pinned Node is missing or broken', () => {
    run(['src/main.ts']);
    rmSync(path('node_modules/.bin/node'));
    assert.match(run(['src/main.ts']).stderr, /the pinned Node does not start/);
    rmSync(path('node_modules/.bin/node'));
    writeFileSync(path('node_modules/.bin/node'), 'of another platform');
    chmodSync(path('node_modules/.bin/node'), 0o755);
    assert.match(run(['src/main.ts']).stderr, /the pinned Node does not start/);
    assert.equal(installs(), 3);
  });

  itLong('scripts/run.mjs stops when the install fails and retries on the next run', () => {
    const failed = run(['src/main.ts'], { NPM_FAILS: '1' });
    assert.equal(failed.status, 7);
    assert.match(failed.stderr, /npm ci failed/);
    assert.equal(run(['src/main.ts']).status, 0);
  });

  it('scripts/run.mjs passes on arguments and the exit code', () => {
    const { status, stdout } = run(['src/main.ts', '3', 'more']);
    assert.equal(stdout, 'main 3 more\n');
    assert.equal(status, 3);
  });

  it('scripts/run.mjs forwards signals', async () => {
    run(['src/main.ts']);
    const child = spawn(process.execPath, ['scripts/run.mjs', 'src/main.ts', 'wait'], {
      cwd: clone,
      env: environment(),
    });
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
      if (said === 'main wait\n') child.kill('SIGTERM');
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    assert.equal(said, 'main wait\ngot SIGTERM\n');
    assert.equal(code, 5);
  });

  itLong('scripts/run.mjs starts a bundle of the present sources, or the sources if there is none', () => {
    run(['src/main.ts']);
    mkdirSync(path('node_modules/rolldown'));
    // Replaces the bundler: the bundle says what the sources were when it was made.
    writeFileSync(
      path('scripts/server.mjs'),
      `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { bundleOf } from './build-marks.mjs';
if (process.env.BUNDLER_FAILS) process.exit(1);
mkdirSync(bundleOf(process.cwd()), { recursive: true });
writeFileSync(bundleOf(process.cwd()) + '/main.js', 'console.log("bundle of ' + readFileSync('src/main.ts', 'utf8').length + '")');`,
    );
    const bundled = (text: string) => `bundle of ${text.length}\n`;
    assert.equal(run(['src/main.ts']).stdout, bundled(MAIN));
    assert.equal(run(['src/main.ts'], { BUNDLER_FAILS: '1' }).stdout, bundled(MAIN));
    writeFileSync(path('src/main.ts'), `${MAIN}\n`);
    const failed = run(['src/main.ts', '4'], { BUNDLER_FAILS: '1' });
    assert.deepEqual([failed.status, failed.stdout], [4, 'main 4\n']);
    assert.match(failed.stderr, /the server cannot be bundled; see the output above\. It runs from its sources/);
    assert.equal(run(['src/main.ts']).stdout, bundled(`${MAIN}\n`));
  });

  describeLong('With the command line', () => {
    const PROGRAM = `
const { ATRIUM_CALLER_DIR } = process.env;
console.log(JSON.stringify({ cwd: process.cwd(), caller: ATRIUM_CALLER_DIR, node: process.execPath }));
`;
    const shown = ({ stdout }: { stdout: string }) => JSON.parse(stdout) as Record<string, string>;
    beforeEach(() => {
      mkdirSync(path('bin'));
      writeFileSync(path('bin/atrium.mjs'), PROGRAM);
    });

    it('scripts/run.mjs tells the command line where npm was started, and nothing else', () => {
      const done = run(['bin/atrium.mjs', 'role', 'apply'], { INIT_CWD: '/somewhere' });
      const { cwd, caller } = shown(done);
      assert.deepEqual([cwd, caller], [realpathSync(clone), '/somewhere'], done.stderr);
      writeFileSync(path('src/main.ts'), PROGRAM);
      assert.equal(shown(run(['src/main.ts'], { INIT_CWD: '/somewhere' })).caller, undefined);
    });

    it('scripts/run.mjs installs nothing for the command line of a production build', () => {
      mkdirSync(path('dist'));
      writeFileSync(path('dist/cli.js'), '');
      mkdirSync(path('node_modules/pg'), { recursive: true });
      const done = run(['bin/atrium.mjs', 'backup', 'b.tar.gz'], { INIT_CWD: '/somewhere', NPM_FAILS: '1' });
      assert.equal(done.status, 0, done.stderr);
      assert.deepEqual([done.stderr, installs(), existsSync(path('node_modules/pg'))], ['', 0, true]);
      assert.deepEqual([shown(done).caller, shown(done).node], ['/somewhere', process.execPath]);
      // With the tools of a clone, it is one.
      mkdirSync(path('node_modules/typescript'));
      assert.match(run(['bin/atrium.mjs', 'version']).stderr, /running npm ci/);
    });

    it('scripts/run.mjs still installs for the command line of a clone that was built', () => {
      mkdirSync(path('dist'));
      writeFileSync(path('dist/cli.js'), '');
      assert.match(run(['bin/atrium.mjs', 'version']).stderr, /node_modules is missing: running npm ci/);
    });
  });

  it('scripts/run.mjs without a file says where the jobs are', () => {
    const { status, stderr } = run([]);
    assert.equal(status, 1);
    assert.match(stderr, /The jobs are in package\.json/);
  });

  it('every npm script runs a file that exists', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
    const jobs = scripts;
    for (const [name, script] of Object.entries(jobs)) {
      const file = script.match(/^exec "\$npm_node_execpath" scripts\/run\.mjs (?:--\S+ )*(\S+)/)?.[1] ?? '';
      assert.ok(existsSync(file), `${name}: ${script}`);
    }
  });

  itLong('npm run bench without a name lists every bench', () => {
    const { status, stderr } = spawnSync(process.execPath, ['bench/main.ts'], { encoding: 'utf8' });
    assert.equal(status, 2);
    const listed = [...stderr.matchAll(/^ {2}(\S+)/gm)].map(([, name]) => `${name}.ts`);
    assert.deepEqual(
      listed.sort(),
      globSync('*.ts', { cwd: 'bench' })
        .filter((file) => file !== 'main.ts')
        .sort(),
    );
  });
});
