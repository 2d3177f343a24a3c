import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { rejected } from '../../support/world/assignments.ts';
import { makeOrganization, makePerson } from '../../support/world/people.ts';
import { openRequestPlace, type RequestPlace } from '../../support/world/requests.ts';

describe('Rejected access requests', () => {
  let atrium: TestServer;
  let place: RequestPlace;
  before(async () => {
    atrium = await openTestServer();
    place = await openRequestPlace(atrium);
  });
  after(() => atrium.close());

  it('Asking is rejected for a reason that says what is wrong', async () => {
    const { as, dan, requests, connect, prod, staging, org } = place;
    const cluster = { type: 'cluster', id: prod.id };
    const base = { ...connect, for: 'PT1H', reason: 'x' };
    const rows: [string, object, number, string][] = [
      ['for and until', { ...base, until: '2099-01-01T00:00:00Z' }, 422, 'validation_failed'],
      ['neither', { ...base, for: undefined }, 422, 'validation_failed'],
      ['months', { ...base, for: 'P1M' }, 422, 'validation_failed'],
      ['seconds', { ...base, for: 'PT59S' }, 422, 'validation_failed'],
      ['past', { ...base, for: undefined, until: '2020-01-01T00:00:00Z' }, 422, 'validation_failed'],
      ['no reason', { ...base, reason: '' }, 422, 'validation_failed'],
      ['long reason', { ...base, reason: 'x'.repeat(1001) }, 422, 'validation_failed'],
      ['relation', { ...base, relation: 'can_fly' }, 400, 'unknown_relation'],
      ['inner relation', { ...base, relation: 'viewer' }, 400, 'unknown_relation'],
      ['unseen', { ...base, object: { type: 'cluster', id: staging.id } }, 404, 'cluster_not_found'],
      ['absent', { ...base, object: { type: 'cluster', id: 999_999 } }, 404, 'cluster_not_found'],
      ['neither id nor name', { ...base, object: { type: 'cluster' } }, 422, 'validation_failed'],
      ['two names', { ...base, object: { ...cluster, name: 'staging' } }, 422, 'validation_failed'],
      ['user', { ...base, object: { type: 'user', id: 1 } }, 422, 'not_requestable'],
      ['role', { ...base, object: { type: 'role', id: 1 } }, 422, 'not_requestable'],
      ['nonsense', { ...base, object: { type: 'planet', id: 1 } }, 404, 'not_found'],
      ['too long', { ...base, for: 'P8D' }, 422, 'not_requestable'],
      [
        'deletion',
        { ...base, relation: 'can_delete', object: { type: 'organization', id: Number(org.id) } },
        422,
        'not_requestable',
      ],
      ['no remedy there', { ...base, remedy: 99 }, 422, 'not_requestable'],
      ['break glass', { ...base, break_glass: true }, 422, 'not_requestable'],
      ['namespaces', { ...base, namespaces: [] }, 422, 'validation_failed'],
      ['held', { ...base, relation: 'can_view', object: cluster }, 409, 'already_allowed'],
    ];
    for (const [name, body, status, reason] of rows) {
      const answer = await as(dan.name)('POST', requests, body);
      assert.deepEqual([name, answer.status, answer.body.reason], [name, status, reason], answer.text);
      if (name === 'too long') assert.equal(answer.body.longest, 'P7D');
      if (name === 'held') assert.equal(answer.body.until, null);
      if (name === 'two names') assert.equal(answer.body.errors[0].field, 'object');
    }
    for (const [method, path, body] of [
      ['POST', requests, base],
      ['GET', requests, undefined],
      ['GET', `/authz/reviews?org=${org.name}`, undefined],
      ['GET', `/authz/unused?org=${org.name}`, undefined],
      ['GET', `/authz/assignments?org=${org.name}`, undefined],
    ] as const) {
      const answer = await as(place.owner.name)(method, `${path}&later=1`, body);
      assert.deepEqual([path, answer.status, answer.body.reason], [path, 400, 'invalid_request'], answer.text);
    }
  });

  it('Only those who could make the change decide, and nobody for themselves', async () => {
    const { as, dan, cat, lead, owner, request, ask, requests, connect } = place;
    const { id, digest } = await ask();
    const stranger = await makePerson(atrium);
    const elsewhere = await makeOrganization(atrium, stranger.name);
    for (const verb of ['approve', 'deny'])
      await rejected(as(dan.name), ['POST', request(id, verb), { digest }], 403, 'own_request');
    for (const verb of ['approve', 'deny', 'cancel', 'end', 'acknowledge'])
      await rejected(as(cat.name), ['POST', request(id, verb), { digest }], 404, 'request_not_found');
    await rejected(as(cat.name), ['GET', request(id)], 404, 'request_not_found');
    await rejected(as(stranger.name), ['GET', request(id)], 403, 'forbidden');
    const other = `/authz/requests/${id}?org=${elsewhere.name}`;
    await rejected(as(stranger.name), ['GET', other], 404, 'request_not_found');
    await rejected(as(owner.name), ['POST', request(id, 'approve'), {}], 422, 'validation_failed');
    await rejected(as(owner.name), ['POST', request(id, 'approve'), { digest: 1 }], 422, 'validation_failed');
    const stale = await rejected(
      as(owner.name),
      ['POST', request(id, 'approve'), { digest: 'x' }],
      409,
      'changed_since',
    );
    assert.equal(stale.request.id, id);
    await rejected(as(owner.name), ['POST', request(id, 'end')], 409, 'conflict');
    await rejected(as(owner.name), ['POST', request(id, 'cancel')], 403, 'forbidden');
    const same = await as(dan.name)('POST', requests, { ...connect, for: 'PT2H', reason: 'again' });
    assert.deepEqual([same.status, same.body.id], [200, id]);
    const denied = await as(lead.name)('POST', request(id, 'deny'), { comment: 'no' });
    assert.deepEqual([denied.status, denied.body.state, denied.body.decisions[0].comment], [200, 'denied', 'no']);
    for (const verb of ['approve', 'deny'])
      await rejected(as(owner.name), ['POST', request(id, verb), { digest }], 409, 'request_closed');
    for (const verb of ['cancel', 'end'])
      await rejected(as(dan.name), ['POST', request(id, verb)], 409, 'request_closed');
  });

  it('Nobody asks or decides on behalf of another user, and robots do not decide', async () => {
    const { as, dan, owner, request, ask, requests, connect } = place;
    const { id, digest } = await ask();
    const root = atrium.as('root');
    const body = { ...connect, relation: 'can_edit', for: 'PT1H', reason: 'x' };
    await rejected(root, ['POST', `${requests}&sudo=${dan.name}`, body], 403, 'sudo_forbidden');
    for (const verb of ['approve', 'deny', 'cancel'])
      await rejected(root, ['POST', `${request(id, verb)}&sudo=${owner.name}`, { digest }], 403, 'sudo_forbidden');
    const cancelled = await as(dan.name)('POST', request(id, 'cancel'));
    assert.deepEqual([cancelled.status, cancelled.body.state], [200, 'cancelled']);
  });
});
