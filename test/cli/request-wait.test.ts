import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { itLong } from '../support/checks/long.ts';
import { type Cli, cliAs, openCliProcess, type Said } from '../support/server/cli.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';

const ASK = 'request edit cluster:prod --for 4h --because INC-1 --wait';

describe('atrium request --wait', () => {
  let atrium: TestServer;
  let dan: Cli;
  let ann: Cli;
  before(async () => {
    atrium = await openTestServer();
    // The line that waits needs a process of its own, because the others run one after the other.
    const token = atrium.world.users.dan?.token ?? '';
    dan = openCliProcess({ ATRIUM_URL: atrium.url, ATRIUM_TOKEN: token, ATRIUM_ORG: 'acme' });
    ann = cliAs(atrium, 'ann');
  });
  after(() => atrium.close());

  /** Starts to wait, and decides as soon as the request is there. */
  async function decidedBy(line: (id: string) => string, cli = ann): Promise<Said> {
    const waiting = dan(ASK);
    let id = '';
    for (let attempt = 0; id === '' && attempt < 200; attempt += 1) {
      const { body } = await atrium.as('ann')('GET', '/authz/requests?org=acme&state=open');
      id = body[0]?.id ?? '';
      await setTimeout(50);
    }
    assert.notEqual(id, '', 'the request was not made');
    const decided = await cli(line(id));
    assert.equal(decided.code, 0, decided.stdout + decided.stderr);
    return await waiting;
  }

  it('Waiting ends with 1 when the request is denied, and shows the comment', async () => {
    const { code, stdout, stderr } = await decidedBy((id) => `request deny ${id} --comment "use staging"`);
    assert.equal(code, 1, stdout + stderr);
    assert.match(stderr, /waiting for a decision about req_\d+: dan asks to edit cluster:prod/);
    assert.match(stdout, /req_\d+ {2}denied/);
    assert.match(stdout, /use staging/);
  });

  itLong('Waiting ends with 1 when the request is cancelled', async () => {
    const { code, stdout } = await decidedBy((id) => `request cancel ${id}`, dan);
    assert.equal(code, 1, stdout);
    assert.match(stdout, /cancelled/);
  });

  it('Waiting ends with 0 when the request is approved, and not before', async () => {
    const { code, stdout } = await decidedBy((id) => `request approve ${id} --yes`);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /req_\d+ {2}approved/);
    assert.match((await dan('can me edit cluster:prod')).stdout, /^yes/);
  });
});
