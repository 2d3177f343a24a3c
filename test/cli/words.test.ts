import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { type Cli, cliAs, configFile, openCli } from '../support/server/cli.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';

describe('The words of a command line', () => {
  let atrium: TestServer;
  let ann: Cli;
  before(async () => {
    atrium = await openTestServer();
    ann = cliAs(atrium, 'ann');
  });
  after(() => atrium.close());

  const SAME: readonly (readonly [usual: string, other: string])[] = [
    ['cluster list --org acme', '--org acme cluster list'],
    ['cluster list --org acme', 'cluster --org acme list'],
    ['cluster list --org=acme -o name', '-o name --org=acme cluster list'],
    ['cluster list', 'cluster ls'],
    ['team show operators', 'team get operators'],
    ['team show operators', 'team describe operators'],
    ['guardrail list', 'guardrail ls'],
    ['role show cluster-operator', 'role get cluster-operator'],
    ['robot token list ci', '--org acme robot token ls ci'],
    ['cluster list --help', '--help cluster list'],
    ['cluster list --help', 'help cluster ls'],
    ['version', '-v'],
    ['version', '--version'],
  ];
  // Lists say how old things are, and a second may pass between the two.
  const ageless = (text: string) => text.replace(/\b\d+ ?s\b/g, 'some seconds');
  for (const [usual, other] of SAME) {
    it(`atrium ${other} does what atrium ${usual} does`, async () => {
      const [one, two] = [await ann(usual), await ann(other)];
      assert.deepEqual([two.code, ageless(two.stdout), two.stderr], [0, ageless(one.stdout), '']);
    });
  }

  it('Options of every command count wherever they are, and can only be given once', async () => {
    assert.match((await ann('--org nowhere cluster list')).stderr, /there is no organization named "nowhere"/);
    assert.match((await ann('--org acme cluster list --org acme')).stderr, /--org can only be given once/);
    assert.equal(JSON.parse((await ann('--json whoami')).stdout).login, 'ann');
    assert.match((await ann('--help backup')).stdout, /atrium backup/);
  });

  it('A word that is not a relation or a type is wrong usage for every command', async () => {
    for (const line of [
      'can ann frob cluster:prod',
      'who-can frob cluster:prod',
      'list-objects ann frob cluster',
      'list-objects ann connect frob',
      'matrix frobs',
      'matrix clusters --relation frob',
      'access ann --type frob',
    ]) {
      assert.equal((await ann(line)).code, 2, line);
    }
  });

  it('The first organization that a user creates becomes the organization of the context', async () => {
    const root = openCli();
    await root(`login ${atrium.url} --name site --token-stdin`, { input: atrium.world.users.root?.token ?? '' });
    const first = await root('org create umbrella');
    assert.match(first.stderr, /the context site now uses the organization umbrella/);
    assert.equal(JSON.parse(readFileSync(configFile(root), 'utf8')).contexts.site.org, 'umbrella');
    assert.match(
      (await root('org create tyrell')).stderr,
      /to work in tyrell, .* atrium context use site --org tyrell/,
    );
    assert.match((await root('whoami')).stdout, /^organization: +umbrella$/m);
  });

  it('The names of teams and roles are printed, and their IDs stay in the data', async () => {
    assert.match((await ann('role show cluster-operator')).stdout, /^teams: +operators$/m);
    assert.match((await ann('team show operators')).stdout, /^roles: +cluster-operator$/m);
    assert.equal(typeof JSON.parse((await ann('role show cluster-operator --json')).stdout).team_ids[0], 'number');
  });

  it('Output that cannot be written is reported', { skip: !existsSync('/dev/full') }, () => {
    const { status, stderr } = spawnSync('sh', ['-c', `"${process.execPath}" bin/atrium.mjs --help > /dev/full`], {
      encoding: 'utf8',
    });
    assert.deepEqual([status, stderr], [1, 'atrium: cannot write the output: no space left on the device\n']);
  });

  it('atrium version shows the release of the program and of the server, and the version of the API', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const { program, server, api } = JSON.parse((await ann('version --json')).stdout);
    assert.deepEqual([program, server, api], [`v${version}`, `v${version}`, 'v1.27.0']);
  });
});

describe('A question about the past', () => {
  it('An answer that does not say which moment it is about is rejected by every command', async () => {
    // A server from before there was a history ignores what it does not know.
    const old = createServer((request, reply) => {
      reply.setHeader('Content-Type', 'application/json');
      const found = /^\/api\/v1\/orgs\/acme\/(clusters|teams)/.test(request.url ?? '');
      const isList = found || /principals|roles\?/.test(request.url ?? '');
      const role = { id: 1, name: 'x', permissions: [], team_ids: [], created_at: '', updated_at: '' };
      const one = { ...role, name: 'prod', username: 'acme', allowed: true, sentence: 'yes' };
      reply.end(JSON.stringify(isList ? [one] : one));
    });
    await new Promise<void>((done) => old.listen(0, '127.0.0.1', done));
    try {
      const { port } = old.address() as { port: number };
      const env = { ATRIUM_URL: `http://127.0.0.1:${port}`, ATRIUM_TOKEN: 'x', ATRIUM_ORG: 'acme' };
      const cli = openCli(env);
      for (const [line, exit] of [
        ['can zoe view org:acme --at 1m', 2],
        ['who-can view org:acme --at 1m', 1],
        ['access zoe --at 1m', 1],
        ['matrix clusters --at 1m', 1],
        ['role list --at 1m', 1],
        ['role show 1 --at 1m', 1],
        ['role export --at 1m', 1],
      ] as const) {
        const { code, stdout, stderr } = await cli(line);
        assert.match(stderr, /the server does not know the past and answered as of now: upgrade it/, line);
        assert.deepEqual([code, stdout], [exit, ''], line);
      }
    } finally {
      old.close();
    }
  });
});
