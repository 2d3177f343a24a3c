import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeLong } from '../../support/checks/long.ts';
import { openPair, type SecondProcess } from '../../support/server/processes.ts';
import type { TestServer } from '../../support/server/server.ts';
import { type FakeIssuer, LOOPBACK, startFakeIssuer } from '../../support/services/token-issuer.ts';
import { exchangeForm, makeFederatedRobot, makeRule, postForm } from '../../support/world/federation.ts';

describeLong('Issued tokens on two replicas', () => {
  let atrium: TestServer;
  let other: SecondProcess;
  let issuer: FakeIssuer;
  before(async () => {
    issuer = await startFakeIssuer();
    const pair = await openPair({ ...LOOPBACK, AUTH_FAILURES: '1000' });
    atrium = pair.atrium;
    other = await pair.open();
  });
  after(async () => {
    await other.close();
    await atrium.close();
    await issuer.close();
  });

  const statusOn = async (url: string, token: string) =>
    (await fetch(`${url}/api/v1/user`, { headers: { Authorization: `token ${token}` } })).status;

  it('Deleting the rule or the robot, or changing the rule, ends the token with the next request on both', async () => {
    for (const way of ['rule', 'robot', 'scopes'] as const) {
      const robot = await makeFederatedRobot(atrium);
      const { id, name, claims } = await makeRule(atrium, robot, issuer);
      const { body } = await postForm(atrium, exchangeForm(robot.clientId, await issuer.token(atrium.url)));
      for (const url of [atrium.url, other.url, other.url]) assert.equal(await statusOn(url, body.access_token), 200);
      const path = `${robot.rules}/${id}`;
      const changed =
        way === 'scopes'
          ? await atrium.as('ann')('PUT', path, { name, claims, issuer: issuer.url, scopes: ['read:user'] })
          : await atrium.as('ann')('DELETE', way === 'rule' ? path : `/robots/${robot.id}`);
      assert.ok(changed.status < 300, changed.text);
      for (const url of [other.url, atrium.url]) assert.equal(await statusOn(url, body.access_token), 401, way);
    }
  });

  it('A token that one replica has accepted is rejected by the other, also at the same moment', async () => {
    const robot = await makeFederatedRobot(atrium);
    // The other process has another address and may call no private network, so the keys are in the rule.
    const audience = 'https://atrium.example';
    await makeRule(atrium, robot, issuer, { audience, jwks: issuer.jwks() });
    for (let round = 0; round < 5; round++) {
      const form = exchangeForm(robot.clientId, await issuer.token(audience));
      const answers = await Promise.all([postForm(atrium, form), postForm(other, form), postForm(other, form)]);
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400]);
    }
  });
});
