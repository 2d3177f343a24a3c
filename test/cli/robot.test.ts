import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Cli, cliAs, openCli } from '../support/server/cli.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { makeRobot, type TestRobot } from '../support/world/robots.ts';

describe('The CLI with the token of a robot', () => {
  let atrium: TestServer;
  let deploy: TestRobot;
  let robot: Cli;
  let ann: Cli;
  before(async () => {
    atrium = await openTestServer();
    deploy = await makeRobot(atrium, 'deploy', { can_rotate: true });
    robot = openCli({ ATRIUM_URL: atrium.url, ATRIUM_TOKEN: deploy.text, ATRIUM_ORG: 'acme' });
    ann = cliAs(atrium, 'ann');
  });
  after(() => atrium.close());
  const said = async (cli: Cli, line: string, code = 0) => {
    const { code: exit, stdout, stderr } = await cli(line);
    assert.equal(exit, code, stdout + stderr);
    return stdout + stderr;
  };

  it('A robot sees who it is, its organization, and what it holds', async () => {
    const who = await said(robot, 'whoami');
    assert.match(who, /acme\/deploy/);
    assert.match(who, /robot account/);
    assert.match(await said(robot, 'access me'), /org acme +robot of the organization +view\n/);
    assert.match(await said(robot, 'org list'), /acme/);
    assert.match(await said(robot, 'can me view org:acme --why'), /deploy is a robot account of acme/);
    assert.match(await said(robot, 'can me edit org:acme', 1), /no/);
    assert.match(await said(robot, 'cluster list --all'), /none|no clusters/i);
  });

  it('What a robot may not do is said in words', async () => {
    assert.match(await said(robot, 'session list', 1), /robot accounts cannot call this route/);
    assert.match(await said(robot, 'team list', 1), /view_teams/);
  });

  it('A context can be that of a robot, with its organization as the default', async () => {
    const cli = openCli();
    const { code, stdout, stderr } = await cli(`login ${atrium.url} --token-stdin --name ci`, { input: deploy.text });
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout + stderr, /signed in .* as acme\/deploy; saved as context ci, organization acme/);
    assert.match(await said(cli, 'whoami'), /acme\/deploy/);
  });

  it('Robots are named in questions, and shown as such', async () => {
    assert.match(await said(ann, 'can robot:deploy view org:acme'), /yes/);
    assert.match(await said(ann, 'who-can view org:acme'), /robot:deploy +\d+/);
    assert.match(await said(ann, 'access robot:deploy'), /robot of the organization/);
    assert.doesNotMatch(await said(ann, 'matrix clusters'), /robot:deploy/);
    assert.match(await said(ann, 'matrix clusters --robots'), /robot:deploy/);
    assert.match(await said(ann, 'matrix clusters --user robot:deploy --user ann -o csv'), /\nrobot:deploy,/);
    assert.match(await said(ann, 'can robot:nobody view org:acme', 2), /robot does not exist/);
  });

  it('The audit log names the robot, and an export of it can be verified', async () => {
    const rotated = await deploy.call('POST', '/user/token/rotate', {});
    assert.equal(rotated.status, 201, rotated.text);
    assert.match(await said(ann, 'audit --actor robot:deploy'), /robot deploy replaced the token key/);
    assert.match(await said(ann, 'audit --actor robot:deploy -o csv'), /,robot:deploy,/);
    assert.match(await said(ann, 'audit --verify'), /intact/);
  });
});
