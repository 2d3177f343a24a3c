import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { rejected } from '../../support/world/assignments.ts';
import { openRequestPlace, type RequestPlace } from '../../support/world/requests.ts';
import { makeRobot } from '../../support/world/robots.ts';

describe('Access requests of robots, and by limited tokens', () => {
  let atrium: TestServer;
  let place: RequestPlace;
  before(async () => {
    atrium = await openTestServer();
    place = await openRequestPlace(atrium);
  });
  after(() => atrium.close());

  it('A robot asks for itself, decides nothing, and whoever created its token does not decide for it', async () => {
    const { org, owner, lead, requests, request, connect, prod, looker, as } = place;
    const robot = await makeRobot(atrium, 'asker', { org: org.name, owner: owner.name });
    const seen = {
      role: { id: looker.id },
      to: { type: 'robot_ac', id: robot.id },
      on: { type: 'cluster', id: prod.id },
    };
    assert.equal((await place.call('POST', place.path, seen)).status, 201);
    const made = await robot.call('POST', requests, { ...connect, for: 'PT1H', reason: 'deploy' });
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(made.body.by, { type: 'robot_ac', id: robot.id, name: 'asker' });
    const { id, digest } = made.body;
    for (const verb of ['approve', 'deny'])
      await rejected(robot.call, ['POST', request(id, verb), { digest }], 403, 'not_for_robots');
    await rejected(as(owner.name), ['POST', request(id, 'approve'), { digest }], 403, 'not_an_approver');
    await rejected(robot.call, ['GET', '/user/requests'], 403, 'not_for_robots');
    assert.equal((await robot.call('GET', requests)).body.length, 1);
    const approved = await as(lead.name)('POST', request(id, 'approve'), { digest });
    assert.deepEqual([approved.status, approved.body.state], [200, 'approved'], approved.text);
    const ended = await robot.call('POST', request(id, 'end'));
    assert.deepEqual([ended.status, ended.body.state], [200, 'ended'], ended.text);
  });

  it('Lists show what a reader asked for, what they can decide, and to readers of the audit log everything', async () => {
    const { ask, as, dan, cat, lead, owner, requests, request } = place;
    const [one, two] = [await ask(), await ask({}, cat.name)];
    const listed = async (name: string, path: string) => {
      const answer = await as(name)('GET', path);
      assert.equal(answer.status, 200, answer.text);
      return answer.body.map(({ id }: { id: string }) => id);
    };
    assert.deepEqual(await listed(dan.name, `${requests}&state=open`), [one.id]);
    assert.deepEqual(await listed(owner.name, `${requests}&state=open`), [two.id, one.id]);
    assert.deepEqual(await listed(owner.name, `${requests}&state=open&by=${dan.name}`), [one.id]);
    assert.deepEqual(await listed(owner.name, `${requests}&state=open&by=user:${cat.id}`), [two.id]);
    assert.deepEqual(await listed(lead.name, `${requests}&for_me=true`), [two.id, one.id]);
    assert.deepEqual(await listed(dan.name, `${requests}&for_me=true`), []);
    assert.deepEqual(await listed(dan.name, '/user/requests?state=open'), [one.id]);
    assert.deepEqual(await listed(lead.name, '/user/requests?for_me=true'), [two.id, one.id]);
    await rejected(as(dan.name), ['GET', `${requests}&state=lost`], 400, 'invalid_request');
    const { body } = await as(dan.name)('GET', request(one.id));
    assert.deepEqual([body.approvers, body.approvers_count], [[], 2]);
    assert.equal(body.changes[0].role.name, '(hidden)');
    for (const { id, by } of [one, two]) assert.equal((await as(by.name)('POST', request(id, 'cancel'))).status, 200);
  });

  it('A rejection says whether the caller could ask, and a 404 does not', async () => {
    const { as, dan, prod, staging } = place;
    const path = `/clusters/${prod.id}`;
    const denied = await rejected(as(dan.name), ['PATCH', path, { description: 'x' }], 403, 'missing_relation');
    assert.equal(denied.requestable, true);
    const hidden = await rejected(as(dan.name), ['PATCH', `/clusters/${staging.id}`, {}], 404, 'cluster_not_found');
    assert.equal('requestable' in hidden, false);
  });
});
