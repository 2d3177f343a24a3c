import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { rejected } from '../../support/world/assignments.ts';
import { allowedTo } from '../../support/world/authz.ts';
import { addMember, createTeam, makePerson } from '../../support/world/people.ts';
import { openRequestPlace, type RequestPlace } from '../../support/world/requests.ts';

describe('Request rules', () => {
  let atrium: TestServer | undefined;
  let place: RequestPlace;
  const server = async () => (atrium ??= await openTestServer());
  beforeEach(async () => {
    place = await openRequestPlace(await server());
  });
  after(() => atrium?.close());

  const heldOn = async (id: number) => await allowedTo(await server(), place.dan.name, 'cluster', id, place.org.name);

  it('Rules are an ordered list, which only owners change, under its version', async () => {
    const { as, org, owner, lead, dan, prod } = place;
    const path = `/orgs/${org.name}/request_rules`;
    const empty = await as(owner.name)('GET', path);
    assert.deepEqual([empty.status, empty.body], [200, []]);
    const rule = { name: 'prod', match: { objects: [{ type: 'cluster', name: 'prod' }], roles: ['cluster-operator'] } };
    const saved = await as(owner.name)('PUT', path, [rule], { 'If-Match': empty.headers.get('etag') ?? '' });
    assert.equal(saved.status, 200, saved.text);
    const objects = [{ type: 'cluster', id: prod.id, name: 'prod' }];
    const match = { objects, roles: ['cluster-operator'] };
    assert.deepEqual(saved.body, [{ name: 'prod', match, longest: 'P7D', approvals: 1, allow: true }]);
    const again = await as(owner.name)('GET', path);
    assert.deepEqual([again.body, again.headers.get('etag')], [saved.body, saved.headers.get('etag')]);
    const stale = await as(owner.name)('PUT', path, [], { 'If-Match': empty.headers.get('etag') ?? '' });
    assert.equal(stale.status, 412);
    const denied = await rejected(as(lead.name), ['PUT', path, []], 403, 'missing_relation');
    assert.equal(denied.relation, 'owner');
    await rejected(as(dan.name), ['GET', path], 403, 'missing_relation');
    for (const wrong of [
      {},
      { name: 'a', longest: 'P91D' },
      { name: 'a', approvals: 4 },
      { name: 'a', approvers: 'Manager' },
      { name: 'a', approvers: { manager: true } },
      { name: 'a', approvers: { team: 4 } },
      { name: 'a', match: { roles: [1] } },
      { name: 'a', match: { relation: ['can_view'] } },
      { name: 'a', approval: 3 },
      { name: 'a', match: { requesters: 'nobody' } },
      { name: 'a', match: { relations: ['can_fly'] } },
      { name: 'a', match: { objects: [{ type: 'cluster', name: 'gone' }] } },
    ]) {
      const answer = await as(owner.name)('PUT', path, [wrong]);
      assert.deepEqual([answer.status, answer.body.reason], [422, 'validation_failed'], JSON.stringify(wrong));
    }
    const twice = await as(owner.name)('PUT', path, [{ name: 'a' }, { name: 'A' }]);
    assert.equal(twice.status, 422);
  });

  it('A rule that needs no approval approves by itself, and the audit log names it', async () => {
    const { ask, rules, prod, org, dan, requests, connect, as } = place;
    await rules({ name: 'staff', match: { roles: ['cluster-operator'] }, approvals: 0, longest: 'PT2H' });
    await rejected(as(dan.name), ['POST', requests, { ...connect, for: 'PT3H', reason: 'x' }], 422, 'not_requestable');
    const made = await ask({ for: 'PT1H' });
    assert.deepEqual([made.state, made.rule, made.assignment_ids.length], ['approved', 'staff', 1]);
    assert.deepEqual(await heldOn(prod.id), ['can_view', 'can_connect']);
    const log = await auditOf((await server()).instance.db, org.id);
    const entry = log.find(({ action }) => action === 'request.approve');
    assert.equal(JSON.parse(entry?.after ?? '{}').rule, 'staff');
  });

  it('What nobody approves gives nothing besides, unless the rule names the role', async () => {
    const { rules, role, as, dan, requests, prod, ask } = place;
    await role('editor', 'cluster_mgmt reconfigure clusters', 'cluster_mgmt remove clusters');
    const edit = { relation: 'can_edit', object: { type: 'cluster', id: prod.id } };
    await rules({ name: 'all', approvals: 0 });
    await rejected(as(dan.name), ['POST', requests, { ...edit, for: 'PT1H', reason: 'x' }], 422, 'not_requestable');
    await rules({ name: 'named', match: { roles: ['Editor'] }, approvals: 0 });
    assert.equal((await ask({ ...edit, for: 'PT1H' })).state, 'approved');
  });

  it('What nobody approves makes nothing last longer that the requester holds already', async () => {
    const { rules, role, as, dan, owner, requests, prod, org } = place;
    const both = await role('both', 'cluster_mgmt reconfigure clusters', 'cluster_mgmt connect to clusters');
    const soon = new Date(Date.now() + 600_000).toISOString();
    const body = {
      role: { name: 'cluster-operator' },
      to: { type: 'user', name: dan.name },
      on: { type: 'cluster', id: prod.id },
    };
    const short = await as(owner.name)('POST', `/authz/assignments?org=${org.name}`, { ...body, expires_at: soon });
    assert.equal(short.status, 201, short.text);
    await rules({ name: 'all', approvals: 0 });
    const edit = { relation: 'can_edit', object: { type: 'cluster', id: prod.id }, for: 'P1D', reason: 'x' };
    await rejected(as(dan.name), ['POST', requests, edit], 422, 'not_requestable');
    assert.equal((await as(owner.name)('DELETE', place.at(short.body.id))).status, 204);
    assert.ok((await as(owner.name)('DELETE', `/authz/roles/${both.id}?org=${org.name}`)).status < 300);
  });

  it('The first rule that matches decides, and without one nothing can be requested', async () => {
    const { rules, as, dan, requests, connect, staging, ask, org, crew } = place;
    const body = { ...connect, for: 'PT1H', reason: 'x' };
    await rules({ name: 'no', match: { cluster_sets: ['eu'] }, allow: false }, { name: 'yes' });
    await rejected(as(dan.name), ['POST', requests, body], 422, 'not_requestable');
    await rules({ name: 'other', match: { relations: ['can_edit'] } });
    await rejected(as(dan.name), ['POST', requests, body], 422, 'not_requestable');
    const unseen = { relation: 'can_connect', object: { type: 'cluster', id: staging.id } };
    await rejected(as(dan.name), ['POST', requests, { ...body, ...unseen }], 404, 'cluster_not_found');
    await rules({ name: 'crew', match: { requesters: 'crew' } });
    assert.equal((await ask(unseen)).state, 'open');
    assert.ok(crew > 0 && org.name);
  });

  it('Several approvals are needed from different approvers, who are in the team of the rule', async () => {
    const { rules, ask, as, owner, lead, approve, request, org } = place;
    await rules({ name: 'two', approvals: 2 });
    const made = await ask();
    assert.equal(made.approvals_needed, 2);
    const first = await approve(made.id, lead.name);
    assert.deepEqual([first.status, first.body.state, first.body.decisions.length], [200, 'open', 1], first.text);
    await rejected(
      as(lead.name),
      ['POST', request(made.id, 'approve'), { digest: made.digest }],
      409,
      'already_decided',
    );
    assert.deepEqual(await heldOn(place.prod.id), ['can_view']);
    const last = await approve(made.id, owner.name);
    assert.deepEqual([last.status, last.body.state], [200, 'approved'], last.text);
    await rules({ name: 'three', approvals: 3 });
    const edit = { relation: 'can_view_orchestratorconfig', for: 'PT1H', reason: 'x' };
    const lacking = await as(place.cat.name)('POST', place.requests, {
      ...place.connect,
      ...edit,
      relation: 'can_connect',
    });
    assert.deepEqual([lacking.status, lacking.body.reason], [422, 'not_requestable']);
    const board = await createTeam((await server()).instance, {
      organizationId: org.id,
      name: 'board',
      permission: 'none',
    });
    await addMember((await server()).instance, board, lead.id);
    await rules({ name: 'board', approvers: { team: 'board' } });
    const next = await ask({}, place.cat.name);
    assert.deepEqual(next.approvers_count, 1);
    await rejected(
      as(owner.name),
      ['POST', request(next.id, 'approve'), { digest: next.digest }],
      403,
      'not_an_approver',
    );
    assert.equal((await approve(next.id, lead.name)).body.state, 'approved');
  });

  it('Breaking the glass is granted at once, for an hour, until an owner acknowledges it', async () => {
    const { rules, ask, as, dan, cat, owner, lead, requests, request, connect } = place;
    await rules({ name: 'emergency', match: { roles: ['cluster-operator'] }, break_glass: true });
    const body = { ...connect, for: 'PT2H', reason: 'fire', break_glass: true };
    const long = await rejected(as(dan.name), ['POST', requests, body], 422, 'not_requestable');
    assert.equal(long.longest, 'PT1H');
    const made = await ask({ for: 'PT1H', break_glass: true });
    assert.deepEqual([made.state, made.break_glass.acknowledged_at], ['approved', null]);
    assert.deepEqual(await heldOn(place.prod.id), ['can_view', 'can_connect']);
    assert.equal((await as(dan.name)('POST', request(made.id, 'end'))).body.state, 'ended');
    await rejected(as(dan.name), ['POST', requests, { ...body, for: 'PT1H' }], 409, 'not_acknowledged');
    await rejected(as(dan.name), ['POST', request(made.id, 'acknowledge')], 403, 'own_request');
    await rejected(as(cat.name), ['POST', request(made.id, 'acknowledge')], 404, 'request_not_found');
    await rejected(as(lead.name), ['POST', request(made.id, 'acknowledge')], 403, 'missing_relation');
    for (const _ of [1, 2]) {
      const done = await as(owner.name)('POST', request(made.id, 'acknowledge'));
      assert.equal(done.status, 200, done.text);
      assert.notEqual(done.body.break_glass.acknowledged_at, null);
    }
    assert.equal((await ask({ for: 'PT1H', break_glass: true })).state, 'approved');
    assert.ok(await makePerson(await server()));
  });
});
