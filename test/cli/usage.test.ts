import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Cli, cliAs, configFile, openCli, openCliProcess } from '../support/server/cli.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { freePort } from '../support/services/ports.ts';
import { newUser, PASSWORD } from '../support/world/own-account.ts';
import { addApp, firstStep } from '../support/world/second-factors.ts';

describe('Usage errors', () => {
  let cli: Cli;
  before(() => {
    cli = openCli();
  });
  const WRONG: readonly (readonly [line: string, says: RegExp])[] = [
    ['tem list', /unknown command "tem" \(did you mean team\?\); run atrium --help/],
    ['team', /missing subcommand after atrium team: use one of list, show, .*; run atrium team --help/],
    ['team lst', /atrium team has no subcommand "lst" \(did you mean list\?\)/],
    ['team show', /missing argument TEAM; run atrium team show --help/],
    ['team list operators', /unexpected argument "operators"/],
    ['team list --ogr acme', /unknown option "--ogr" \(did you mean --org\?\)/],
    ['team list -q', /unknown option "-q"/],
    ['team list --org', /--org needs a value: --org NAME/],
    ['team list --yaml=yes', /--yaml takes no value/],
    ['team list --org a --org b', /--org can only be given once/],
    ['team create x --permission wrte', /invalid value "wrte" for --permission \(did you mean write\?\); use one of/],
    ['--yse team list', /"--yse" must come after the command/],
    ['--org acme', /missing command; run atrium --help/],
    ['team --watch list', /--watch must come after the command/],
    ['--org acme backup x', /--org is not for atrium backup, which runs on the server's own machine/],
    ['team rm operators', /atrium team has no subcommand "rm" \(did you mean delete, remove or revoke\?\)/],
    ['cluster frob prod', /atrium cluster has no subcommand "frob"; run atrium cluster --help/],
    ['login http://127.0.0.1:1 --user ann --expires 7d --never', /--never cannot be combined with --expires/],
    ['login http://127.0.0.1:1 --token-stdin --expires 7d', /--expires, --never and --token-name are for the token/],
    ['can ann connect prod', /"prod" is not an object; use a type and a name, such as cluster:prod/],
    ['can ann connect thing:prod', /permissions cannot be queried on "thing"; use one of organization, team/],
    ['can ann connect cluster:prod', /no server is configured/],
    ['whoami --timeout soon', /no server is configured/],
    ['whoami --context nowhere', /unknown context "nowhere"/],
    ['completion tcsh', /invalid value "tcsh" for SHELL; use one of bash, zsh, fish/],
    ['login ftp://x --token-stdin', /the server address must be a URL .*, got "ftp:\/\/x"/],
    ['login http://127.0.0.1:3000', /not a terminal; add --token-stdin/],
  ];
  for (const [line, says] of WRONG) {
    it(`atrium ${line} prints one line to standard error and exits with 2`, async () => {
      const { code, stdout, stderr } = await cli(line);
      assert.match(stderr, says);
      assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
      assert.equal(stdout, '');
      assert.equal(code, 2);
    });
  }

  it('An unknown command is reported without its escape characters', async () => {
    const { stderr } = await cli(['\u001b[2Jtem']);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not be there.
    assert.doesNotMatch(stderr, /\u001b/);
  });
});

describe('Unreachable servers', () => {
  it('An unreachable server is reported with its address and exit code 3', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, stderr } = await openCliProcess({ ATRIUM_URL: url, ATRIUM_TOKEN: 'x' })('whoami');
    assert.equal(code, 3);
    assert.match(stderr, new RegExp(`^atrium: cannot reach ${url}: ECONNREFUSED; is the server running`));
    assert.equal(stderr.trimEnd().split('\n').length, 1);
  });

  it('A server that times out or does not speak HTTP is reported with exit code 3', async () => {
    const silent = createServer(() => undefined);
    const garbage = createServer((socket) => socket.end('HELLO\r\n'));
    try {
      for (const [server, line, says] of [
        [silent, 'whoami --timeout 0.2', /did not answer within 0.2 s/],
        [garbage, 'whoami', /cannot reach/],
      ] as const) {
        await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
        const { port } = server.address() as { port: number };
        const cli = openCliProcess({ ATRIUM_URL: `http://127.0.0.1:${port}`, ATRIUM_TOKEN: 'x' });
        const { code, stderr } = await cli(line);
        assert.match(stderr, says);
        assert.equal(code, 3);
      }
    } finally {
      silent.close();
      garbage.close();
    }
  });

  it('A command whose answer is lost is repeated with the same key, and creates one thing', async () => {
    const keys: unknown[] = [];
    const server = createHttpServer((request, reply) => {
      keys.push(request.headers['idempotency-key']);
      if (keys.length === 1) request.socket.destroy();
      else
        reply.setHeader('Content-Type', 'application/json').end('[{"email":"a@b.c","verified":true,"primary":true}]');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    try {
      const { port } = server.address() as { port: number };
      const cli = openCli({ ATRIUM_URL: `http://127.0.0.1:${port}`, ATRIUM_TOKEN: 'x' });
      const { code, stdout, stderr } = await cli('email add a@b.c');
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, /a@b\.c/);
      assert.match(String(keys[0]), /^[0-9a-f]{32}$/);
      assert.deepEqual(keys, [keys[0], keys[0]]);
    } finally {
      server.close();
    }
  });
});

describe('Signing in with the CLI', () => {
  let atrium: TestServer;
  let cli: Cli;
  const token = () => atrium.world.users.ann?.token ?? '';
  before(async () => {
    atrium = await openTestServer();
    cli = openCli();
  });
  after(() => atrium.close());

  it('atrium login stores a token from standard input in a file that only the user can read', async () => {
    const input = `${token()}\n`;
    const login = ['login', atrium.url, '--name', 'demo', '--token-stdin'];
    const { code, stdout, stderr } = await openCliProcess({ HOME: cli.home })(login, { input });
    assert.equal(code, 0, stderr);
    assert.equal(stdout, `signed in to ${atrium.url} as ann; saved as context demo, organization acme\n`);
    assert.equal(statSync(configFile(cli)).mode & 0o777, 0o600);
    assert.equal(statSync(dirname(configFile(cli))).mode & 0o777, 0o700);
    assert.match((await cli('whoami')).stdout, /^login: +ann\n(.*\n)*context: +demo\norganization: +acme\n$/);
  });

  it('The context, whoami and token commands never print the token', async () => {
    for (const line of ['context list', 'context show', 'context list --json', 'whoami --json', 'token list --json']) {
      const { stdout, stderr } = await cli(line);
      assert.ok(!(stdout + stderr).includes(token()), line);
    }
  });

  it('atrium login with a password creates a token that atrium logout revokes', async () => {
    const input = `${atrium.world.users.bob?.password}\n`;
    const signedIn = await cli(`login ${atrium.url} --name bobs --user bob --password-stdin`, { input });
    assert.equal(signedIn.code, 0, signedIn.stderr);
    assert.match((await cli('whoami')).stdout, /^login: +bob$/m);
    const { contexts } = JSON.parse(readFileSync(configFile(cli), 'utf8'));
    const made = contexts.bobs.token;
    assert.match((await cli('token list')).stdout, /atrium on /);
    assert.equal((await cli('logout')).stdout, 'signed out of bobs and revoked its token\n');
    assert.equal((await atrium.call('GET', '/api/v1/user', undefined, { Authorization: `token ${made}` })).status, 401);
  });

  it('Every atrium login with a password creates a token of its own, which expires in 30 days', async () => {
    const input = `${atrium.world.users.cat?.password}\n`;
    const fresh = openCli();
    const signIn = (more: string) => fresh(`login ${atrium.url} --user cat --password-stdin ${more}`, { input });
    for (const more of ['', '', '--name second']) {
      const { code, stderr } = await signIn(more);
      assert.deepEqual([code, stderr], [0, '']);
    }
    const rows = async () =>
      JSON.parse((await fresh('token list --json name,expires_at')).stdout) as { name: string; expires_at: string }[];
    const made = (await rows()).filter(({ name }) => name.startsWith('atrium on '));
    assert.equal(made.length, 3);
    assert.match(made[2]?.name ?? '', /, second, \d{4}-\d\d-\d\d, [0-9a-f]{8}$/);
    for (const { expires_at } of made) {
      assert.equal(Math.round((Date.parse(expires_at) - Date.now()) / 86_400_000), 30);
    }
    assert.equal((await signIn('--token-name desk --expires 7d')).code, 0);
    assert.equal((await signIn('--token-name bench --never')).code, 0);
    const ends = new Map((await rows()).map(({ name, expires_at }) => [name, expires_at]));
    assert.equal(Math.round((Date.parse(ends.get('desk') ?? '') - Date.now()) / 86_400_000), 7);
    assert.equal(ends.get('bench'), null);
    const taken = await signIn('--token-name desk');
    assert.equal(taken.code, 1);
    assert.match(taken.stderr, /access token name has been used already; choose another one with --token-name/);
  });

  it('atrium login with a password needs the code too, if there is a second factor', async () => {
    const { login } = await newUser(atrium);
    const { app, codes } = await addApp((await firstStep(atrium, login)).browser);
    const signIn = (input: string) => cli(`login ${atrium.url} --name two --user ${login} --password-stdin`, { input });
    const without = await signIn(`${PASSWORD}\n`);
    assert.equal(without.code, 2);
    assert.match(without.stderr, /this account has a second factor; add the code as a second line/);
    const wrong = await signIn(`${PASSWORD}\n${app.wrong()}\n`);
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /the code is wrong/);
    for (const code of [app.code(), codes?.[0]]) {
      const signedIn = await signIn(`${PASSWORD}\n${code}\n`);
      assert.equal(signedIn.code, 0, signedIn.stderr);
      assert.match((await cli('whoami')).stdout, new RegExp(`^login: +${login}$`, 'm'));
      assert.equal((await cli('logout')).code, 0);
    }
    const { body } = await atrium.as('root')('GET', `/admin/users/${login}/sessions`);
    assert.equal(body.length, 1, 'the sessions of the command line have ended');
  });

  it('Several contexts can be saved, and the current or named one is used', async () => {
    assert.equal((await cli('whoami')).code, 2);
    assert.match((await cli('context use demo')).stdout, /switched to demo, organization acme/);
    await cli(`login ${atrium.url} --name eves --token-stdin`, { input: atrium.world.users.eve?.token ?? '' });
    assert.match(
      (await cli('context list')).stdout,
      /^CURRENT +NAME +URL +USER +ORG\n +demo .*\n\* +eves .* eve +globex\n$/,
    );
    assert.match((await cli('whoami --context demo')).stdout, /^login: +ann$/m);
    assert.match((await cli('whoami', { env: { ATRIUM_CONTEXT: 'demo' } })).stdout, /^login: +ann$/m);
    assert.match((await cli('context use demo --org globex')).stdout, /organization globex/);
    assert.match((await cli('context delete eves')).stdout, /deleted the context eves/);
    assert.match((await cli('context use eevs')).stderr, /unknown context "eevs"/);
  });

  it('atrium login saves nothing when the server rejects the token or password', async () => {
    const before = readFileSync(configFile(cli), 'utf8');
    const wrong = await cli(`login ${atrium.url} --name x --token-stdin`, { input: 'atr_nonsense\n' });
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /rejected the token/);
    const mistyped = await cli(`login ${atrium.url} --user ann --password-stdin`, { input: 'wrong\n' });
    assert.equal(mistyped.code, 1);
    assert.match(mistyped.stderr, /invalid username, password or token/);
    assert.equal(readFileSync(configFile(cli), 'utf8'), before);
  });

  it('The token of a context is not sent to another server', async () => {
    const { code, stderr } = await cli('whoami', { env: { ATRIUM_URL: 'http://127.0.0.1:9' } });
    assert.equal(code, 2);
    assert.match(stderr, /not signed in to http:\/\/127.0.0.1:9/);
  });

  it('A config file that is malformed or readable by others is rejected', async () => {
    const other = openCli();
    mkdirSync(dirname(configFile(other)), { recursive: true });
    writeFileSync(configFile(other), '{"contexts": {}}');
    chmodSync(configFile(other), 0o644);
    const open = await other('whoami');
    assert.equal(open.code, 2);
    assert.match(open.stderr, /other users can read .*; run chmod 600 /);
    chmodSync(configFile(other), 0o600);
    writeFileSync(configFile(other), '{"contexts": ');
    const broken = await other('whoami');
    assert.equal(broken.code, 2);
    assert.match(broken.stderr, /is not a valid config file/);
  });

  it('atrium login stores its config file under XDG_CONFIG_HOME', async () => {
    const place = join(cli.home, 'elsewhere');
    const env = { XDG_CONFIG_HOME: place };
    await cli(`login ${atrium.url} --token-stdin`, { input: token(), env });
    assert.equal(statSync(join(place, 'atrium', 'config.json')).mode & 0o777, 0o600);
  });

  it('An invalid token is reported with the advice to sign in again', async () => {
    const { code, stderr } = await cliAs(atrium, 'ann', { ATRIUM_TOKEN: 'atr_gone' })('whoami');
    assert.equal(code, 1);
    assert.equal(stderr, 'atrium: invalid username, password or token; sign in again with atrium login\n');
  });
});
