import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { claimsOf, fileOf } from '../../support/bus.ts';
import { openTestHouse, type TestHouse } from '../../support/house.ts';
import { statement } from '../../support/statement.ts';
import { until } from '../../support/until.ts';

/** Statements that no other everyday test runs on PGlite; the tests beside this one run them on PostgreSQL. */
describe('The user API on PGlite', () => {
  let house: TestHouse;
  before(async () => {
    house = await openTestHouse({ driver: 'pglite', env: { EMAIL_CONFIRMATION: 'true', RUN_MODE: 'dev' } });
  });
  after(() => house.close());

  const names = async (who: string, path: string) =>
    (await house.as(who)('GET', path)).body.map(({ name }: { name: string }) => name);

  it('Teams, clusters and follows are read on PGlite', async () => {
    assert.deepEqual(await names('dan', '/user/teams'), ['operators']);
    assert.deepEqual(await names('ann', '/user/clusters'), ['laptop']);
    assert.equal((await house.as('ann')('GET', '/user/following/bob')).status, 204);
    assert.equal((await house.as('ann')('GET', '/user/following/cat')).status, 404);
  });

  it('The site administrator finds the access tokens of another user on PGlite', async () => {
    assert.deepEqual(await names('root', '/users/ANN/tokens'), ['demo']);
    assert.equal((await house.as('root')('GET', '/users/acme/tokens')).status, 404);
  });

  it('Taken names and addresses are recognized on PGlite', async () => {
    const ask = async (path: string) => (await house.as('ann')('POST', `/user/validate/${path}`)).body.Status;
    assert.equal(await ask('username?user_name=BOB'), 'USER_EXISTS');
    assert.equal(await ask('orgname?user_name=fresh'), 'VALID');
    assert.equal(await ask('email?email=Bob@Example.com'), 'USER_EXISTS');
  });

  it('An email address is confirmed by its link on PGlite', async () => {
    const verified = async () =>
      (await house.as('bob')('GET', '/user/emails')).body.map((one: { verified: boolean }) => one.verified);
    await house.as('bob')('POST', '/user/emails', { emails: ['bob@x.org'] });
    assert.deepEqual(await verified(), [true, false]);
    const link = /http:\S+(\/api\/v1\/user\/emails\/confirm\?key=[\w.-]+)/.exec(house.logged())?.[1] ?? assert.fail();
    assert.equal((await house.call('GET', link)).status, 200);
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
    const { body } = await house.as('ann')('POST', '/user/deploy/orders', order);
    const { text } = await house.as('ann')('GET', `/user/deploy/orders/${body.metadata.uid}/render/manifest`);
    assert.match(text, /exact: "9007199254740993"/);
  });

  it('Bus credentials follow the rights of their owner on PGlite', async () => {
    const cat = house.world.users.cat?.id ?? 0n;
    const { Editors = 0n, Viewers = 0n } = house.world.orgs.acme?.teams ?? {};
    const own = async () => claimsOf(fileOf((await house.as('cat')('GET', '/user/bus/credentials')).body));
    const first = await own();
    await house.house.organizations.addMember(Editors, cat);
    const wider = await own();
    assert.equal(wider.user, first.user);
    assert.ok(wider.publish.length > first.publish.length);
    await house.house.organizations.removeMember(Editors, cat);
    const narrower = await own();
    assert.notEqual(narrower.user, first.user);
    assert.deepEqual(narrower.publish.sort(), first.publish.sort());
    await house.house.organizations.removeMember(Viewers, cat);
    const held = statement(`select 1 from bus_user where account_id = ${cat}`);
    await until(async () => (await house.house.db.query(held)).length === 0);
  });
});
