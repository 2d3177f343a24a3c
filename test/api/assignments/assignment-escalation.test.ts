import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Call, openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace, type Place, rejected } from '../../support/world/assignments.ts';
import { inHours } from '../../support/world/expiry.ts';
import { addMember, createTeam, makePerson } from '../../support/world/people.ts';

describe('Nobody gives more than they hold, there and for as long', () => {
  let atrium: TestServer;
  let place: Place;
  let asDan: Call;
  const dan = () => ({ type: 'user', id: Number(place.dan.id) });
  const prod = () => ({ type: 'cluster', id: place.prod.id });
  before(async () => {
    atrium = await openTestServer();
    place = await openPlace(atrium);
    asDan = atrium.as(place.dan.name);
    const assigner = await place.role('assigner', 'org_mgmt assign roles');
    await assign(place, assigner.id, dan());
  });
  after(() => atrium.close());

  it('A role is given only on an object where the caller holds all of it, and no longer than the caller does', async () => {
    const { path, at, call, operator, crew, staging } = place;
    const until = inHours(4);
    const body = { role: { id: operator.id }, to: { type: 'team', id: crew }, on: prod() };
    await rejected(asDan, ['POST', path, body], 404, 'cluster_not_found');
    const mine = await assign(place, operator.id, dan(), prod(), { expires_at: until });
    await rejected(
      asDan,
      ['POST', path, { ...body, on: { type: 'cluster', id: staging.id } }],
      404,
      'cluster_not_found',
    );
    await rejected(asDan, ['POST', path, body], 403, 'escalation');
    await rejected(asDan, ['POST', path, { ...body, expires_at: inHours(5) }], 403, 'escalation');
    await rejected(
      asDan,
      ['POST', path, { ...body, on: { type: 'cluster_set', name: 'eu' }, expires_at: inHours(1) }],
      403,
      'escalation',
    );
    const given = await asDan('POST', path, { ...body, expires_at: inHours(3) });
    assert.equal(given.status, 201, given.text);
    await rejected(asDan, ['PATCH', at(given.body.id), { expires_at: inHours(5) }], 403, 'escalation');
    await rejected(asDan, ['PATCH', at(given.body.id), { expires_at: null }], 403, 'escalation');
    await rejected(asDan, ['PATCH', at(mine.id), { expires_at: null }], 403, 'escalation');
    assert.equal((await asDan('PATCH', at(given.body.id), { expires_at: until })).status, 200);
    assert.equal((await asDan('PATCH', at(given.body.id), { expires_at: inHours(1) })).status, 200);
    assert.equal((await asDan('DELETE', at(given.body.id))).status, 204);
    await call('PATCH', at(mine.id), { expires_at: null });
    const forEver = await asDan('POST', path, body);
    assert.equal(forEver.status, 201, forEver.text);
    await call('DELETE', at(forEver.body.id));
    await call('DELETE', at(mine.id));
  });

  it('Whoever adds to a team must hold what the team has on single objects', async () => {
    const { call, org, operator, role, at } = place;
    const host = await role('host', 'org_mgmt add members', 'org_mgmt manage team members');
    const hosting = await assign(place, host.id, dan());
    const team = await createTeam(atrium.instance, { organizationId: org.id, name: 'reach', permission: 'none' });
    const friend = await makePerson(atrium);
    const has = await assign(place, operator.id, { type: 'team', id: Number(team) }, prod());
    const join = ['PUT', `/teams/${team}/members/${friend.name}`] as const;
    await rejected(asDan, join, 403, 'escalation');
    const mine = await assign(place, operator.id, dan(), prod(), { expires_at: inHours(2) });
    await rejected(asDan, join, 403, 'escalation');
    await rejected(asDan, [...join, { expires_at: inHours(3) }], 403, 'escalation');
    const done = await asDan(...join, { expires_at: inHours(1) });
    assert.equal(done.status, 204, done.text);
    for (const { id } of [hosting, has, mine]) await call('DELETE', at(id));
  });

  it('A token of a robot is created and rotated only by callers who hold what the robot has', async () => {
    const { call, operator, role, at, robot } = place;
    const keeper = await role(
      'token keeper',
      'robot_mgmt edit robot accounts',
      'token_mgmt create tokens',
      'cluster_mgmt import clusters',
    );
    const keeps = await assign(place, keeper.id, dan());
    const create = (name: string) => ['POST', `/robots/${robot}/tokens`, { name }] as const;
    assert.equal((await asDan(...create('before'))).status, 201);
    const has = await assign(place, operator.id, { type: 'robot_ac', id: robot }, prod());
    await rejected(asDan, create('more'), 403, 'escalation');
    await rejected(asDan, ['POST', `/robots/${robot}/tokens/before/rotate`, {}], 403, 'escalation');
    const mine = await assign(place, operator.id, dan(), prod());
    assert.equal((await asDan(...create('more'))).status, 201);
    assert.equal((await asDan('POST', `/robots/${robot}/tokens/before/rotate`, {})).status, 201);
    for (const { id } of [keeps, has, mine]) await call('DELETE', at(id));
  });

  it('Moving a cluster, and importing one, is giving what is assigned on the set', async () => {
    const { call, org, operator, role, at, staging } = place;
    const editor = await role('editor', 'cluster_mgmt reconfigure clusters', 'cluster_mgmt import clusters');
    const bob = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(place.crew), bob.id);
    const asBob = atrium.as(bob.name);
    const edits = await assign(place, editor.id, { type: 'user', id: Number(bob.id) });
    const move = (clusterSetName: string) => ['PATCH', `/clusters/${staging.id}`, { clusterSetName }] as const;
    const refused = await rejected(asBob, move('eu'), 403, 'missing_relation');
    assert.equal(refused.relation, 'can_assign_roles');
    assert.equal((await asBob(...move(''))).status, 200, 'the same name again is no move');
    const load = (clusterSetName: string) =>
      [
        'POST',
        `/orgs/${org.name}/clusters`,
        { name: `new-${clusterSetName}1`, uid: crypto.randomUUID(), clusterSetName },
      ] as const;
    await rejected(asBob, load('eu'), 403, 'missing_relation');
    assert.equal((await asBob(...load(''))).status, 201);

    const assigner = await role('mover', 'org_mgmt assign roles');
    const moves = await assign(place, assigner.id, { type: 'user', id: Number(bob.id) });
    const set = await assign(place, operator.id, { type: 'team', id: place.crew }, { type: 'cluster_set', name: 'eu' });
    await rejected(asBob, move('eu'), 403, 'escalation');
    // bob is in crew, so on the set he holds what crew has there: not on staging, but on what he imports into it.
    const mine = await assign(
      place,
      operator.id,
      { type: 'user', id: Number(bob.id) },
      { type: 'cluster', id: staging.id },
    );
    assert.equal((await asBob(...move('eu'))).status, 200);
    assert.equal((await asBob(...move(''))).status, 200);
    assert.equal((await asBob(...load('eu'))).status, 201);
    const other = await assign(
      place,
      operator.id,
      { type: 'robot_ac', id: place.robot },
      { type: 'cluster_set', name: 'us' },
    );
    await rejected(asBob, load('us'), 403, 'escalation');
    const own = await asBob('POST', '/user/clusters', {
      name: 'laptop',
      uid: crypto.randomUUID(),
      clusterSetName: 'eu',
    });
    assert.equal(own.status, 201, own.text);
    assert.equal((await asBob('PATCH', `/clusters/${own.body.id}`, { clusterSetName: 'us' })).status, 200);
    for (const { id } of [edits, moves, set, mine, other]) await call('DELETE', at(id));
  });
});
