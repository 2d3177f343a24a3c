import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace, rejected } from '../../support/world/assignments.ts';

describe('What assignments name', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('An object that the caller may not see does not exist for them, whatever name they guess with its ID', async () => {
    const place = await openPlace(atrium);
    const { path, dan, prod, operator, crew, role, org, staging } = place;
    const assigner = await role('blind assigner', 'org_mgmt assign roles');
    await assign(place, assigner.id, { type: 'user', id: Number(dan.id) });
    const asDan = atrium.as(dan.name);
    const good = { role: { id: operator.id }, to: { type: 'user', id: Number(dan.id) } };
    for (const [type, id, reason] of [
      ['cluster', staging.id, 'cluster_not_found'],
      ['team', Number(org.team('Owners')), 'team_not_found'],
    ] as const) {
      for (const on of [
        { type, id, name: 'a wrong name' },
        { type, id: 999_999, name: 'a wrong name' },
      ]) {
        await rejected(asDan, ['POST', path, { ...good, on }], 404, reason);
        const changes = [{ action: 'assignment.create', ...good, on }];
        await rejected(asDan, ['POST', `/authz/preview?org=${org.name}`, { changes }], 404, reason);
        if (type !== 'cluster') continue;
        const asked = { relation: 'can_edit', object: on, for: 'PT1H', reason: 'INC-1' };
        await rejected(asDan, ['POST', `/authz/requests?org=${org.name}`, asked], 404, reason);
      }
    }
    const made = await assign(place, operator.id, { type: 'team', id: crew }, { type: 'cluster', id: staging.id });
    const seen = await asDan('GET', place.at(made.id));
    assert.deepEqual([seen.body.on.id, seen.body.on.name], [staging.id, 'staging'], 'dan is in the team');
    const hidden = await assign(
      place,
      operator.id,
      { type: 'robot_ac', id: place.robot },
      { type: 'cluster', id: prod.id },
    );
    assert.equal((await asDan('GET', place.at(hidden.id))).body.on.name, '(hidden)');
    for (const filter of [`cluster:${prod.id}`, 'cluster:prod', 'cluster:nothing', 'cluster_set:eu']) {
      assert.deepEqual((await asDan('GET', `${path}&on=${filter}`)).body, [], filter);
    }
    assert.deepEqual((await asDan('GET', `${path}&on=cluster:staging`)).body, [seen.body]);
  });

  it('In what is named, null counts as absent', async () => {
    const { call, path, at, dan, prod, role } = await openPlace(atrium);
    const viewer = await role('viewer', 'cluster_mgmt view clusters');
    const body = {
      role: { id: viewer.id, name: null },
      to: { type: 'user', id: null, name: dan.name },
      on: { type: 'cluster', id: prod.id, name: null },
    };
    const made = await call('POST', path, body);
    assert.equal(made.status, 201, made.text);
    assert.equal((await call('PATCH', at(made.body.id), body)).status, 200);
    for (const name of ['role', 'to', 'on']) {
      const nothing = { ...body, [name]: { type: 'user', id: null, name: null } };
      await rejected(call, ['POST', path, nothing], 422, 'validation_failed');
    }
    await rejected(call, ['POST', path, { ...body, on: { type: null, id: null } }], 422, 'validation_failed');
  });

  it('A filter by the end takes an RFC 3339 time only', async () => {
    const { call, path } = await openPlace(atrium);
    for (const given of ['5', '2026', '2026-12-01', 'tomorrow', '2026-02-30T00:00:00Z', '']) {
      await rejected(call, ['GET', `${path}&expires_before=${given}`], 400, 'invalid_request');
    }
    assert.equal((await call('GET', `${path}&expires_before=2099-12-01T18:00:00%2B02:00`)).status, 200);
  });
});
