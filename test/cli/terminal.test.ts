import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { itLong } from '../support/checks/long.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';

const ESCAPE = '\u001b[';
const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;
const skip = hasScript ? false : 'script (util-linux) is not installed';
const PROGRAM = `${process.execPath} ${resolve('bin/atrium.mjs')}`;

describe('CLI on a terminal', { skip }, () => {
  let atrium: TestServer;
  const home = temporaryFolder();
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const token = (name: string) => atrium.world.users[name]?.token ?? '';
  const signedIn = () => ({ ATRIUM_URL: atrium.url, ATRIUM_TOKEN: token('ann'), ATRIUM_ORG: 'acme' });

  /** Types each answer when its question appears. */
  function onTerminal(
    line: string,
    dialogue: readonly (readonly [RegExp, string])[] = [],
    env: Record<string, string> = signedIn(),
  ) {
    const child = spawn('script', ['-qec', line.replaceAll('atrium ', `${PROGRAM} `), '/dev/null'], {
      env: {
        PATH: process.env.PATH ?? '',
        HOME: home,
        TERM: 'xterm',
        XDG_CACHE_HOME: resolve('node_modules/.cache'),
        ...env,
      },
      cwd: home,
    });
    const open = [...dialogue];
    let seen = '';
    let from = 0;
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      seen += chunk;
      const [question, answer] = open[0] ?? [];
      if (!question || answer === undefined || !question.test(seen.slice(from))) return;
      from = seen.length;
      open.shift();
      child.stdin.write(answer);
    });
    return new Promise<{ code: number | null; seen: string }>((done) => {
      child.once('close', (code) => done({ code, seen }));
    });
  }

  itLong('The CLI uses colors on a terminal unless NO_COLOR, TERM=dumb or a pipe turns them off', async () => {
    assert.ok((await onTerminal('atrium role list')).seen.includes(`${ESCAPE}1m`));
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      assert.ok(!(await onTerminal('atrium role list', [], { ...signedIn(), ...env })).seen.includes(ESCAPE));
    }
    assert.ok(!(await onTerminal('atrium role list | cat')).seen.includes(ESCAPE));
  });

  itLong('Tables are truncated to the width of the terminal and complete in a pipe', async () => {
    const narrow = await onTerminal('stty cols 50; atrium team list', [], { ...signedIn(), NO_COLOR: '1' });
    for (const line of narrow.seen.split('\r\n')) assert.ok([...line].length <= 50, line);
    assert.match(narrow.seen, /Owners +owner +1 +0 +May do .*…/);
    assert.match(
      (await onTerminal('stty cols 50; atrium team list | cat')).seen,
      /May do everything in the organization\./,
    );
  });

  itLong('Control characters in exported documents are escaped on a terminal and kept in a pipe', async () => {
    const odd = 'a\u009b31mb\u202ec';
    const made = await atrium.as('ann')('POST', '/authz/roles?org=acme', {
      name: 'odd',
      description: odd,
      permissions: [],
    });
    assert.equal(made.status, 201, made.text);
    for (const line of ['audit --export', 'role export', 'role list --yaml']) {
      const { seen } = await onTerminal(`atrium ${line}`);
      assert.ok(!/[\u0080-\u009f\u202a-\u202e]/.test(seen) && seen.includes('a\\u009b31mb\\u202ec'), line);
    }
    for (const line of ['audit --export', 'role list --yaml']) {
      assert.ok((await onTerminal(`atrium ${line} | cat`)).seen.includes(odd), line);
    }
    await atrium.as('ann')('DELETE', `/authz/roles/${made.body.id}?org=acme`);
  });

  it('A deletion asks for confirmation on a terminal', async () => {
    await onTerminal('atrium team create shortlived');
    const no = await onTerminal('atrium team delete shortlived', [
      [/Delete the team shortlived\? Type yes to confirm: /, 'no\n'],
    ]);
    assert.match(no.seen, /nothing was changed/);
    assert.equal(no.code, 1);
    const yes = await onTerminal('atrium team delete shortlived', [[/Type yes to confirm: /, 'yes\n']]);
    assert.match(yes.seen, /deleted the team shortlived/);
    assert.equal(yes.code, 0);
  });

  itLong('atrium role apply shows the changes and asks for confirmation on a terminal', async () => {
    const text = 'apiVersion: atrium/v1\nkind: Roles\norganization: acme\nroles:\n  - name: fresh\n';
    writeFileSync(join(home, 'roles.yaml'), text);
    const { seen, code } = await onTerminal('atrium role apply -f roles.yaml', [
      [/\+ fresh[\s\S]*Apply 1 change\? Type yes to confirm: /, 'y\n'],
    ]);
    assert.match(seen, /1 created, 0 changed, 0 deleted/);
    assert.equal(code, 0);
  });

  it('atrium login prompts without echoing secrets, and stays signed in without storing the password', async () => {
    const asked = await onTerminal(
      'atrium login --name here',
      [
        [/Server \[.*\]: /, `${atrium.url}\n`],
        [/Access token .*: /, `${token('ann')}\r`],
      ],
      {},
    );
    assert.equal(asked.code, 0, asked.seen);
    assert.ok(!asked.seen.includes(token('ann')));
    const password = atrium.world.users.cat?.password ?? '';
    const dialogue = [
      [/Access token .*: /, '\r'],
      [/User: /, 'cat\n'],
      [/Password: /, `${password}\r`],
    ] as const;
    const withPassword = await onTerminal(`atrium login ${atrium.url} --name cats`, dialogue, {});
    assert.equal(withPassword.code, 0, withPassword.seen);
    assert.ok(!withPassword.seen.includes(password));
    assert.match((await onTerminal('atrium whoami', [], { NO_COLOR: '1' })).seen, /login: +cat/);
    assert.doesNotMatch(readFileSync(join(home, '.config/atrium/config.json'), 'utf8'), new RegExp(password));
  });

  it('Ctrl-C at a prompt ends the CLI with exit code 130 and no error message', async () => {
    for (const question of [
      ['atrium login', /Server/],
      [`atrium login ${'http://127.0.0.1:3000'}`, /Access token/],
    ] as const) {
      const { seen, code } = await onTerminal(question[0], [[question[1], '\u0003']], {});
      assert.doesNotMatch(seen, /Error|at .*\.ts|internal error/);
      assert.equal(code, 130);
    }
  });
});

describe('CLI in a pipe', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('The CLI exits with 0 when the reader of its pipe closes early', async () => {
    const env = {
      PATH: process.env.PATH ?? '',
      ATRIUM_URL: atrium.url,
      ATRIUM_TOKEN: atrium.world.users.root?.token ?? '',
      HOME: temporaryFolder(),
    };
    const line = `${PROGRAM} follow list --followers --json | head -n 1; echo "\${PIPESTATUS[0]}"`;
    const child = spawn('bash', ['-c', line], { env });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    await new Promise((done) => child.once('close', done));
    assert.equal(stdout, '[\n0\n');
    assert.equal(stderr, '');
  });
});
