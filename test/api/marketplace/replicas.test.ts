import assert from 'node:assert/strict';
import { it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { describeLong } from '../../support/checks/long.ts';
import { startServer } from '../../support/server/process.ts';
import { lacks } from '../../support/services/requirements.ts';
import { applicationId, binding, type Name, openMarketplace, path } from '../../support/world/marketplace.ts';

const EACH = COUNTS.deliveriesPerReplica;

describeLong('Two marketplace processes on one PostgreSQL', { skip: lacks('postgresql') }, () => {
  it('Two processes that receive the same delivery concurrently act on it once and answer identically', async () => {
    const env = { BASE_URL: 'https://platform.example.com', CLOUD_B_SECRETS: 'known', CLOUD_C_SECRETS: 'known' };
    const market = await openMarketplace({ driver: 'postgres', env });
    const server = startServer({ env: market.settings });
    const addresses = [market.url, await server.listening()];
    const both = async (name: Name, bodyOf: (place: number) => object) =>
      await Promise.all(
        Array.from({ length: 2 * EACH }, async (_, place) => {
          const answer = await fetch(`${addresses[place % 2]}${path(name)}?secret=known`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json', Connection: 'close' },
            body: JSON.stringify(bodyOf(place)),
          });
          return `${answer.status} ${await answer.text()}`;
        }),
      );

    const a = binding(await market.installer('A'), { adminPassword: 'pw', adminUsername: 'twin' });
    const answers = new Set(await both('A', () => a));
    assert.equal(answers.size, 1);
    assert.match([...answers][0] ?? '', /^200 \{"link":"https:\/\/platform\.example\.com\/links\//);

    const c = await market.installer('C');
    const won = await both('C', (place) => binding(c, { marketplace: 'CloudC', clusterId: `cluster-${place}` }));
    assert.equal(won.filter((answer) => answer.startsWith('200')).length, 1);
    assert.equal(won.filter((answer) => answer.startsWith('403')).length, 2 * EACH - 1);

    const id = applicationId();
    const put = {
      eventType: 'PUT',
      applicationId: id,
      provisioningState: 'Accepted',
      eventTime: '2026-03-02T10:00:00Z',
    };
    assert.deepEqual([...new Set(await both('B', () => put))], ['200 ']);
    const found = await market.rows(
      `select (select times from delivery where subject = $1) as times,
              (select count(*) from account where name_key like 'twin%') as admins,
              (select count(*) from contract c join installer i on i.contract_id = c.id where i.id = $2) as contracts`,
      [`CloudB:${id.toLowerCase().slice(1)}`, c],
    );
    assert.deepEqual(found, [{ times: 2 * EACH, admins: 1n, contracts: 1n }]);
    server.kill('SIGTERM');
    assert.equal((await server.ended).code, 0);
    await market.close();
  });
});
