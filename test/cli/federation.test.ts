import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Cli, cliAs, openCli } from '../support/server/cli.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { type FakeIssuer, LOOPBACK, startFakeIssuer } from '../support/services/token-issuer.ts';
import { type FederatedRobot, makeFederatedRobot } from '../support/world/federation.ts';

describe('The CLI and trust rules', () => {
  let atrium: TestServer;
  let issuer: FakeIssuer;
  let robot: FederatedRobot;
  let ann: Cli;
  let folder: string;
  before(async () => {
    issuer = await startFakeIssuer();
    atrium = await openTestServer({ env: { ...LOOPBACK, AUTH_FAILURES: '1000' } });
    robot = await makeFederatedRobot(atrium);
    ann = cliAs(atrium, 'ann');
    folder = temporaryFolder();
  });
  after(async () => {
    await atrium.close();
    await issuer.close();
  });

  const said = async (cli: Cli, line: string, code = 0, options = {}) => {
    const { code: exit, stdout, stderr } = await cli(`${line}`, options);
    assert.equal(exit, code, stdout + stderr);
    return stdout + stderr;
  };

  it('A trust rule is created, listed, shown, changed, explained and deleted', async () => {
    const { name } = robot;
    assert.match(await said(ann, `robot trust list ${name}`), /none/);
    const claims = '--claim repository_id=123 --claim ref=refs/heads/*';
    const made = await said(
      ann,
      `robot trust create ${name} main --issuer ${issuer.url} ${claims} --scope all --lifetime PT10M`,
    );
    assert.match(made, /PT10M/);
    assert.match(await said(ann, `robot trust list ${name}`), /main.*never/s);
    assert.match(await said(ann, `robot trust show ${name} main`), /repository_id=123/);
    const changed = await said(ann, `robot trust update ${name} main --lifetime PT5M --name build`);
    assert.match(changed, /build[\s\S]*repository_id=123[\s\S]*PT5M/);
    const file = join(folder, 'jwt.txt');
    writeFileSync(file, await issuer.token(atrium.url));
    assert.match(await said(ann, `robot trust explain ${name} ${file}`), /^yes {2}rule build/);
    const wrong = await issuer.token(atrium.url, { repository_id: '124' });
    const text = await said(ann, `robot trust explain ${name}`, 1, { input: wrong });
    assert.match(text, /^no {3}rule build/);
    assert.match(text, /wrong repository_id: wanted 123, got "124"/);
    assert.match(
      await said(ann, `robot trust create ${name} x --issuer ${issuer.url}`, 2),
      /--claim NAME=VALUE is required/,
    );
    assert.match(await said(ann, `robot trust create ${name} x --claim a=b`, 2), /--issuer is required/);
    assert.match(await said(ann, `robot trust delete ${name} build --yes`), /deleted build/);
  });

  it('A job of GitHub Actions, GitLab CI or Kubernetes signs in without a stored secret', async () => {
    const claims = '--claim repository_id=123';
    await said(ann, `robot trust create ${robot.name} jobs --issuer ${issuer.url} ${claims} --scope all`);
    const seen: string[] = [];
    const actions = createServer((request, response) => {
      seen.push(`${request.url} ${request.headers.authorization}`);
      void issuer.token(atrium.url).then((value) => response.end(JSON.stringify({ value })));
    });
    await new Promise<void>((listening) => actions.listen(0, '127.0.0.1', listening));
    const { port } = actions.address() as AddressInfo;
    const file = join(folder, 'projected');
    writeFileSync(file, `${await issuer.token(atrium.url)}\n`);
    const platforms: Record<string, Record<string, string>> = {
      actions: {
        GITHUB_ACTIONS: 'true',
        ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/token?api-version=2.0`,
        ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of the job',
      },
      gitlab: { GITLAB_CI: 'true', ATRIUM_ID_TOKEN: await issuer.token(atrium.url) },
      kubernetes: { ATRIUM_ID_TOKEN_FILE: file },
    };
    for (const [name, env] of Object.entries(platforms)) {
      const cli = openCli(env);
      const text = await said(cli, `login ${atrium.url} --federated --robot ${robot.clientId} --name ci`);
      assert.match(text, new RegExp(`signed in .* as ${robot.clientId} for \\d+ minutes; .*organization acme`), name);
      assert.match(await said(cli, 'whoami'), new RegExp(robot.clientId));
      assert.match(await said(cli, 'token rotate', 1), /cannot rotate tokens/);
    }
    await new Promise((closed) => actions.close(closed));
    const audience = encodeURIComponent(atrium.url);
    assert.deepEqual(seen, [`/token?api-version=2.0&audience=${audience} bearer of the job`]);
  });

  it('What is missing, and a token that is not accepted, is said with what to do', async () => {
    const login = `login ${atrium.url} --federated`;
    assert.match(await said(openCli(), `${login} --robot ${robot.clientId}`, 2), /there is no token to sign in with/);
    assert.match(await said(openCli({ GITHUB_ACTIONS: 'true' }), `${login} --robot a/b`, 2), /id-token: write/);
    assert.match(await said(openCli({ GITLAB_CI: 'true' }), `${login} --robot a/b`, 2), /id_tokens/);
    assert.match(await said(openCli(), login, 2), /--robot ORGANIZATION\/ROBOT/);
    assert.match(await said(openCli(), `login ${atrium.url} --robot a/b --token-stdin`, 2), /are for --federated/);
    const wrong = openCli({ ATRIUM_ID_TOKEN: await issuer.token(atrium.url, { repository_id: '124' }) });
    const text = await said(wrong, `${login} --robot ${robot.clientId}`, 1);
    assert.match(text, /the token is not accepted for this client; .*atrium robot trust explain/);
  });
});
