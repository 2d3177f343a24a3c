import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Cli, cliAs } from '../support/server/cli.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';

describe('Assignments by their IDs on the command line', () => {
  let atrium: TestServer;
  let ann: Cli;
  before(async () => {
    atrium = await openTestServer();
    ann = cliAs(atrium, 'ann');
  });
  after(() => atrium.close());
  const said = async (cli: Cli, line: string, code = 0) => {
    const { code: exit, stdout, stderr } = await cli(line);
    assert.equal(exit, code, stdout + stderr);
    return stdout + stderr;
  };

  it('An assignment is shown, changed and ended by the ID that the list prints', async () => {
    await said(ann, 'role assign cluster-operator --to robot:ci --on cluster_set:eu --for 4h --because rollout');
    const id = (await said(ann, 'assignments --to robot:ci -o name')).trim();
    assert.match(id, /^\d+$/);
    const shown = await said(ann, `assignments show ${id}`);
    assert.match(shown, /^to: +robot:ci\non: +cluster_set:eu\nclusters: 0\ngives: +cluster_mgmt:view clusters\n/m);
    assert.match(shown, /^reason: +rollout\n/m);
    assert.match(shown, /^by: +user:ann$/m);
    const changed = await said(ann, `assignments edit ${id} --no-expiry --because "for good"`);
    assert.match(changed, /^changed cluster-operator to robot:ci on cluster_set:eu\n/);
    assert.match(await said(ann, `assignments get ${id}`), /expires: +never\nreason: +for good\n/);
    assert.match(await said(ann, `assignments edit ${id}`, 2), /nothing to change; run atrium assignments edit --help/);
    assert.match(await said(cliAs(atrium, 'dan'), `assignments delete ${id} --yes`, 1), /assignment does not exist/);
    assert.match(
      await said(cliAs(atrium, 'cat'), `assignments delete ${id} --yes`, 1),
      /missing relation assign_roles/,
    );
    assert.match(
      await said(ann, `assignments delete ${id}`, 2),
      /add --yes to end the assignment \d+, cluster-operator/,
    );
    const ended = await said(ann, `assignments delete ${id} --yes`);
    assert.match(ended, /^ended the assignment \d+, cluster-operator to robot:ci on cluster_set:eu\n/);
    assert.match(await said(ann, `assignments delete ${id} --yes`, 1), /assignment does not exist/);
  });
});
