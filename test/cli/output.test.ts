import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Cli, cliAs } from '../support/server/cli.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';

describe('What the command line prints', () => {
  let atrium: TestServer;
  let ann: Cli;
  before(async () => {
    atrium = await openTestServer();
    ann = cliAs(atrium, 'ann');
  });
  after(() => atrium.close());

  const lines = async (line: string) => {
    const { code, stdout, stderr } = await ann(line);
    assert.equal(code, 0, `${line}: ${stderr}`);
    return stdout.trimEnd().split('\n');
  };
  const wrong = async (line: string, says: RegExp) => {
    const { code, stdout, stderr } = await ann(line);
    assert.match(stderr, says, line);
    assert.deepEqual([code, stdout, stderr.trimEnd().split('\n').length], [2, '', 1], `${line}: ${stderr}`);
  };

  it('-o selects JSON, YAML, a wide table or names', async () => {
    const json = (await lines('team list -o json')).join('\n');
    assert.equal(json, (await lines('team list --json')).join('\n'));
    assert.equal((await lines('team list -oyaml')).join('\n'), (await lines('team list --yaml')).join('\n'));
    assert.deepEqual(await lines('team list --output wide'), await lines('team list'));
    assert.deepEqual(await lines('team list -o name'), ['Owners', 'Editors', 'operators', 'Viewers']);
    assert.deepEqual(await lines('cluster show prod -o name'), ['prod']);
    assert.deepEqual(await lines('whoami -o name'), ['ann']);
    assert.deepEqual(await lines('org members -o name'), ['ann', 'bob', 'cat', 'dan']);
  });

  it('The old meaning of -o explains itself', async () => {
    await wrong('team list -o acme', /invalid value "acme" for --output; use one of json, yaml, wide, name$/m);
  });

  it('CSV is rejected before a command that does not print it does anything', async () => {
    await wrong(
      'team create csv-team -o csv',
      /invalid value "csv" for --output; use one of .*, name; this command does not print CSV/,
    );
    await wrong('team list -o table', /use one of json, yaml, wide, name; leave it out for a table/);
    await wrong('matrix clusters -o cvs', /did you mean csv\?\); use one of json, yaml, wide, name, csv$/m);
    await wrong('matrix clusters -o csv --watch', /CSV cannot be watched/);
    assert.ok(!(await lines('team list -o name')).includes('csv-team'));
  });

  it('Two outputs at once are rejected, the same one twice is not', async () => {
    await wrong('team list --json --yaml', /the output cannot be both json and yaml; choose one/);
    await wrong('team list -o name --json', /the output cannot be both json and name; choose one/);
    assert.deepEqual(await lines('team list -o json --json'), await lines('team list --json'));
  });

  it('--json selects fields, also of objects in objects', async () => {
    const read = async (line: string) => JSON.parse((await lines(line)).join('\n'));
    assert.deepEqual((await read('team list --json name,permission'))[0], { name: 'Owners', permission: 'owner' });
    assert.deepEqual((await read('team list --json name'))[3], { name: 'Viewers' });
    assert.deepEqual(await read('cluster show prod --json=name'), { name: 'prod' });
    assert.deepEqual(await read('cluster show --json name,nodeCount prod'), { name: 'prod', nodeCount: 5 });
    assert.deepEqual((await read('team list --json=organization.username'))[0], { 'organization.username': 'acme' });
    assert.equal((await read('cluster show --json prod')).name, 'prod');
    await wrong('team list --json nme', /there is no field "nme" \(did you mean name\?\); use some of id, name, /);
  });

  it('atrium api sends a request and prints the response', async () => {
    const user = JSON.parse((await lines('api /user')).join('\n'));
    assert.equal(user.login, 'ann');
    assert.deepEqual(JSON.parse((await lines('api get /api/v1/user')).join('\n')), user);
    writeFileSync(join(ann.home, 'team.json'), '{"name": "typed", "permission": "read"}');
    const team = JSON.parse((await lines('api POST /orgs/acme/teams --input team.json')).join('\n'));
    assert.equal(team.name, 'typed');
    const shown = await lines(`api GET /teams/${team.id} --include`);
    assert.equal(shown[0], 'HTTP 200');
    const etag = shown.find((line) => line.startsWith('etag: '))?.slice(6) ?? '';
    const stale = await ann(['api', 'DELETE', `/teams/${team.id}`, '--header', 'If-Match: "x"']);
    assert.deepEqual([stale.code, JSON.parse(stale.stdout).reason], [1, 'precondition_failed'], stale.stderr);
    const done = await ann(['api', 'DELETE', `/teams/${team.id}`, '--header', `If-Match: ${etag}`]);
    assert.deepEqual([done.code, done.stdout], [0, ''], done.stderr);
    const refused = await ann('api GET /orgs/globex');
    assert.deepEqual([refused.code, JSON.parse(refused.stdout).reason], [1, 'organization_not_found']);
    assert.match(refused.stderr, /^atrium: organization does not exist \(404\)$/m);
  });

  it('atrium api sends the token to the server of the context only, and takes no secret as an argument', async () => {
    await wrong('api GET http://evil.example/', /PATH must start with one slash/);
    await wrong('api GET //evil.example/', /PATH must start with one slash/);
    await wrong('api GET user', /PATH must start with one slash/);
    await wrong('api FETCH /user', /unknown method "FETCH"; use one of GET, HEAD/);
    await wrong('api GET /user --header nonsense', /--header needs a name, a colon and a value/);
    await wrong('api GET /user --header "Authorization: token x"', /a secret is not an argument/);
    await wrong('api GET /user --header "Cookie: a=b"', /a secret is not an argument/);
  });

  it('--debug shows every request and response, and never a secret', async () => {
    const token = atrium.world.users.ann?.token ?? '';
    const { code, stdout, stderr } = await ann('token create debugged --debug');
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^> GET http:\/\/127\.0\.0\.1:\d+\/api\/v1\/user$/m);
    assert.match(stderr, /^> POST http:\S+\/users\/ann\/tokens$/m);
    assert.match(stderr, /^> Authorization: \(hidden\)$/m);
    assert.match(stderr, /^> \(a body of \d+ bytes\)$/m);
    assert.match(stderr, /^< 201 in \d+ ms, request \S+$/m);
    const made = stdout.trim();
    assert.match(made, /^atr_/);
    for (const secret of [token, made, Buffer.from(`ann:${token}`).toString('base64')]) {
      assert.ok(!stderr.includes(secret), 'a secret is printed');
    }
    const query = await ann('api GET "/user?token=geheim&access_token=geheim2&page=1" --debug');
    assert.match(query.stderr, /\/user\?token=hidden&access_token=hidden&page=1$/m);
    assert.doesNotMatch(query.stderr, /geheim/);
    const signIn = await ann('login --user ann --password-stdin --debug', {
      input: 'not-the-password',
      env: { ATRIUM_URL: atrium.url },
    });
    assert.doesNotMatch(signIn.stderr, /not-the-password/);
    assert.doesNotMatch(signIn.stderr, new RegExp(Buffer.from('ann:not-the-password').toString('base64')));
  });

  it('A new token expires in 30 days, unless it must not or another time is given', async () => {
    const expiry = async (line: string) => {
      const { expires_at: at } = JSON.parse((await lines(`token create ${line} --json`)).join('\n'));
      return at === null ? undefined : Math.round((Date.parse(at) - Date.now()) / 86_400_000);
    };
    assert.equal(await expiry('usual'), 30);
    assert.equal(await expiry('long --expires 90d'), 90);
    assert.equal(await expiry('endless --never'), undefined);
    await wrong('token create both --never --expires 1d', /--never cannot be combined with --expires/);
    const { stdout } = await ann('token create short --expires 2d');
    const short = cliAs(atrium, 'ann', { ATRIUM_TOKEN: stdout.trim() });
    const child = await short('token create child --json');
    assert.equal(child.code, 0, child.stderr);
    assert.equal(Math.round((Date.parse(JSON.parse(child.stdout).expires_at) - Date.now()) / 86_400_000), 2);
    assert.deepEqual((await ann('token create named -o name')).stdout.slice(0, 4), 'atr_', 'the token is not lost');
    const robot = JSON.parse((await lines('robot token create ci usual --json')).join('\n'));
    assert.notEqual(robot.expires_at, null);
  });
});
