import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace } from '../../support/world/assignments.ts';
import { tokenCalls } from '../../support/world/tokens.ts';

describe('Assignments and tokens with limits', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('A token for single objects neither sees nor changes assignments, one for the organization does as its owner', async () => {
    const place = await openPlace(atrium);
    const { path, at, prod, operator, owner, org, dan } = place;
    const to = { type: 'user', id: Number(dan.id) };
    const { id } = await assign(place, operator.id, to, { type: 'cluster', id: prod.id });
    const { make, withToken } = tokenCalls(atrium);
    const tokenFor = async (name: string, limits: object) =>
      withToken((await make(owner.name, { name, scopes: ['all'], limits })).sha1);
    const narrow = await tokenFor('narrow', { objects: [{ type: 'cluster', id: prod.id }] });
    const calls: readonly (readonly [method: string, path: string, body?: unknown])[] = [
      ['GET', path],
      ['GET', `${path}&on=cluster:${prod.id}`],
      ['GET', at(id)],
      ['GET', at(999_999)],
      ['POST', path, { nonsense: 1 }],
      ['PATCH', at(id), { reason: 'x' }],
      ['DELETE', at(id)],
    ];
    for (const [method, where, body] of calls) {
      const answer = await narrow(method, where, body);
      assert.deepEqual(
        [answer.status, answer.body.reason],
        [403, 'token_limited'],
        `${method} ${where}: ${answer.text}`,
      );
    }
    const elsewhere = await narrow('GET', '/authz/assignments?org=acme');
    assert.deepEqual([elsewhere.status, elsewhere.body.reason], [403, 'forbidden'], elsewhere.text);
    const whole = await tokenFor('whole', { organizations: [org.name] });
    assert.equal((await whole('GET', path)).body.length, 1);
    const again = await whole('POST', path, {
      role: { id: operator.id },
      to,
      on: { type: 'cluster', name: 'staging' },
    });
    assert.equal(again.status, 201, again.text);
    assert.equal((await whole('DELETE', at(id))).status, 204);
  });
});
