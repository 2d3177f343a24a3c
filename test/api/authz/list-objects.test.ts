import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

describe('GET /authz/objects/{objectType}', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const ask = (caller: string | undefined, type: string, query: string) =>
    atrium.as(caller)('GET', `/authz/objects/${type}?org=acme&${query}`);
  const names = async (caller: string, type: string, query: string) => {
    const { status, body, headers, text } = await ask(caller, type, query);
    assert.equal(status, 200, text);
    assert.equal(headers.get('x-total-count'), String(body.length));
    for (const one of body) assert.deepEqual(Object.keys(one), ['type', 'id', 'name']);
    return body.map(({ name }: { name: string }) => name);
  };

  it('A caller lists what they can reach, including what is their own', async () => {
    assert.deepEqual(await names('ann', 'cluster', 'relation=can_connect'), ['prod', 'staging', 'laptop']);
    assert.deepEqual(await names('dan', 'cluster', 'relation=can_connect'), ['prod', 'staging']);
    assert.deepEqual(await names('dan', 'cluster', 'relation=can_edit'), []);
    assert.deepEqual(await names('cat', 'organization', 'relation=can_view'), ['acme']);
  });

  it('Whoever may see the members can ask about another user, but never sees what only that user owns', async () => {
    assert.deepEqual(await names('ann', 'cluster', 'relation=can_connect&user=dan'), ['prod', 'staging']);
    assert.deepEqual(await names('bob', 'cluster', 'relation=can_edit&user=ann'), ['prod', 'staging']);
    assert.deepEqual(await names('ann', 'cluster', 'relation=can_view&user=eve'), []);
    assert.deepEqual(await names('root', 'team', 'relation=can_edit&user=dan'), []);
  });

  it('The answer agrees with the answer about each single object', async () => {
    for (const user of ['ann', 'bob', 'cat', 'dan', 'eve']) {
      for (const [name, { id, org }] of Object.entries(atrium.world.clusters)) {
        if (org !== 'acme') continue;
        const { body } = await atrium.as('ann')(
          'GET',
          `/authz/objects/cluster/${id}/explain?org=acme&relation=can_edit&user=${user}`,
        );
        const listed = await names('ann', 'cluster', `relation=can_edit&user=${user}`);
        assert.equal(listed.includes(name), body.allowed, `${user} ${name}`);
      }
    }
  });

  it('Objects are paged', async () => {
    const { body, headers } = await ask('ann', 'cluster', 'relation=can_view&limit=1&page=2');
    assert.deepEqual([body.length, body[0].name, headers.get('x-total-count')], [1, 'staging', '3']);
    assert.match(headers.get('link') ?? '', /rel="next"/);
  });

  it('Questions that make no sense or are not allowed are rejected', async () => {
    for (const [caller, type, query, status, reason] of [
      ['ann', 'cluster', 'relation=can_fly', 400, 'unknown_relation'],
      ['ann', 'cluster', 'relation=owner', 400, 'unknown_relation'],
      ['ann', 'thing', 'relation=can_view', 400, 'invalid_request'],
      ['ann', 'user', 'relation=can_view', 400, 'invalid_request'],
      ['ann', 'cluster', '', 400, 'invalid_request'],
      ['ann', 'cluster', 'relation=can_view&user=nobody', 404, 'user_not_found'],
      ['dan', 'cluster', 'relation=can_view&user=ann', 403, 'missing_relation'],
      ['eve', 'cluster', 'relation=can_view&user=ann', 403, 'missing_relation'],
      [undefined, 'cluster', 'relation=can_view', 401, 'unauthenticated'],
    ] as const) {
      const { status: got, body } = await ask(caller, type, query);
      assert.deepEqual([got, body.reason], [status, reason], `${caller} ${type} ${query}`);
    }
    assert.equal((await atrium.as('ann')('GET', '/authz/objects/cluster?relation=can_view')).status, 400);
    assert.deepEqual((await ask('eve', 'cluster', 'relation=can_view')).body, []);
    assert.equal((await atrium.as('ann')('GET', '/authz/objects/allowed-permissions?org=acme')).status, 405);
  });
});
