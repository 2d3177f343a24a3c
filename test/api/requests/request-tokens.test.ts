import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { rejected } from '../../support/world/assignments.ts';
import type { WireRemedy } from '../../support/world/remedies.ts';
import { openRequestPlace, type RequestPlace } from '../../support/world/requests.ts';
import { tokenCalls } from '../../support/world/tokens.ts';

describe('Access requests with limited tokens', () => {
  let atrium: TestServer;
  let place: RequestPlace;
  before(async () => {
    atrium = await openTestServer();
    place = await openRequestPlace(atrium);
  });
  after(() => atrium.close());

  const limited = async (name: string, limits: object) => {
    const calls = tokenCalls(atrium);
    const made = await calls.make(name, { name: `of ${JSON.stringify(limits)}`, scopes: ['all'], limits });
    return calls.withToken(made.sha1);
  };
  const ids = (body: readonly { readonly id: string }[]) => body.map(({ id }) => id);

  it('A token reaches the requests for what it is limited to, and no other exists for it', async () => {
    const { ask, as, dan, owner, prod, staging, org, requests, request, connect, call, looker, path } = place;
    const seen = { role: { id: looker.id }, to: { type: 'user', id: Number(dan.id) } };
    assert.equal((await call('POST', path, { ...seen, on: { type: 'cluster', id: staging.id } })).status, 201);
    const onStaging = await ask({ object: { type: 'cluster', id: staging.id } });
    const onProd = [{ type: 'cluster', id: prod.id }];
    const dans = await limited(dan.name, { objects: onProd });
    const owners = await limited(owner.name, { objects: onProd });
    const whole = await limited(owner.name, { organizations: [org.name] });
    const body = { ...connect, for: 'PT1H', reason: 'x' };
    const outside = { ...body, object: { type: 'cluster', id: staging.id } };
    await rejected(dans, ['POST', requests, outside], 404, 'cluster_not_found');
    const made = await dans('POST', requests, body);
    assert.equal(made.status, 201, made.text);
    const { id, digest } = made.body;
    for (const one of [dans, owners]) {
      assert.deepEqual(ids((await one('GET', requests)).body), [id]);
      await rejected(one, ['GET', request(onStaging.id)], 404, 'request_not_found');
    }
    assert.deepEqual(ids((await whole('GET', requests)).body), [id, onStaging.id]);
    assert.deepEqual(ids((await dans('GET', '/user/requests')).body), [id]);
    assert.deepEqual(ids((await owners('GET', '/user/requests?for_me=true')).body), [id]);
    for (const verb of ['approve', 'deny'])
      await rejected(
        owners,
        ['POST', request(onStaging.id, verb), { digest: onStaging.digest }],
        404,
        'request_not_found',
      );
    for (const verb of ['cancel', 'end'])
      await rejected(dans, ['POST', request(onStaging.id, verb)], 404, 'request_not_found');
    const approved = await owners('POST', request(id, 'approve'), { digest });
    assert.deepEqual([approved.status, approved.body.state], [200, 'approved'], approved.text);
    assert.equal((await dans('POST', request(id, 'end'))).body.state, 'ended');
    assert.equal((await as(dan.name)('POST', request(onStaging.id, 'cancel'))).status, 200);
  });

  it('A remedy is chosen by its changes, and lists take several states', async () => {
    const { as, dan, prod, org, operator, requests, request, connect, call, path } = place;
    // Whoever may view roles is offered changes with their names.
    const viewer = await place.role('role viewer', 'org_mgmt view roles', 'org_mgmt view teams');
    const given = await call('POST', path, { role: { id: viewer.id }, to: { type: 'user', id: Number(dan.id) } });
    assert.equal(given.status, 201, given.text);
    const why = `/authz/objects/cluster/${prod.id}/explain?org=${org.name}&relation=can_connect&remedies=true`;
    const explained = await as(dan.name)('GET', why);
    const { remedies } = explained.body;
    const [chosen] = remedies.filter(({ change }: WireRemedy) =>
      change.changes.every(({ action }) => action === 'assignment.create'),
    );
    assert.ok(chosen, explained.text);
    const body = { ...connect, for: 'PT1H', reason: 'x' };
    const odd = { ...body, remedy: { changes: [{ ...chosen.change.changes[0], role: { id: 999_999 } }] } };
    await rejected(as(dan.name), ['POST', requests, odd], 422, 'not_requestable');
    const made = await as(dan.name)('POST', requests, { ...body, remedy: { changes: chosen.change.changes } });
    assert.deepEqual([made.status, made.body.changes[0].role.id], [201, operator.id], made.text);
    const listed = await as(dan.name)('GET', `${requests}&state=open,cancelled`);
    assert.deepEqual(
      listed.body.map(({ state }: { state: string }) => state),
      ['open', 'cancelled'],
    );
    assert.equal((await as(dan.name)('POST', request(made.body.id, 'cancel'))).status, 200);
  });

  it('Access in namespaces ends there, and nothing of the cluster besides is given', async () => {
    const { ask, approve, as, dan, prod, org, request } = place;
    const made = await ask({ namespaces: ['web', 'team-*'] });
    assert.deepEqual(made.asks.namespaces, ['web', 'team-*']);
    assert.deepEqual(
      made.impact.users[0].gains.map((one: { relation: string; namespaces: string[] }) => [
        one.relation,
        one.namespaces,
      ]),
      [['can_connect', ['web', 'team-*']]],
    );
    assert.equal((await approve(made.id)).body.state, 'approved');
    const held = async (namespace: string) => {
      const query = `?org=${org.name}${namespace === '' ? '' : `&namespace=${namespace}`}`;
      const answer = await as(dan.name)('GET', `/authz/objects/cluster/${prod.id}/allowed-permissions${query}`);
      return answer.body.allowedPermissions.includes('can_connect');
    };
    assert.deepEqual(await Promise.all(['web', 'team-a', 'db', ''].map(held)), [true, true, false, false]);
    assert.equal((await as(dan.name)('POST', request(made.id, 'end'))).body.state, 'ended');
    assert.equal(await held('web'), false);
  });
});
