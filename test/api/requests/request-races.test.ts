import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { allowedTo } from '../../support/world/authz.ts';
import { openRequestPlace } from '../../support/world/requests.ts';

describe('Concurrent decisions about access requests', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ driver: 'postgres' });
  });
  after(() => atrium.close());

  it('However many decide at the same moment, a request has exactly one outcome', async () => {
    const place = await openRequestPlace(atrium);
    const { as, ask, dan, owner, lead, request, org, prod, operator } = place;
    for (let round = 0; round < COUNTS.raceRounds; round++) {
      const { id, digest } = await ask();
      const calls = Array.from({ length: Math.ceil(COUNTS.requestDecisions / 4) }, () => [
        () => as(owner.name)('POST', request(id, 'approve'), { digest }),
        () => as(lead.name)('POST', request(id, 'deny'), {}),
        () => as(dan.name)('POST', request(id, 'cancel')),
        () => as(lead.name)('POST', request(id, 'approve'), { digest }),
      ]).flat();
      const answers = await Promise.all(calls.map((call) => call()));
      const done = answers.filter(({ status }) => status === 200);
      assert.equal(done.length, 1, answers.map(({ status, text }) => `${status} ${text}`).join('\n'));
      for (const { status, body } of answers)
        if (status !== 200) assert.deepEqual([status, body.reason], [409, 'request_closed']);
      const { body } = await as(owner.name)('GET', request(id));
      assert.equal(body.state, done[0]?.body.state);
      const chain = await auditOf(atrium.instance.db, org.id);
      assert.deepEqual(brokenLinks(chain), []);
      const outcomes = chain.filter(
        ({ action, object_id }) => `req_${object_id}` === id && action !== 'request.create',
      );
      assert.equal(outcomes.length, 1);
      const held = await allowedTo(atrium, dan.name, 'cluster', prod.id, org.name);
      assert.equal(held.includes('can_connect'), body.state === 'approved');
      if (body.state === 'approved') assert.equal((await as(dan.name)('POST', request(id, 'end'))).status, 200);
    }
    assert.ok(operator.id > 0);
  });

  it('The same request at the same moment is one request', async () => {
    const { as, dan, requests, connect } = await openRequestPlace(atrium);
    const body = { ...connect, for: 'PT1H', reason: 'x' };
    const answers = await Promise.all([1, 2, 3].map(() => as(dan.name)('POST', requests, body)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 201]);
    assert.equal(new Set(answers.map((answer) => answer.body.id)).size, 1);
  });

  it('A role that changes meanwhile gives only what was approved, or nothing', async () => {
    for (let round = 0; round < COUNTS.raceRounds; round++) {
      const { as, ask, owner, request, operator, org, dan, prod } = await openRequestPlace(atrium);
      const { id, digest } = await ask();
      const permissions = ['view clusters', 'connect to clusters', 'remove clusters'].map((action) => ({
        namespace: 'cluster_mgmt',
        action,
      }));
      const role = `/authz/roles/${operator.id}?org=${org.name}`;
      const [approved, changed] = await Promise.all([
        as(owner.name)('POST', request(id, 'approve'), { digest }),
        as(owner.name)('PUT', role, { permissions }),
      ]);
      assert.equal(changed.status, 200, changed.text);
      assert.ok(approved.status === 200 || approved.body.reason === 'changed_since', approved.text);
      const held = await allowedTo(atrium, dan.name, 'cluster', prod.id, org.name);
      if (approved.status !== 200) assert.deepEqual(held, ['can_view']);
      if (approved.status !== 200) assert.equal(approved.body.request.state, 'open');
    }
  });
});
