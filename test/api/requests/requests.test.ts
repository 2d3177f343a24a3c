import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { allowedTo } from '../../support/world/authz.ts';
import { openRequestPlace, type RequestPlace } from '../../support/world/requests.ts';

describe('Access requests', () => {
  let atrium: TestServer;
  let place: RequestPlace;
  before(async () => {
    atrium = await openTestServer();
    place = await openRequestPlace(atrium);
  });
  after(() => atrium.close());

  const onProd = () => allowedTo(atrium, place.dan.name, 'cluster', place.prod.id, place.org.name);

  it('A request that is approved gives exactly what it showed, until it is given back', async () => {
    const { dan, owner, as, requests, request, prod, connect, operator, org, lead } = place;
    assert.deepEqual(await onProd(), ['can_view']);
    const why = `/authz/objects/cluster/${prod.id}/explain?org=${org.name}&relation=can_connect`;
    const explained = await as(dan.name)('GET', why);
    assert.deepEqual(explained.body.requestable, { longest: 'P7D', approvals: 1, approvers: 2 }, explained.text);
    const made = await as(dan.name)('POST', requests, { ...connect, for: 'PT4H', reason: 'INC-1234' });
    assert.equal(made.status, 201, made.text);
    const { id, until, created_at: createdAt, digest, ...rest } = made.body;
    assert.match(id, /^req_\d+$/);
    assert.match(digest, /^sha256:[0-9a-f]{64}$/);
    assert.equal(Date.parse(until) - Date.parse(createdAt), 4 * 3_600_000);
    assert.deepEqual([rest.state, rest.reason, rest.approvals_needed, rest.decisions], ['open', 'INC-1234', 1, []]);
    assert.deepEqual(rest.by, { type: 'user', id: Number(dan.id), name: dan.name });
    const on = { type: 'cluster', id: prod.id, name: 'prod' };
    assert.deepEqual(rest.asks, { relation: 'can_connect', object: on, namespaces: null });
    const [change] = rest.changes;
    assert.deepEqual(
      [change.action, change.to, change.on, change.expires_at],
      ['assignment.create', rest.by, on, until],
    );
    assert.equal(rest.impact.total, 1);
    assert.deepEqual(rest.assignment_ids, []);

    const seen = await as(owner.name)('GET', request(id));
    assert.deepEqual(seen.body.changes[0].role, { id: operator.id, name: 'cluster-operator' });
    assert.equal(seen.body.digest, digest);
    assert.deepEqual(
      seen.body.impact.users[0].gains.map((gain: { object: object; relation: string }) => [gain.object, gain.relation]),
      [[on, 'can_connect']],
    );
    const names = seen.body.approvers.map(({ name }: { name: string }) => name);
    assert.deepEqual(names.sort(), [owner.name, lead.name].sort());

    const approved = await as(owner.name)('POST', request(id, 'approve'), { digest, comment: 'fine' });
    assert.equal(approved.status, 200, approved.text);
    assert.deepEqual([approved.body.state, approved.body.decisions[0].decision], ['approved', 'approved']);
    assert.deepEqual(await onProd(), ['can_view', 'can_connect']);
    const [assignment] = approved.body.assignment_ids;
    const row = await as(owner.name)('GET', place.at(assignment));
    assert.deepEqual(
      [row.body.request_id, row.body.expires_at, row.body.reason, row.body.created_by.name],
      [id, until, 'INC-1234', owner.name],
    );
    const again = await as(dan.name)('POST', requests, { ...connect, for: 'PT4H', reason: 'more' });
    assert.deepEqual([again.status, again.body.reason, again.body.until], [409, 'already_allowed', until]);

    const ended = await as(dan.name)('POST', request(id, 'end'));
    assert.deepEqual([ended.status, ended.body.state], [200, 'ended'], ended.text);
    assert.deepEqual(await onProd(), ['can_view']);
    const log = (await auditOf(atrium.instance.db, org.id)).map(({ action }) => action);
    const ofRequest = log.filter((action) => /^(request|assignment)\./.test(action)).slice(-5);
    assert.deepEqual(ofRequest, [
      'request.create',
      'assignment.create',
      'request.approve',
      'assignment.delete',
      'request.end',
    ]);
  });
});
