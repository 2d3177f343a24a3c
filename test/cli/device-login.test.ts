import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '../support/checks/until.ts';
import { openCli } from '../support/server/cli.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';
import { newUser } from '../support/world/own-account.ts';

describe('atrium login --device', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  /** The code that the program shows, as soon as it waits. */
  const codeOf = async (name: string) => {
    let code: string | undefined;
    await until(async () => {
      const [row] = await atrium.instance.db.query<{ user_code: string }>(
        statement(`select user_code from device_request where state = 'pending' and '${name}' = any (scopes)`),
      );
      code = row?.user_code;
      return code !== undefined;
    });
    return code ?? assert.fail('no code');
  };

  it('Whoever approves the code in a browser is signed in on the command line, and whoever denies it is not', async () => {
    const { login, signIn } = await newUser(atrium);
    const browser = await signIn();
    const [one, other] = [openCli(), openCli()];
    const approved = one(`login ${atrium.url} --device --scope all`);
    await browser('POST', `/user/device/${await codeOf('all')}`, { approve: true });
    const said = await approved;
    assert.equal(said.code, 0, said.stderr);
    assert.match(said.stderr, /open http\S+\/me\/device in a browser, and enter the code [A-Z]{4}-[A-Z]{4}/);
    assert.match(said.stdout, new RegExp(`signed in to \\S+ as ${login}`));
    assert.match((await one('whoami')).stdout, new RegExp(login));
    const denied = other(`login ${atrium.url} --device --scope read:user`);
    await browser('POST', `/user/device/${await codeOf('read:user')}`, { approve: false });
    const refusal = await denied;
    assert.notEqual(refusal.code, 0);
    assert.match(refusal.stderr, /denied in the browser/);
    const mixed = await other(`login ${atrium.url} --device --token-stdin`);
    assert.match(mixed.stderr, /--device cannot be combined/);
  });
});
