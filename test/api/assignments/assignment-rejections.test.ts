import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace, type Place, rejected } from '../../support/world/assignments.ts';
import { inHours } from '../../support/world/expiry.ts';
import { addMember, makePerson } from '../../support/world/people.ts';

describe('Rejected assignments', () => {
  let atrium: TestServer;
  let place: Place;
  before(async () => {
    atrium = await openTestServer();
    place = await openPlace(atrium);
  });
  after(() => atrium.close());

  it('What is wrong with an assignment is said with its own reason, in the agreed order', async () => {
    const { call, path, dan, prod, operator, crew, robot, role, org } = place;
    const other = await openPlace(atrium);
    const stranger = await makePerson(atrium);
    const empty = await role('empty');
    const audit = await role(
      'auditor',
      'org_mgmt view audit log',
      'org_mgmt edit teams',
      'cluster_mgmt import clusters',
    );
    const laptop = await call('POST', '/user/clusters', { name: 'laptop', uid: crypto.randomUUID() });
    assert.equal(laptop.status, 201, laptop.text);
    const user = { type: 'user', id: Number(dan.id) };
    const good = { role: { id: operator.id }, to: user, on: { type: 'cluster', id: prod.id } };
    const cases: [object, number, string][] = [
      [{ ...good, role: operator.id }, 422, 'validation_failed'],
      [{ ...good, role: {} }, 422, 'validation_failed'],
      [{ ...good, role: null }, 422, 'validation_failed'],
      [{ ...good, to: { type: 'user' } }, 422, 'validation_failed'],
      [{ ...good, to: { type: 'cluster', id: prod.id } }, 422, 'validation_failed'],
      [{ to: user, on: good.on }, 422, 'validation_failed'],
      [{ role: good.role, on: good.on }, 422, 'validation_failed'],
      [{ ...good, on: null }, 422, 'validation_failed'],
      [{ ...good, on: {} }, 422, 'validation_failed'],
      [{ ...good, on: { type: 'cluster' } }, 422, 'validation_failed'],
      [{ ...good, on: { type: 'cluster_set', id: 3 } }, 422, 'validation_failed'],
      [{ ...good, on: { type: 'cluster_set', name: '' } }, 422, 'validation_failed'],
      [{ ...good, on: { type: 'cluster_set', name: 'x'.repeat(256) } }, 422, 'validation_failed'],
      [{ ...good, on: { type: 'cluster', id: prod.id, name: 'staging' } }, 422, 'validation_failed'],
      [{ ...good, to: { ...user, name: 'somebody' } }, 422, 'validation_failed'],
      [{ ...good, role: { id: operator.id, name: 'empty' } }, 422, 'validation_failed'],
      [{ ...good, reason: 'x'.repeat(1001) }, 422, 'validation_failed'],
      [{ ...good, expires_at: inHours(-1) }, 422, 'validation_failed'],
      [{ ...good, expires_at: inHours(11 * 365 * 24) }, 422, 'validation_failed'],
      [{ ...good, role: { id: 999_999 } }, 404, 'role_not_found'],
      [{ ...good, role: { id: other.operator.id } }, 404, 'role_not_found'],
      [{ ...good, role: { name: 'nothing' } }, 404, 'role_not_found'],
      [{ ...good, to: { type: 'team', id: other.crew } }, 404, 'team_not_found'],
      [{ ...good, to: { type: 'robot_ac', id: other.robot } }, 404, 'robot_not_found'],
      [{ ...good, on: { type: 'cluster', id: other.prod.id } }, 404, 'cluster_not_found'],
      [{ ...good, on: { type: 'cluster', id: laptop.body.id } }, 404, 'cluster_not_found'],
      [{ ...good, on: { type: 'team', id: other.crew } }, 404, 'team_not_found'],
      [{ ...good, on: { type: 'organization', id: Number(other.org.id) } }, 404, 'organization_not_found'],
      [{ ...good, on: { type: 'token', id: 1 } }, 404, 'not_found'],
      [{ ...good, on: user }, 404, 'not_found'],
      [{ ...good, on: { type: 'role', id: operator.id } }, 404, 'not_found'],
      [{ ...good, on: { type: 'nonsense', name: 'x' } }, 404, 'not_found'],
      [{ ...good, to: { type: 'user', id: Number(stranger.id) } }, 422, 'not_a_member'],
      [{ ...good, to: { type: 'user', name: 'nobody-at-all' } }, 422, 'not_a_member'],
      [{ ...good, to: { type: 'user', name: 'root' } }, 422, 'not_a_member'],
      // What does not exist is said before whether it would have an effect.
      [
        { ...good, to: { type: 'user', id: Number(stranger.id) }, on: { type: 'cluster', name: 'no' } },
        404,
        'cluster_not_found',
      ],
      [{ ...good, role: { id: empty.id }, to: { type: 'user', id: Number(stranger.id) } }, 422, 'not_a_member'],
      [{ role: { id: empty.id }, to: user }, 422, 'no_effect'],
      [{ ...good, role: { id: audit.id } }, 422, 'no_effect'],
      [{ ...good, role: { id: audit.id }, on: { type: 'cluster_set', name: 'eu' } }, 422, 'no_effect'],
      [{ ...good, role: { id: audit.id }, on: { type: 'team', id: org.team('Owners') } }, 422, 'no_effect'],
      [{ ...good, on: { type: 'robot_ac', id: robot } }, 422, 'no_effect'],
    ];
    for (const [body, status, reason] of cases) {
      const answer = await call('POST', path, body);
      assert.deepEqual([answer.status, answer.body?.reason], [status, reason], JSON.stringify(body) + answer.text);
    }
    // Teams of a role and roles of a team take a role without permissions, as ever.
    assert.equal((await call('PUT', `/teams/${crew}/roles/${empty.id}`)).status, 204);
    assert.equal((await call('GET', `${path}&role=${empty.id}`)).body[0].effective.length, 0);
  });

  it('Only callers who may assign or edit roles assign them, and the right is looked at before the body', async () => {
    const { path, at, dan, prod, operator, call, role, org } = place;
    const made = await assign(place, operator.id, { type: 'team', id: place.crew }, { type: 'cluster', id: prod.id });
    const asDan = atrium.as(dan.name);
    assert.equal((await atrium.as()('GET', path)).status, 401);
    assert.equal((await atrium.as('eve')('GET', path)).status, 403);
    const refused = await rejected(asDan, ['POST', path, { nonsense: 1 }], 403, 'missing_relation');
    assert.equal(refused.relation, 'assign_roles:org');
    await rejected(asDan, ['PATCH', at(made.id), { nonsense: 1 }], 403, 'missing_relation');
    await rejected(asDan, ['DELETE', at(made.id)], 403, 'missing_relation');
    await rejected(asDan, ['GET', at(999_999)], 404, 'assignment_not_found');
    await rejected(asDan, ['PATCH', at(999_999), { nonsense: 1 }], 404, 'assignment_not_found');
    const other = await openPlace(atrium);
    await rejected(
      call,
      ['GET', other.at(made.id).replace(other.org.name, org.name).replace(String(made.id), '999999')],
      404,
      'assignment_not_found',
    );

    const assigner = await role('assigner', 'org_mgmt assign roles');
    const mine = await assign(place, assigner.id, { type: 'user', id: Number(dan.id) });
    // It shows roles, and opens the roles of teams, but gives nothing that dan does not hold.
    assert.equal((await asDan('GET', `/authz/roles/${operator.id}?org=${org.name}`)).status, 200);
    const body = {
      role: { id: operator.id },
      to: { type: 'team', id: place.crew },
      on: { type: 'cluster', name: 'staging' },
    };
    await rejected(asDan, ['POST', path, body], 404, 'cluster_not_found');
    await rejected(asDan, ['POST', path, { ...body, on: { type: 'cluster_set', name: 'eu' } }], 403, 'escalation');
    await rejected(asDan, ['PUT', `/teams/${place.crew}/roles/${operator.id}`], 403, 'escalation');
    await rejected(
      asDan,
      ['PUT', `/authz/roles/${operator.id}?org=${org.name}`, { name: 'x' }],
      403,
      'missing_relation',
    );
    assert.equal((await asDan('PATCH', at(made.id), { reason: 'why' })).status, 200);
    assert.equal((await asDan('DELETE', at(made.id))).status, 204);
    assert.equal((await asDan('DELETE', at(mine.id))).status, 204, 'everybody gives back what is their own');
    await rejected(asDan, ['POST', path, body], 403, 'missing_relation');
  });

  it('Members without a right to roles see what is assigned to them and their teams, and what they may not see is hidden', async () => {
    const { path, at, dan, prod, operator, call, owner, role } = place;
    const eve = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(place.crew), eve.id);
    const viewer = await role('role viewer', 'org_mgmt view roles');
    const [asDan, asEve] = [atrium.as(dan.name), atrium.as(eve.name)];
    const mine = await assign(
      place,
      operator.id,
      { type: 'user', id: Number(dan.id) },
      { type: 'cluster', id: prod.id },
    );
    const teams = await assign(place, viewer.id, { type: 'team', id: place.crew }, undefined, { reason: 'all' });
    await call('DELETE', at(teams.id));
    const ofTeam = await assign(
      place,
      operator.id,
      { type: 'team', id: place.crew },
      { type: 'cluster', name: 'staging' },
    );
    const ids = async (ask: typeof call) => {
      const answer = await ask('GET', `${path}&role=cluster-operator`);
      assert.equal(answer.headers.get('x-total-count'), String(answer.body.length));
      return answer.body.map(({ id }: { id: number }) => id);
    };
    assert.deepEqual(await ids(asDan), [mine.id, ofTeam.id]);
    assert.deepEqual(await ids(asEve), [ofTeam.id]);
    await rejected(asEve, ['GET', at(mine.id)], 404, 'assignment_not_found');
    await rejected(asEve, ['DELETE', at(mine.id)], 404, 'assignment_not_found');
    const seen = (await asEve('GET', at(ofTeam.id))).body;
    assert.deepEqual([seen.created_by, seen.on], [null, { type: 'cluster', id: ofTeam.on.id, name: 'staging' }]);
    assert.equal((await call('GET', at(ofTeam.id))).body.created_by.name, owner.name);

    const toEve = await assign(place, viewer.id, { type: 'user', id: Number(eve.id) });
    const hidden = (await asEve('GET', at(mine.id))).body;
    assert.deepEqual([hidden.on, hidden.created_by], [{ type: 'cluster', id: null, name: '(hidden)' }, null]);
    for (const { id } of [mine, ofTeam, toEve]) await call('DELETE', at(id));
  });

  it('What an assignment is about cannot be changed, but may be sent back', async () => {
    const { at, dan, prod, operator, call, staging } = place;
    const made = await assign(
      place,
      operator.id,
      { type: 'user', id: Number(dan.id) },
      { type: 'cluster', id: prod.id },
    );
    const { role, to, on } = made;
    assert.equal((await call('PATCH', at(made.id), { role, to, on, reason: 'same' })).status, 200);
    for (const body of [
      { on: { type: 'cluster', id: staging.id } },
      { on: { type: 'organization', id: Number(place.org.id) } },
      { on: null },
      { to: { type: 'team', id: place.crew } },
      { role: { name: 'other' } },
      { expires_at: inHours(-1) },
      { reason: 'x'.repeat(1001) },
    ]) {
      await rejected(call, ['PATCH', at(made.id), body], 422, 'validation_failed');
    }
    await call('DELETE', at(made.id));
  });
});
