import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '../../support/checks/until.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { claimsOf, fileOf } from '../../support/services/bus.ts';
import { addMember, removeMember } from '../../support/world/people.ts';

/** Statements that no other everyday test runs on PGlite. The tests next to this one run them on PostgreSQL. */
describe('The user API on PGlite', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ driver: 'pglite', env: { EMAIL_CONFIRMATION: 'true', RUN_MODE: 'dev' } });
  });
  after(() => atrium.close());

  const names = async (who: string, path: string) =>
    (await atrium.as(who)('GET', path)).body.map(({ name }: { name: string }) => name);

  it('Teams, clusters and follows are read on PGlite', async () => {
    assert.deepEqual(await names('dan', '/user/teams'), ['operators']);
    assert.deepEqual(await names('ann', '/user/clusters'), ['laptop']);
    assert.equal((await atrium.as('ann')('GET', '/user/following/bob')).status, 204);
    assert.equal((await atrium.as('ann')('GET', '/user/following/cat')).status, 404);
  });

  it('The site administrator finds the access tokens of another user on PGlite', async () => {
    assert.deepEqual(await names('root', '/users/ANN/tokens'), ['demo']);
    assert.equal((await atrium.as('root')('GET', '/users/acme/tokens')).status, 404);
  });

  it('Taken names and addresses are recognized on PGlite', async () => {
    const ask = async (path: string) => (await atrium.as('ann')('POST', `/user/validate/${path}`)).body.Status;
    assert.equal(await ask('username?user_name=BOB'), 'USER_EXISTS');
    assert.equal(await ask('orgname?user_name=fresh'), 'VALID');
    assert.equal(await ask('email?email=Bob@Example.com'), 'USER_EXISTS');
  });

  it('An email address is confirmed by its link on PGlite', async () => {
    const verified = async () =>
      (await atrium.as('bob')('GET', '/user/emails')).body.map((one: { verified: boolean }) => one.verified);
    await atrium.as('bob')('POST', '/user/emails', { emails: ['bob@x.org'] });
    assert.deepEqual(await verified(), [true, false]);
    const link = /http:\S+(\/api\/v1\/user\/emails\/confirm\?key=[\w.-]+)/.exec(atrium.logged())?.[1] ?? assert.fail();
    assert.equal((await atrium.call('GET', link)).status, 200);
    assert.deepEqual(await verified(), [true, true]);
  });

  it('A deploy order is kept and rendered on PGlite', async () => {
    const chart = {
      name: 'redis',
      sourceRef: { name: 'charts' },
      version: '1',
      releaseName: 'cache',
      namespace: 'data',
    };
    const order = { spec: { items: [{ chart: { ...chart, values: { exact: '9007199254740993' } } }] } };
    const { body } = await atrium.as('ann')('POST', '/user/deploy/orders', order);
    const { text } = await atrium.as('ann')('GET', `/user/deploy/orders/${body.metadata.uid}/render/manifest`);
    assert.match(text, /exact: "9007199254740993"/);
  });

  it('Bus credentials follow the rights of their owner on PGlite', async () => {
    const cat = atrium.world.users.cat?.id ?? 0n;
    const { Editors = 0n, Viewers = 0n } = atrium.world.orgs.acme?.teams ?? {};
    const own = async () => claimsOf(fileOf((await atrium.as('cat')('GET', '/user/bus/credentials')).body));
    const first = await own();
    await addMember(atrium.instance, Editors, cat);
    const wider = await own();
    assert.equal(wider.user, first.user);
    assert.ok(wider.publish.length > first.publish.length);
    await removeMember(atrium.instance, Editors, cat);
    const narrower = await own();
    assert.notEqual(narrower.user, first.user);
    assert.deepEqual(narrower.publish.sort(), first.publish.sort());
    await removeMember(atrium.instance, Viewers, cat);
    const held = statement(`select 1 from bus_user where account_id = ${cat}`);
    await until(async () => (await atrium.instance.db.query(held)).length === 0);
  });
});
