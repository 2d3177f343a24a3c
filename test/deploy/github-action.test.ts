import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryFolder } from '../support/server/db.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { lacksProgram } from '../support/services/foreign-tools.ts';
import { type FakeIssuer, LOOPBACK, startFakeIssuer } from '../support/services/token-issuer.ts';
import { type FederatedRobot, makeFederatedRobot, makeRule } from '../support/world/federation.ts';
import { callWith } from '../support/world/robots.ts';

const SCRIPT = 'deploy/github-action/exchange.sh';
const missing =
  lacksProgram('jq', '--version') || lacksProgram('curl', '--version') || lacksProgram('bash', '--version');

describe('The composite GitHub Action', { skip: missing }, () => {
  let atrium: TestServer;
  let issuer: FakeIssuer;
  let robot: FederatedRobot;
  let folder: string;
  before(async () => {
    issuer = await startFakeIssuer();
    atrium = await openTestServer({ env: LOOPBACK });
    robot = await makeFederatedRobot(atrium);
    await makeRule(atrium, robot, issuer);
    folder = temporaryFolder();
  });
  after(async () => {
    await atrium.close();
    await issuer.close();
  });

  /** As a runner starts it: what it writes is read afterwards. */
  async function runScript(more: Record<string, string> = {}) {
    const [output, env] = [join(folder, 'output'), join(folder, 'env')];
    for (const file of [output, env]) writeFileSync(file, '');
    const variables = {
      PATH: process.env.PATH ?? '',
      GITHUB_OUTPUT: output,
      GITHUB_ENV: env,
      ATRIUM_INPUT_URL: `${atrium.url}/`,
      ATRIUM_INPUT_ROBOT: robot.clientId,
      ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of the job',
      ...more,
    };
    const said = await new Promise<{ code: number; text: string }>((done) => {
      execFile('bash', [SCRIPT], { env: variables }, (error, stdout, stderr) =>
        done({ code: error === null ? 0 : Number(error.code), text: stdout + stderr }),
      );
    });
    return { ...said, output: readFileSync(output, 'utf8'), env: readFileSync(env, 'utf8') };
  }

  async function answerWith(claims: Record<string, unknown>): Promise<string> {
    const value = await issuer.token(atrium.url, claims);
    const path = `/token?api-version=2.0&audience=${encodeURIComponent(atrium.url)}`;
    issuer.answers.set(path, (respond) => respond(200, JSON.stringify({ value })));
    return value;
  }

  it('It hands an access token of the robot to the steps that follow, and masks every token', async () => {
    const outside = await answerWith({});
    const { code, text, output, env } = await runScript({ ATRIUM_INPUT_SCOPE: 'read:user read:organization' });
    assert.equal(code, 0, text);
    const [, token = ''] = /^token=(\S+)$/m.exec(output) ?? [];
    assert.match(output, /^expires-in=3600$/m);
    assert.equal(env, `ATRIUM_URL=${atrium.url}\nATRIUM_TOKEN=${token}\nATRIUM_ORG=acme\n`);
    assert.equal(text, `::add-mask::${outside}\n::add-mask::${token}\n`);
    const user = await callWith(atrium, token)('GET', '/user');
    assert.deepEqual([user.status, user.body.login], [200, robot.clientId]);
  });

  it('It fails with what is wrong, and hands nothing on', async () => {
    await answerWith({ repository_id: '124' });
    const cases: [more: Record<string, string>, said: RegExp][] = [
      [{}, /::error title=Atrium::.* did not accept .*: the token is not accepted for this client/],
      [{ ACTIONS_ID_TOKEN_REQUEST_URL: '' }, /permissions: id-token: write/],
      [{ ATRIUM_INPUT_AUDIENCE: 'another' }, /GitHub did not issue a token/],
    ];
    for (const [more, expected] of cases) {
      const { code, text, output, env } = await runScript(more);
      assert.equal(code, 1, text);
      assert.match(text, expected);
      assert.deepEqual([output, env], ['', '']);
    }
  });
});
