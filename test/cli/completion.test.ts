import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { CATALOGUE } from '../../cli/catalogue.ts';
import { type Cli, cliAs, openCli } from '../support/server/cli.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';

const execute = promisify(execFile);
const lacksShell = (shell: string) => spawnSync(shell, ['-c', 'true']).status !== 0 && `${shell} is not installed`;

describe('Shell completion', () => {
  let atrium: TestServer;
  let ann: Cli;
  let folder: string;
  before(async () => {
    folder = temporaryFolder();
    atrium = await openTestServer();
    ann = cliAs(atrium, 'ann');
    const program = join(folder, 'atrium');
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${resolve('bin/atrium.mjs')}" "$@"\n`);
    chmodSync(program, 0o755);
    writeFileSync(join(folder, 'roles.yaml'), '');
  });
  after(() => atrium.close());

  const words = async (...typed: string[]) =>
    (await ann(['__complete', ...typed])).stdout
      .split('\n')
      .map((line) => line.split('\t')[0])
      .slice(0, -1);

  it('Completion offers commands, options, choices and names', async () => {
    assert.deepEqual(await words(''), Object.keys(CATALOGUE));
    assert.deepEqual(await words('wh'), ['whoami', 'who-can']);
    assert.deepEqual(await words('email', ''), ['list', 'add', 'delete']);
    assert.deepEqual(await words('robot', 'token', 'c'), ['create']);
    assert.deepEqual(await words('can', '--w'), ['--why', '--watch']);
    assert.deepEqual(await words('team', 'create', 'x', '--permission', 'r'), ['read']);
    assert.deepEqual(await words('completion', ''), ['bash', 'zsh', 'fish']);
    assert.deepEqual(await words('role', 'show', ''), ['cluster-operator']);
    assert.deepEqual(await words('credential', 'show', 'ann-g'), ['ann-gcp']);
    assert.deepEqual(await words('team', 'list', '--org', ''), ['acme']);
    assert.deepEqual(await words('can', 'robot:'), ['robot:ci']);
    assert.deepEqual(await words('can', 'ann', 'conn'), ['connect', 'connect_clusters']);
    assert.deepEqual(await words('can', 'ann', 'connect', 'cl'), ['cluster:']);
    assert.deepEqual(await words('can', 'ann', 'connect', 'cluster:'), ['cluster:prod', 'cluster:staging']);
    assert.deepEqual(await words('role', 'apply', '--file', ''), [':files']);
  });

  it('Completion offers whom a role can be assigned to, and on what', async () => {
    const assign = ['role', 'assign', 'cluster-operator'];
    assert.deepEqual(await words(...assign, '--to', ''), ['user:', 'team:', 'robot:']);
    assert.deepEqual(await words(...assign, '--to', 'robot:'), ['robot:ci']);
    assert.deepEqual(await words(...assign, '--to', 'user:d'), ['user:dan']);
    assert.deepEqual(await words(...assign, '--on', 'cl'), ['cluster_set:', 'cluster:']);
    assert.deepEqual(await words(...assign, '--on', 'cluster:p'), ['cluster:prod']);
    assert.deepEqual(await words(...assign, '--on', 'cluster_set:'), []);
    const edited = await ann('cluster edit prod --cluster-set eu');
    assert.equal(edited.code, 0, edited.stderr);
    assert.deepEqual(await words(...assign, '--on', 'cluster_set:'), ['cluster_set:eu']);
  });

  it('Completion offers the options of the command that a group runs by default', async () => {
    assert.deepEqual(await words('assignments', ''), ['list', 'show', 'edit', 'delete']);
    assert.deepEqual(await words('assignments', '--ex'), ['--expires-before']);
    assert.deepEqual(await words('assignments', '--role', 'clu'), ['cluster-operator']);
    assert.deepEqual(await words('assignments', '--to', 'user:ann', '--on', 'cluster:p'), ['cluster:prod']);
    assert.deepEqual(await words('role', '--f'), []);
  });

  it('Completion prints nothing for an unknown command or when nobody is signed in', async () => {
    assert.deepEqual(await words('nonsense', ''), []);
    const stranger = openCli();
    assert.deepEqual(await stranger(['__complete', 'role', 'show', '']), {
      code: 0,
      signal: null,
      stdout: '',
      stderr: '',
    });
  });

  const inShell = (shell: string, args: string[]) => {
    const token = atrium.world.users.ann?.token ?? '';
    const env = {
      PATH: `${folder}:${process.env.PATH}`,
      HOME: folder,
      ATRIUM_URL: atrium.url,
      ATRIUM_TOKEN: token,
      ATRIUM_ORG: 'acme',
    };
    return execute(shell, args, { env, cwd: folder });
  };
  const inBash = async (...typed: string[]) => {
    const list = typed.map((word) => `'${word}'`).join(' ');
    const script = `set -e; source <(atrium completion bash); COMP_WORDS=(${list}); COMP_CWORD=${typed.length - 1}; _atrium; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = await inShell('bash', ['--norc', '-c', script]);
    assert.equal(stderr, '');
    return stdout.trimEnd().split('\n');
  };

  it('Completion works in bash', { skip: lacksShell('bash') }, async () => {
    assert.deepEqual(await inBash('atrium', 'wh'), ['whoami', 'who-can']);
    assert.deepEqual(await inBash('atrium', 'role', 'show', 'clu'), ['cluster-operator']);
    assert.deepEqual(await inBash('atrium', 'role', 'apply', '-f', 'ro'), ['roles.yaml']);
    assert.deepEqual(await inBash('atrium', 'nonsense', ''), ['']);
  });

  it('The completion script loads in zsh', { skip: lacksShell('zsh') }, async () => {
    const script = 'autoload -Uz compinit && compinit -u -D; source <(atrium completion zsh); whence -w _atrium';
    assert.match((await inShell('zsh', ['-f', '-c', script])).stdout, /_atrium: function/);
  });

  it('Completion works in fish', { skip: lacksShell('fish') }, async () => {
    const script = 'atrium completion fish | source; complete --do-complete "atrium wh"';
    assert.match((await inShell('fish', ['--no-config', '-c', script])).stdout, /^whoami\t/m);
  });
});
