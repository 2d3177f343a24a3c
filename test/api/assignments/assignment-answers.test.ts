import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as passed } from 'node:timers/promises';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace, type Place } from '../../support/world/assignments.ts';
import { inHours } from '../../support/world/expiry.ts';
import { addMember, createTeam, removeMember } from '../../support/world/people.ts';

describe('Questions about access with assignments', () => {
  let atrium: TestServer;
  let place: Place;
  before(async () => {
    atrium = await openTestServer();
    place = await openPlace(atrium);
  });
  after(() => atrium.close());

  const user = () => ({ type: 'user', id: Number(place.dan.id) });
  const why = (relation: string, rest = '') =>
    `/authz/objects/cluster/${place.prod.id}/explain?org=${place.org.name}&relation=${relation}&user=${place.dan.name}${rest}`;
  async function get(path: string, who = place.owner.name) {
    const answer = await atrium.as(who)('GET', path);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  it('A yes says which role, where and until when, and every path is named', async () => {
    const { call, dan, prod, operator, crew, at } = place;
    const until = inHours(4);
    const mine = await assign(place, operator.id, user(), { type: 'cluster', id: prod.id }, { expires_at: until });
    const teams = await assign(place, operator.id, { type: 'team', id: crew }, { type: 'cluster_set', name: 'eu' });
    for (const who of [place.owner.name, dan.name]) {
      const { sentence, paths, allowed } = await get(why('can_connect', '&paths=all'), who);
      assert.equal(allowed, true);
      assert.equal(
        sentence,
        `${dan.name} can connect to prod because ${dan.name} has the role cluster-operator on prod until ${until}`,
      );
      assert.deepEqual(
        paths.map((path: { text: string }[]) => path.map(({ text }) => text)),
        [
          [
            `${dan.name} can connect to prod because ${dan.name} has the role cluster-operator on prod until ${until}`,
            `${dan.name} has the role cluster-operator on prod until ${until}`,
          ],
          [
            `${dan.name} can connect to prod because ${dan.name} can connect to the clusters of eu`,
            `${dan.name} can connect to the clusters of eu because ${dan.name} has the role cluster-operator on eu`,
            'the team crew has the role cluster-operator on eu',
            `${dan.name} is in the team crew`,
          ],
        ],
      );
    }
    await call('DELETE', at(mine.id));
    assert.equal(
      (await get(why('can_connect'))).sentence,
      `${dan.name} can connect to prod because ${dan.name} is in the team crew, and the team crew has the role cluster-operator on eu`,
    );
    assert.equal((await get(why('can_edit'))).allowed, false);
    await call('DELETE', at(teams.id));
    const whole = await assign(place, operator.id, user());
    assert.match(
      (await get(why('can_connect'))).sentence,
      / because \S+ has the role cluster-operator, and holders of that role can connect to the clusters of /,
    );
    await call('DELETE', at(whole.id));
  });

  it('Principals, checks, the matrix and the access of a person know assignments, and the role they come from', async () => {
    const { call, dan, prod, staging, operator, org, at } = place;
    const made = await assign(place, operator.id, user(), { type: 'cluster', id: prod.id });
    const role = { kind: 'role', id: operator.id, name: 'cluster-operator' };
    const holders = await get(
      `/authz/objects/cluster/${prod.id}/principals?org=${org.name}&relation=can_connect&reason=true`,
    );
    assert.deepEqual(holders.find(({ name }: { name: string }) => name === dan.name)?.via, [role]);
    const others = await get(`/authz/objects/cluster/${staging.id}/principals?org=${org.name}&relation=can_connect`);
    assert.ok(!others.some(({ name }: { name: string }) => name === dan.name));
    const checks = [prod, staging].map(({ id }) => ({
      user: dan.name,
      relation: 'can_connect',
      object: { type: 'cluster', id },
    }));
    const { results } = (await call('POST', `/authz/check?org=${org.name}`, { checks })).body;
    assert.deepEqual(
      results.map(({ allowed }: { allowed: boolean }) => allowed),
      [true, false],
    );
    const matrix = (await call('POST', `/authz/matrix?org=${org.name}`, { type: 'cluster', users: [dan.name] })).body;
    assert.deepEqual(
      matrix.cells.map((row: number[]) => row.map((cell) => cell !== 0)),
      [[true, false]],
    );
    const access = await get(`/authz/users/${dan.name}/access?org=${org.name}&type=cluster`);
    assert.deepEqual(access.roles, [{ id: operator.id, name: 'cluster-operator', via: [] }]);
    assert.deepEqual(access.types[0].groups, [
      {
        relations: ['can_view', 'can_connect'],
        via: [{ ...role, relations: ['can_view', 'can_connect'] }],
        count: 1,
        objects: [{ id: prod.id, name: 'prod' }],
      },
    ]);
    // What the role gives to a robot in the whole organization is no reason of the user.
    const ofRobot = await assign(place, operator.id, { type: 'robot_ac', id: place.robot });
    const readers = await createTeam(atrium.instance, { organizationId: org.id, name: 'readers', permission: 'read' });
    await addMember(atrium.instance, readers, dan.id);
    const both = await get(`/authz/users/${dan.name}/access?org=${org.name}&type=cluster`);
    const isByRole = ({ kind }: { kind: string }) => kind === 'role';
    assert.deepEqual(
      both.types[0].groups.map(({ objects, via }: { objects: { name: string }[]; via: { kind: string }[] }) => [
        objects.map(({ name }) => name).join(),
        via.some(isByRole),
      ]),
      [
        ['prod', true],
        ['staging', false],
      ],
    );
    assert.ok(both.permissions.every(({ via }: { via: { kind: string }[] }) => !via.some(isByRole)));
    await removeMember(atrium.instance, readers, dan.id);
    await call('DELETE', at(ofRobot.id));
    await call('DELETE', at(made.id));
  });

  it('Answers about a past moment are those of then, whatever was assigned, ended or moved since', async () => {
    const { call, dan, prod, staging, operator, crew, at, role } = place;
    const moment = async () => {
      await passed(5);
      const now = new Date().toISOString();
      await passed(5);
      return now;
    };
    const moments: { at: string; prod: boolean; staging: boolean }[] = [];
    const ask = async (cluster: number, then = '') => {
      const path = `/authz/objects/cluster/${cluster}/explain?org=${place.org.name}&relation=can_connect&user=${dan.name}`;
      return (await get(`${path}${then}`)).allowed as boolean;
    };
    const note = async () => {
      moments.push({ at: await moment(), prod: await ask(prod.id), staging: await ask(staging.id) });
    };
    await note();
    const mine = await assign(place, operator.id, user(), { type: 'cluster', id: prod.id });
    await note();
    const teams = await assign(place, operator.id, { type: 'team', id: crew }, { type: 'cluster_set', name: 'us' });
    await note();
    await call('PATCH', `/clusters/${staging.id}`, { clusterSetName: 'us' });
    await note();
    await call('DELETE', at(mine.id));
    await note();
    await call('PUT', `/authz/roles/${operator.id}?org=${place.org.name}`, {
      permissions: [{ namespace: 'cluster_mgmt', action: 'view clusters' }],
    });
    await note();
    const other = await role('connector', 'cluster_mgmt connect to clusters');
    await assign(place, other.id, { type: 'team', id: crew });
    await note();
    await call('DELETE', `/authz/roles/${other.id}?org=${place.org.name}`);
    await call('PATCH', `/clusters/${staging.id}`, { clusterSetName: '' });
    await call('DELETE', at(teams.id));
    await note();
    assert.deepEqual(
      moments.map((one) => [one.prod, one.staging]),
      [
        [false, false],
        [true, false],
        [true, false],
        [true, true],
        [false, true],
        [false, false],
        [true, true],
        [false, false],
      ],
    );
    for (const one of moments) {
      const then = `&at=${one.at}`;
      assert.deepEqual([await ask(prod.id, then), await ask(staging.id, then)], [one.prod, one.staging], one.at);
    }
  });
});
