import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace, type Place, pair } from '../../support/world/assignments.ts';
import { addMember, createTeam, makePerson } from '../../support/world/people.ts';
import { make, type WireRemedy } from '../../support/world/remedies.ts';

describe('Remedies that assign a role', () => {
  let atrium: TestServer;
  let place: Place;
  before(async () => {
    atrium = await openTestServer();
    place = await openPlace(atrium);
  });
  after(() => atrium.close());

  const explain = async (who: string, user: string, object: string, relation: string) => {
    const [type, id] = object.split(':');
    const path = `/authz/objects/${type}/${id}/explain?org=${place.org.name}&relation=${relation}&user=${user}&remedies=true`;
    const answer = await atrium.as(who)('GET', path);
    assert.equal(answer.status, 200, answer.text);
    return answer.body as { remedies: WireRemedy[]; sentence: string; remedies_note: string; allowed: boolean };
  };
  /** A member with these permissions in the whole organization, and nothing else. */
  const makeMember = async (...permissions: string[]) => {
    const { name, id } = await makePerson(atrium);
    const team = { organizationId: place.org.id, name: `of ${name}`, permission: 'none' } as const;
    const teamId = await createTeam(atrium.instance, team);
    await addMember(atrium.instance, teamId, id);
    if (permissions.length > 0) {
      const role = { name: `for ${name}`, permissions: permissions.map(pair), teamIDs: [Number(teamId)] };
      const made = await place.call('POST', `/authz/roles?org=${place.org.name}`, role);
      assert.equal(made.status, 201, made.text);
    }
    return name;
  };

  it('An assignment to this user on this object comes first: nothing else, and nobody else', async () => {
    const { owner, dan, prod, operator, org } = place;
    const { remedies, sentence } = await explain(owner.name, dan.name, `cluster:${prod.id}`, 'can_connect');
    const [first] = remedies;
    assert.deepEqual(first?.change.changes, [
      {
        action: 'assignment.create',
        role: { id: operator.id, name: 'cluster-operator' },
        to: { type: 'user', id: Number(dan.id), name: dan.name },
        on: { type: 'cluster', id: prod.id, name: 'prod' },
      },
    ]);
    const words = `assign the role cluster-operator to ${dan.name} on prod`;
    assert.equal(first?.sentence, `A${words.slice(1)}`);
    assert.equal(sentence, `${dan.name} cannot connect to prod: the smallest change that would help is to ${words}`);
    const { gains, others, other_objects, future_objects, reach, allowed } = first ?? {};
    assert.deepEqual([gains, others, other_objects, future_objects, reach, allowed], [0, 0, 0, false, '', true]);
    const there = { objectType: 'cluster', objectID: prod.id };
    assert.deepEqual(first?.required, {
      objectType: 'organization',
      objectID: Number(org.id),
      relation: 'can_assign_roles',
      also: [
        { ...there, relation: 'can_view' },
        { ...there, relation: 'can_connect' },
      ],
    });
    const undo = await make(atrium.as(owner.name), org.name, first?.change.changes[0] ?? { action: '' });
    assert.ok(typeof undo === 'function');
    assert.equal((await explain(owner.name, dan.name, `cluster:${prod.id}`, 'can_connect')).allowed, true);
    assert.equal((await explain(owner.name, dan.name, `cluster:${place.staging.id}`, 'can_view')).allowed, false);
    await undo();
  });

  it('Further permissions on the object are counted, and what the asked one implies is not', async () => {
    const { owner, dan, prod, role } = place;
    await role(
      'cluster-all',
      'cluster_mgmt connect to clusters',
      'cluster_mgmt reconfigure clusters',
      'cluster_mgmt remove clusters',
    );
    const { remedies } = await explain(owner.name, dan.name, `cluster:${prod.id}`, 'can_connect');
    const gains = remedies.flatMap(({ change, gains: count }) =>
      change.changes[0]?.action === 'assignment.create' ? [[change.changes[0].role?.name, count]] : [],
    );
    assert.deepEqual(gains, [
      ['cluster-operator', 0],
      ['cluster-all', 2],
    ]);
  });

  it('A role is assigned to a robot, and to a user who first joins a team', async () => {
    const { owner, prod, robot, operator, org } = place;
    const { remedies, sentence, remedies_note } = await explain(
      owner.name,
      'robot:deploy',
      `cluster:${prod.id}`,
      'can_connect',
    );
    assert.equal(remedies[0]?.sentence, 'Assign the role cluster-operator to the robot account deploy on prod');
    assert.deepEqual(remedies[0]?.change.changes[0]?.to, { type: 'robot_ac', id: robot, name: 'deploy' });
    assert.match(sentence, /^deploy cannot connect to prod: the smallest change that would help is to assign the role/);
    assert.equal(remedies_note, '');
    assert.ok(remedies.every(({ change }) => change.changes.every(({ action }) => action === 'assignment.create')));
    const undo = await make(atrium.as(owner.name), org.name, remedies[0]?.change.changes[0] ?? { action: '' });
    assert.ok(typeof undo === 'function');
    assert.equal((await explain(owner.name, 'robot:deploy', `cluster:${prod.id}`, 'can_connect')).allowed, true);
    await undo();
    const stranger = await makePerson(atrium);
    const joining = await explain(owner.name, stranger.name, `cluster:${prod.id}`, 'can_connect');
    const combined = joining.remedies.find(({ change }) => change.changes[1]?.action === 'assignment.create');
    assert.equal(combined?.change.changes[0]?.action, 'team.add_member');
    assert.equal(combined?.change.changes[1]?.role?.id, operator.id);
    assert.ok(joining.remedies.every(({ change }) => change.changes[0]?.action === 'team.add_member'));
  });

  it('Roles are assigned on contracts, robots, teams and the organization, and what is no place gets the organization', async () => {
    const { owner, dan, robot, role, crew, org, call } = place;
    const name = await makeMember();
    const keeper = await role('robot-keeper', 'robot_mgmt edit robot accounts');
    const [onRobot] = (await explain(owner.name, name, `robot_ac:${robot}`, 'can_edit')).remedies;
    assert.deepEqual(
      [onRobot?.change.changes[0]?.role?.id, onRobot?.change.changes[0]?.on?.type],
      [keeper.id, 'robot_ac'],
    );
    const lead = await role('lead', 'org_mgmt manage team members');
    const [onTeam] = (await explain(owner.name, name, `team:${crew}`, 'can_add_member')).remedies;
    assert.deepEqual([onTeam?.change.changes[0]?.role?.id, onTeam?.gains], [lead.id, 0]);
    const auditor = await role('auditor', 'org_mgmt view audit log');
    const [whole] = (await explain(owner.name, dan.name, `organization:${org.id}`, 'can_view_audit_log')).remedies;
    assert.deepEqual(
      [whole?.change.changes[0]?.role?.id, whole?.change.changes[0]?.on?.type],
      [auditor.id, 'organization'],
    );
    assert.equal(whole?.sentence, `Assign the role auditor to ${dan.name} on ${org.name}`);
    for (const remedy of [onRobot, onTeam, whole]) {
      const made = await make(call, org.name, remedy?.change.changes[0] ?? { action: '' });
      assert.ok(typeof made === 'function', `${remedy?.sentence}: ${made}`);
      await made();
    }
  });

  it('A remedy is allowed to callers who may assign roles and hold what they give, there and for as long', async () => {
    const { dan, prod, operator, org, owner } = place;
    const assigner = await makeMember('org_mgmt assign roles', 'org_mgmt view members', 'cluster_mgmt view clusters');
    const editor = await makeMember('org_mgmt edit roles', 'org_mgmt view members', 'cluster_mgmt view clusters');
    const outsider = await makeMember(
      'org_mgmt view roles',
      'org_mgmt view members',
      'cluster_mgmt connect to clusters',
    );
    const first = async (who: string) => {
      const { remedies } = await explain(who, dan.name, `cluster:${prod.id}`, 'can_connect');
      const found = remedies.find(({ change }) => change.changes[0]?.role?.id === operator.id);
      assert.ok(found, who);
      const made = await make(atrium.as(who), org.name, found.change.changes[0] ?? { action: '' });
      if (typeof made === 'function') await made();
      assert.equal(typeof made === 'function', found.allowed, `${who}: ${made}`);
      return found.allowed;
    };
    assert.deepEqual([await first(assigner), await first(editor), await first(outsider)], [false, false, false]);
    const on = { type: 'cluster', id: prod.id };
    const toAssigner = await assign(place, operator.id, { type: 'user', name: assigner }, on);
    const toEditor = await assign(place, operator.id, { type: 'user', name: editor }, on, { expires_at: soon() });
    assert.deepEqual([await first(assigner), await first(editor), await first(outsider)], [true, false, false]);
    for (const { id } of [toAssigner, toEditor]) await atrium.as(owner.name)('DELETE', place.at(id));
  });

  it('What is assigned to others stays hidden from callers who may not view roles, and changes nothing', async () => {
    const { prod, staging, operator, role } = place;
    const blind = await makeMember('org_mgmt view members', 'cluster_mgmt view clusters');
    const other = await makeMember();
    const secret = await role('canary role', 'cluster_mgmt connect to clusters');
    const ask = async () => {
      const found = [];
      for (const user of [other, blind, 'robot:deploy']) {
        const path = `/authz/objects/cluster/${prod.id}/explain?org=${place.org.name}&relation=can_connect&user=${user}`;
        const { body } = await atrium.as(blind)('GET', `${path}&remedies=true`);
        found.push([body.remedies, body.remedies_note, body.message]);
      }
      return found;
    };
    const before = await ask();
    assert.doesNotMatch(JSON.stringify(before), /canary|cluster-operator/);
    const made = [
      await assign(place, secret.id, { type: 'user', name: other }, { type: 'cluster', id: staging.id }),
      await assign(place, secret.id, { type: 'robot_ac', name: 'deploy' }, { type: 'cluster', id: staging.id }),
      await assign(place, operator.id, { type: 'team', id: place.crew }, { type: 'cluster_set', name: 'eu' }),
    ];
    assert.deepEqual(await ask(), before);
    // What is assigned to the caller is theirs to see, with the role.
    const own = await assign(place, operator.id, { type: 'user', name: blind }, { type: 'cluster', id: staging.id });
    const { remedies } = await explain(blind, blind, `cluster:${prod.id}`, 'can_connect');
    assert.match(JSON.stringify(remedies), /cluster-operator/);
    assert.doesNotMatch(JSON.stringify(remedies), /canary/);
    for (const { id } of [...made, own]) await place.call('DELETE', place.at(id));
  });
});

function soon(): string {
  return new Date(Date.now() + 3_600_000).toISOString();
}
