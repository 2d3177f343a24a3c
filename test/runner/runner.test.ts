import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { itLong } from '../support/checks/long.ts';
import { temporaryFolder } from '../support/server/db.ts';

const FIXTURES = 'test/runner/fixtures';
/** The fixtures need no database, and each run would start a server of its own. */
const WITHOUT_POSTGRES = { TEST_WITHOUT: 'postgresql' };
const WITH_POSTGRES = { TEST_WITHOUT: process.env.TEST_WITHOUT ?? '' };

describe('The test runner', () => {
  it('A failing test fails the run, and is named with its file, its suite and the difference', async () => {
    const { code, output } = await run(['fails', 'passes']).ended;
    assert.equal(code, 1);
    assert.match(output, /^✖ Arithmetic › One and one is three\n {2}test\/runner\/fixtures\/fails\.ts:5\n.*2 !== 3/ms);
    assert.match(output, /^1 tests were skipped; npm run test:long runs the slow ones$/m);
    assert.match(output, /^took \d+ s, \d+ s of processor time$/m);
    assert.match(output, /^1 passed, 1 failed\n$/m);
  });

  it('A folder stands for all the test files in it', async () => {
    const { code, output } = await run(['folder']).ended;
    assert.equal(code, 0);
    assert.match(output, /^1 passed, 0 failed\n$/m);
  });

  it('TEST_CPU lists the processor time of each file', async () => {
    const { output } = await run(['passes'], { TEST_CPU: '1' }).ended;
    assert.match(output, /^ +\d+\.\d s test\/runner\/fixtures\/passes\.ts$/m);
  });

  it('A test that hangs is ended and named, and the files after it still run', async () => {
    const { code, output, pids } = await run(['hangs', 'passes'], { TEST_STALL_MS: '8000' }).ended;
    assert.equal(code, 1);
    assert.match(output, /^✖ A test hangs\n.*nothing happened for 8 s/ms);
    assert.match(output, /^1 passed, 1 failed\n$/m);
    assert.equal(pids().filter(isRunning).length, 0);
  });

  it('A test that ends its process is named, and the files after it still run', async () => {
    const { code, output } = await run(['crashes', 'passes']).ended;
    assert.equal(code, 1);
    assert.match(output, /^✖ A test ends its process\n.*ended with exit code 3/ms);
    assert.match(output, /^1 passed, 1 failed\n$/m);
  });

  it('A test that ends its process with exit code 0 fails the run, and the files after it still run', async () => {
    const { code, output } = await run(['exits', 'passes']).ended;
    assert.equal(code, 1);
    assert.match(output, /^✖ A test exits with 0\n.*ended with exit code 0/ms);
    assert.match(output, /^1 passed, 1 failed\n$/m);
  });

  it('An error that comes after its test fails the run and is shown, with the name of the test', async () => {
    const { code, output, errors } = await run(['late', 'passes']).ended;
    assert.equal(code, 1);
    assert.match(errors, /A test leaves something behind.*this came late/);
    assert.match(output, /the process of the test ended with exit code 1/);
  });

  it('A file that drives a browser has a second attempt, which the end of the run mentions', async () => {
    const { code, output } = await run(['console/fails-once', 'passes']).ended;
    assert.equal(code, 0);
    assert.match(output, /^second attempt, alone: test\/runner\/fixtures\/console\/fails-once\.ts$/m);
    assert.match(output, /^needed a second attempt: test\/runner\/fixtures\/console\/fails-once\.ts$/m);
    assert.match(output, /^2 passed, 0 failed\n$/m);
  });

  it('A file that drives a browser and fails twice fails the run', async () => {
    const { code, output } = await run(['console/fails-once'], { FIXTURE_FAILS: 'always' }).ended;
    assert.equal(code, 1);
    assert.match(output, /^0 passed, 1 failed\n$/m);
  });

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
    const runs = signal === 'SIGKILL' ? it : itLong;
    runs(`A run that ${signal} ends leaves no process and no folder behind`, async () => {
      const { child, ended, folder, pids } = run(['hangs'], WITH_POSTGRES);
      await until(() => pids().length === 2 || child.exitCode !== null);
      const postmaster = globSync(join(folder, '*/*/data/postmaster.pid')).map((path) =>
        Number(readFileSync(path, 'utf8').split('\n')[0]),
      );
      const started = [...pids(), ...postmaster];
      assert.ok(started.length >= 2 && started.every(isRunning));
      child.kill(signal);
      const { output, errors } = await ended;
      if (signal !== 'SIGKILL') assert.match(output, new RegExp(`^stopped by ${signal}$`, 'm'));
      assert.doesNotMatch(errors, /Error/);
      await until(() => !started.some(isRunning) && readdirSync(folder).length === 0);
    });
  }
});

/** Starts the runner on some fixtures, with its own folder for temporary files. */
function run(fixtures: readonly string[], env: Record<string, string> = {}) {
  const folder = temporaryFolder();
  // PostgreSQL may run as another user.
  chmodSync(folder, 0o711);
  const file = join(temporaryFolder(), 'pids');
  const files = fixtures.map((name) => `${FIXTURES}/${name}${name === 'folder' ? '' : '.ts'}`);
  const child = spawn(process.execPath, ['test/runner/main.ts', 'everyday', ...files], {
    env: { ...process.env, TMPDIR: folder, FIXTURE_PIDS: file, ...WITHOUT_POSTGRES, ...env },
    stdio: 'pipe',
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  const pids = () => (existsSync(file) ? readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number) : []);
  const ended = new Promise<{ code: number | null; output: string; errors: string; pids: typeof pids }>((resolve) => {
    child.once('close', (code) => resolve({ code, output, errors, pids }));
  });
  return { child, ended, folder, pids };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A process that has ended but was not waited for yet still accepts signals.
    return !/^State:\s+Z/m.test(existsSync('/proc/self') ? readFileSync(`/proc/${pid}/status`, 'utf8') : '');
  } catch {
    return false;
  }
}

async function until(check: () => boolean): Promise<void> {
  while (!check()) await new Promise((resolve) => setTimeout(resolve, 20));
}
