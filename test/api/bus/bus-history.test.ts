import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS, IS_LONG } from '../../counts.ts';
import { itLong } from '../../support/checks/long.ts';
import { until } from '../../support/checks/until.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { openTestBus, type TestBus } from '../../support/services/bus.ts';
import { newNats, type TestNats } from '../../support/services/nats.ts';
import { lacks } from '../../support/services/requirements.ts';

interface Item {
  readonly key: string;
  readonly values: { resource: string; resourceID: string; licenseID: string; version: string; timestamp: string }[];
  readonly lastSeen: string;
}

/** The guarantee is two seconds. A machine that is busy with other tests may take longer. */
const UNAVAILABLE_WITHIN_MS = IS_LONG ? 2000 : 20_000;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

describe('Cluster resource history', { skip: lacks('nats-server') }, () => {
  let bus: TestBus;
  const uid = (name: string) => bus.world.clusters[name]?.uid ?? '';
  const ask = async (query: string) => await bus.as('root')('GET', `/user/bus/cluster-resource-history?${query}`);
  const keys = (items: readonly Item[]) => items.map(({ key }) => key);
  const report = (version: string, more: object = {}) =>
    JSON.stringify({ licenseID: 'lic-1', version, timestamp: '2026-01-02T03:04:05.678Z', ...more });

  before(async () => {
    bus = await openTestBus();
    // The history is created as soon as the bus knows its accounts.
    await until(async () => (await ask(`cluster=${uid('prod')}`)).status === 200);
    const ann = await bus.connect('ann');
    const [prod, staging] = [uid('prod'), uid('staging')];
    ann.publish(`history.${prod}.kubedb%2Ecom.postgreses.db-1`, report('v1'));
    ann.publish(`history.${prod}.kubedb%2Ecom.postgreses.db-1`, report('v2', { resource: 'Postgres' }));
    ann.publish(`history.${prod}.kubedb%2Ecom.redises.cache`, report('v7'));
    ann.publish(`history.${prod}.apps.deployments.web`, report('v3', { licenseID: 7, timestamp: 'noon' }));
    ann.publish(`history.${prod}.core.pods.p%2E1`, report('v4'));
    ann.publish(`history.${prod}.apps.deployments.broken`, 'not json');
    ann.publish(`history.${prod}.apps.deployments.list`, '[1]');
    ann.publish(`history.${prod}.apps`, report('too short a subject'));
    ann.publish(`history.${prod}.apps.deployments.bad%zz`, report('undecodable'));
    ann.publish(`history.${staging}.apps.deployments.web`, report('v9'));
    await ann.flush();
    await ann.close();
    await until(async () => (await ask(`cluster=${staging}`)).body.items.length === 1);
  });
  after(() => bus.close());

  it('Cluster resource history has one item per resource, with its values oldest first', async () => {
    const { status, body } = await ask(`cluster=${uid('prod')}`);
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['items']);
    assert.deepEqual(keys(body.items), [
      'apps/deployments/web',
      'core/pods/p.1',
      'kubedb.com/postgreses/db-1',
      'kubedb.com/redises/cache',
    ]);
    const [web, , db] = body.items as Item[];
    const moment = { licenseID: 'lic-1', timestamp: '2026-01-02T03:04:05Z', resourceID: 'db-1' };
    assert.deepEqual(db?.values, [
      { ...moment, resource: 'postgreses', version: 'v1' },
      { ...moment, resource: 'Postgres', version: 'v2' },
    ]);
    assert.match(db?.lastSeen ?? '', MOMENT);
    assert.equal(web?.values[0]?.licenseID, '');
    assert.match(web?.values[0]?.timestamp ?? '', MOMENT);
  });

  it('Cluster resource history can be filtered by group, resource and id', async () => {
    const found = async (query: string) => keys((await ask(`cluster=${uid('prod')}&${query}`)).body.items);
    assert.deepEqual(await found('group=kubedb.com'), ['kubedb.com/postgreses/db-1', 'kubedb.com/redises/cache']);
    assert.deepEqual(await found('group='), ['core/pods/p.1']);
    assert.deepEqual(await found('group=core'), ['core/pods/p.1']);
    const all = await found('');
    for (const unsaid of ['resource=', 'rid=', 'cursor=', 'since=', 'limit=', 'resource=&rid=&cursor=']) {
      assert.deepEqual(await found(unsaid), all, unsaid);
    }
    assert.deepEqual(await found('resource=deployments'), ['apps/deployments/web']);
    assert.deepEqual(await found('rid=p.1'), ['core/pods/p.1']);
    assert.deepEqual(await found('group=kubedb.com&resource=redises&rid=cache'), ['kubedb.com/redises/cache']);
    for (const nothing of ['group=*', 'resource=%3E', 'rid=*', 'group=nope', 'rid=a%20b']) {
      assert.deepEqual(await found(nothing), [], nothing);
    }
  });

  it('Cluster resource history covers only the requested cluster and is empty for an unknown one', async () => {
    assert.deepEqual(keys((await ask(`cluster=${uid('staging')}`)).body.items), ['apps/deployments/web']);
    assert.deepEqual((await ask('cluster=00000000-0000-0000-0000-000000000000')).body, { items: [] });
  });

  it('Cluster resource history can be limited to a start time', async () => {
    const found = async (since: string) => keys((await ask(`cluster=${uid('prod')}&since=${since}`)).body.items);
    assert.equal((await found('2026-01-01T00:00:00Z')).length, 4);
    assert.equal((await found('2026-01-01T00:00:00%2B02:00')).length, 4);
    assert.equal((await found('2026-01-01T00:00:00+02:00')).length, 4);
    assert.equal((await found(new Date(Date.now() + 60_000).toISOString())).length, 0);
  });

  it('Cluster resource history can be read page by page', async () => {
    const seen: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 10; pages++) {
      const { body } = await ask(`cluster=${uid('prod')}&limit=1${cursor && `&cursor=${cursor}`}`);
      assert.ok(body.items.length <= 1);
      seen.push(...keys(body.items));
      cursor = body.cursor ?? '';
      if (cursor === '') break;
    }
    assert.deepEqual(seen, keys((await ask(`cluster=${uid('prod')}`)).body.items));
  });

  itLong('Resource history returns at most 1,000 items and continues at the cursor', async () => {
    const eve = await bus.connect('eve');
    const count = COUNTS.reportedResources;
    for (let number = 0; number < count; number++) {
      eve.publish(`history.${uid('globex')}.apps.deployments.d${number}`, report(`v${number}`));
    }
    await eve.flush();
    await eve.close();
    const seen = new Set<string>();
    let cursor = '';
    let pages = 0;
    do {
      const { status, body } = await ask(`cluster=${uid('globex')}&limit=99999${cursor && `&cursor=${cursor}`}`);
      assert.equal(status, 200);
      assert.ok(body.items.length <= 1000);
      for (const key of keys(body.items)) seen.add(key);
      cursor = body.cursor ?? '';
      pages++;
    } while (cursor !== '' && pages < 50);
    assert.equal(seen.size, count);
  });

  it('An invalid limit for cluster resource history is ignored', async () => {
    for (const limit of ['', '0', '-3', 'many', '1e3']) {
      assert.equal((await ask(`cluster=${uid('prod')}&limit=${limit}`)).body.items.length, 4, limit);
    }
  });

  it('Users who may not edit a cluster cannot report history for it', async () => {
    const dan = await bus.connect('dan');
    dan.publish(`history.${uid('prod')}.apps.deployments.forged`, report('v666'));
    await dan.flush();
    await dan.close();
    assert.ok(!keys((await ask(`cluster=${uid('prod')}`)).body.items).includes('apps/deployments/forged'));
  });

  it('Cluster resource history keeps the last 64 reports per resource', async () => {
    const ann = await bus.connect('ann');
    for (let number = 0; number < 100; number++) {
      ann.publish(`history.${uid('laptop')}.apps.deployments.busy`, report(`v${number}`));
    }
    await ann.flush();
    await ann.close();
    const last = async () => ((await ask(`cluster=${uid('laptop')}`)).body.items as Item[])[0]?.values;
    await until(async () => (await last())?.at(-1)?.version === 'v99');
    assert.equal((await last())?.length, 64);
  });

  it('Resource history answers 503 within 2 s while the bus is down, then recovers', async () => {
    await bus.nats.kill();
    for (let round = 0; round < 2; round++) {
      const began = performance.now();
      const { status, headers, body } = await ask(`cluster=${uid('prod')}`);
      assert.ok(performance.now() - began < UNAVAILABLE_WITHIN_MS);
      assert.equal(status, 503);
      assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/);
      assert.deepEqual(Object.keys(body), ['message', 'url', 'reason']);
    }
    await bus.nats.restart();
    await until(async () => (await ask(`cluster=${uid('prod')}`)).status === 200);
    assert.equal((await ask(`cluster=${uid('prod')}`)).body.items.length, 4);
  });
});

describe('Cluster resource history without a bus', { skip: lacks('nats-server') }, () => {
  let nats: TestNats;
  let atrium: TestServer;
  const ask = async (of: TestServer) => await of.as('root')('GET', '/user/bus/cluster-resource-history?cluster=x');
  before(async () => {
    nats = await newNats();
    atrium = await openTestServer({ env: nats.env });
  });
  after(async () => {
    await atrium.close();
    await nats.kill();
  });

  it('Resource history answers 503 until the bus is started for the first time', async () => {
    const { status, headers } = await ask(atrium);
    assert.equal(status, 503);
    assert.ok(Number(headers.get('retry-after')) >= 1);
    await nats.start(await atrium.instance.features.bus.serverConfig(nats.folder));
    await until(async () => (await ask(atrium)).status === 200);
  });

  it('Cluster resource history answers 503 when the bus belongs to another deployment', async () => {
    const stranger = await openTestServer({ env: nats.env });
    const answer = await ask(stranger);
    assert.equal(answer.status, 503);
    assert.doesNotMatch(answer.text, /auth/i);
    await stranger.close();
  });
});
