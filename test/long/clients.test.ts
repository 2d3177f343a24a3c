import assert from 'node:assert/strict';
import { execFile, type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryFolder } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';

const CALLS = resolve('test/long/clients');
const PYTHON = ['python3.14', 'python3.13', 'python3.12', 'python3'].find((name) => run(name, ['--version']).ok);
const GO = run('go', ['version']).ok;

/** Unchanged client libraries of other languages, installed as their users do, against a server in this process. */
describe('Third-party clients', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('Every call of py-gitea works', { skip: PYTHON === undefined && 'python3 is not installed' }, async () => {
    const place = join(temporaryFolder(), 'python');
    assert.ok(run(PYTHON ?? '', ['-m', 'venv', place]).ok, 'python3 -m venv failed');
    mustRun(join(place, 'bin', 'pip'), ['install', '--quiet', 'py-gitea']);
    assertAllWork(await call(join(place, 'bin', 'python'), [join(CALLS, 'calls.py')]));
  });

  it('Every call of the Gitea SDK for Go works', { skip: !GO && 'go is not installed' }, async () => {
    const place = temporaryFolder();
    copyFileSync(join(CALLS, 'calls.go'), join(place, 'main.go'));
    mustRun('go', ['mod', 'init', 'calls'], { cwd: place });
    mustRun('go', ['get', 'code.gitea.io/sdk/gitea@latest'], { cwd: place });
    mustRun('go', ['build', '-o', 'calls', '.'], { cwd: place });
    assertAllWork(await call(join(place, 'calls'), []));
  });

  /** The server is in this process, so the client must not block it. */
  async function call(command: string, args: readonly string[]): Promise<string[]> {
    const { root, ann } = atrium.world.users;
    const env = {
      ...process.env,
      BASE_URL: atrium.url,
      ROOT_TOKEN: root?.token ?? '',
      ANN_TOKEN: ann?.token ?? '',
      ANN_PASSWORD: ann?.password ?? '',
    };
    const output = await new Promise<string>((done) => {
      execFile(command, args, { env }, (error, stdout, stderr) =>
        done(error ? `${stdout}\nno end: ${error.message} ${stderr}` : stdout),
      );
    });
    return output.split('\n').filter((line) => /^(ok|no) /.test(line));
  }
});

function assertAllWork(lines: readonly string[]): void {
  assert.deepEqual(
    lines.filter((line) => !line.startsWith('ok ')),
    [],
  );
  assert.ok(lines.length > 5, `only ${lines.length} calls were tried`);
}

function run(command: string, args: readonly string[], options: SpawnSyncOptions = {}) {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8', ...options });
  return { ok: status === 0, reason: String(error?.message ?? stderr) };
}

function mustRun(command: string, args: readonly string[], options: SpawnSyncOptions = {}): void {
  const { ok, reason } = run(command, args, options);
  assert.ok(ok, `${command} ${args.join(' ')}: ${reason}`);
}
