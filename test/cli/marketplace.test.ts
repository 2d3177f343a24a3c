import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Cli, cliAs } from '../support/cli.ts';
import { applicationId, binding, openMarketplace, type TestMarketplace } from '../support/marketplace.ts';
import { openTestServer } from '../support/server.ts';

describe('atrium marketplace', () => {
  let market: TestMarketplace;
  let root: Cli;
  const file = (name: string, value: unknown) => {
    const path = join(root.home, name);
    writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
    return path;
  };
  before(async () => {
    market = await openMarketplace();
    root = cliAs(market, 'root');
  });
  after(() => market.close());

  it('atrium marketplace sends payloads, lists and shows deliveries, and never prints the secret', async () => {
    const installer = await market.installer('B');
    const payload = { applicationId: applicationId('shop'), eventType: 'PUT', provisioningState: 'Succeeded' };
    const secret = file('secret.txt', `${market.demo.secrets.cloudB}\n`);
    const sent = await root(
      `marketplace send cloudB ${file('put.json', payload)} ${file('bind.json', { ...binding('x'), applicationId: payload.applicationId, eventType: 'BIND' })} --secret-file ${secret} --installer ${installer}`,
    );
    assert.match(sent.stdout, /^200 {2}\d+ ms .*put\.json/);
    const refused = await root(`marketplace send cloudB ${join(root.home, 'put.json')}`);
    assert.equal(refused.code, 1);
    assert.match(refused.stdout, /^403 /);
    assert.ok(!(sent.stdout + sent.stderr).includes(market.demo.secrets.cloudB));

    const { stdout } = await root('marketplace deliveries --marketplace cloudB --json');
    const [newest] = JSON.parse(stdout);
    assert.match((await root('marketplace deliveries')).stdout, /^ID +LAST +MARKETPLACE +EVENT +STATE/);
    assert.match((await root(`marketplace show ${newest.id}`)).stdout, /^state: +(done|refused)$/m);
    assert.ok(!(await root(`marketplace show ${newest.id} --json`)).stdout.includes(market.demo.secrets.cloudB));
    assert.equal((await root('marketplace redeliver --dead')).stdout, 'nothing to retry\n');
  });

  it('atrium marketplace rejects invalid requests with an error message and exit code 1 or 2', async () => {
    const REFUSED: readonly (readonly [line: string, says: RegExp, code: number])[] = [
      ['marketplace redeliver', /use either the IDs of deliveries or --dead/, 2],
      ['marketplace redeliver 99999', /delivery does not exist/, 1],
      ['marketplace redeliver soon', /"soon" is not an ID/, 2],
      ['marketplace show 99999', /delivery does not exist/, 1],
      ['marketplace send cloudD x.json', /invalid value "cloudD" for MARKETPLACE/, 2],
      ['marketplace send cloudB nowhere.json', /cannot read nowhere.json: no such file/, 2],
      ['marketplace send cloudB secret.txt --times 0', /--times must be a whole number from 1/, 2],
      ['marketplace send cloudB secret.txt', /secret.txt is not valid JSON/, 2],
    ];
    for (const [line, says, code] of REFUSED) {
      const said = await root(line, { cwd: root.home });
      assert.match(said.stderr, says);
      assert.equal(said.code, code, line);
    }
    assert.equal((await cliAs(market, 'ann')('marketplace deliveries')).code, 1);
  });

  it('atrium marketplace fails with exit code 1 on a server without a marketplace listener', async () => {
    const plain = await openTestServer();
    const { code, stderr } = await cliAs(plain, 'root')('marketplace deliveries');
    await plain.close();
    assert.equal(code, 1);
    assert.match(stderr, /the server does not support this command/);
  });
});
