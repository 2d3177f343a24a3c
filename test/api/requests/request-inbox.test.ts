import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { NAMED_TYPES } from '../../../src/changes/object-kinds.ts';
import { listenForStatements } from '../../support/checks/heard-statements.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { openRequestPlace, type RequestPlace } from '../../support/world/requests.ts';

describe('The inbox of a user who decides about access requests', () => {
  let atrium: TestServer;
  let place: RequestPlace;
  before(async () => {
    atrium = await openTestServer();
    place = await openRequestPlace(atrium);
  });
  after(() => atrium.close());

  it('lists the newest first, page by page, with how many there are, and only what is open', async () => {
    const { ask, as, owner, org, dan, requests } = place;
    const first = await ask({ namespaces: ['db'] });
    const second = await ask();
    const third = await ask({ namespaces: ['web'] });
    const page = async (path: string) => {
      const { status, text, body, headers } = await as(owner.name)('GET', path);
      assert.equal(status, 200, text);
      return [body.map(({ id }: { id: string }) => id), headers.get('x-total-count')];
    };
    const mine = `${requests}&for_me=true`;
    for (const path of [mine, '/user/requests?for_me=true']) {
      assert.deepEqual(await page(`${path}&limit=2`), [[third.id, second.id], '3']);
      assert.deepEqual(await page(`${path}&limit=2&page=2`), [[first.id], '3']);
      assert.deepEqual(await page(`${path}&state=approved`), [[], '0']);
    }
    assert.deepEqual(await page(`${mine}&by=${dan.name}&limit=1`), [[third.id], '3']);
    assert.deepEqual(await page(`${mine}&by=${owner.name}`), [[], '0']);
    assert.equal((await as(owner.name)('POST', `/authz/requests/${second.id}/deny?org=${org.name}`)).status, 200);
    assert.deepEqual(await page(mine), [[third.id, first.id], '2']);
    for (const { id } of [first, third]) {
      assert.equal((await as(dan.name)('POST', `/authz/requests/${id}/cancel?org=${org.name}`)).status, 200);
    }
    assert.deepEqual(await page(mine), [[], '0']);
  });

  it('reads the open requests again only after a write, and only those of the page with all details', async (t) => {
    const { ask, as, owner, dan, requests, request } = place;
    const one = await ask();
    const path = `${requests}&for_me=true`;
    const heard = listenForStatements(t, atrium.instance.db);
    const readsOf = async () => {
      heard.all.length = 0;
      const { body } = await as(owner.name)('GET', path);
      const count = (name: string) => heard.all.filter((each) => each === name).length;
      return [
        body.length,
        count('requests.open'),
        count('requests.some'),
        count('requests.list'),
        count('requests.count'),
      ];
    };
    assert.deepEqual(await readsOf(), [1, 1, 1, 0, 0]);
    assert.deepEqual(await readsOf(), [1, 0, 1, 0, 0]);
    assert.equal((await as(dan.name)('POST', request(one.id, 'cancel'))).status, 200);
    assert.deepEqual(await readsOf(), [0, 1, 0, 0, 0]);
  });

  it('asks for the names of objects of the types that it shows, and of no others', async (t) => {
    const { ask, as, owner, dan, requests, request } = place;
    const { id } = await ask();
    const heard = listenForStatements(t, atrium.instance.db);
    assert.equal((await as(owner.name)('GET', `${requests}&for_me=true`)).body.length, 1);
    const names = heard.all.filter((name) => name.startsWith('explain.names'));
    const placeOf = (wanted: string) => NAMED_TYPES.findIndex(({ type }) => type === wanted);
    assert.deepEqual(names, [`explain.names:${placeOf('cluster')}`, `explain.names:${placeOf('user')}`]);
    assert.equal((await as(dan.name)('POST', request(id, 'cancel'))).status, 200);
  });
});
