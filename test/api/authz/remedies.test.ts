import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { clusterPermission, makeHolder, makeRole, numbersOf, orgPermission } from '../../support/world/authz.ts';
import { addMember, createTeam, makePerson } from '../../support/world/people.ts';
import { make, type WireRemedy } from '../../support/world/remedies.ts';

describe('Remedies, all paths, and reasons', () => {
  let atrium: TestServer;
  let id: ReturnType<typeof numbersOf>;
  before(async () => {
    atrium = await openTestServer();
    id = numbersOf(atrium);
  });
  after(() => atrium.close());

  const explain = async (who: string, about: string, relation: string, more: string) => {
    const [type = '', number = ''] = about.split(':');
    const path = `/authz/objects/${type}/${number}/explain?org=acme&relation=${relation}&${more}`;
    const answer = await atrium.as(who)('GET', path);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const remediesFor = async (who: string, user: string, about: string, relation: string) => {
    const body = await explain(who, about, relation, `user=${user}&remedies=true`);
    return { remedies: body.remedies as WireRemedy[], note: body.remedies_note as string, allowed: body.allowed };
  };
  const sentences = (remedies: readonly WireRemedy[]) => remedies.map(({ sentence }) => sentence);

  it('A no comes with ways to yes, those that grant the least first, and never with Owners if a role would do', async () => {
    const { remedies, note } = await remediesFor('ann', 'cat', `organization:${id.org('acme')}`, 'can_edit_roles');
    assert.ok(remedies.length > 0);
    assert.equal(
      remedies[0]?.sentence,
      'Create a role that contains only "edit roles", and assign it to the team Viewers',
    );
    assert.deepEqual([remedies[0]?.gains, remedies[0]?.allowed], [0, true]);
    assert.doesNotMatch(JSON.stringify(remedies), /Owners/);
    for (const one of remedies)
      for (const change of one.change.changes)
        assert.notDeepEqual([change.action, change.id], ['team.add_member', id.team('Owners')]);
    assert.equal(note, '');
    const { sentence } = await explain(
      'ann',
      `organization:${id.org('acme')}`,
      'can_edit_roles',
      'user=cat&remedies=true',
    );
    assert.equal(
      sentence,
      'cat cannot edit the roles of acme: the smallest change that would help is to create a role that contains only "edit roles", and assign it to the team Viewers',
    );
  });

  it('The permission can come into a role that the user has, or the user into a team that gives it', async () => {
    const dan = await remediesFor('ann', 'dan', `cluster:${id.cluster('prod')}`, 'can_edit');
    const filled = dan.remedies.find(({ change }) => change.changes[0]?.action === 'role.update');
    assert.equal(filled?.sentence, 'Add "edit clusters" to the role cluster-operator, which dan has');
    assert.ok(filled?.change.changes[0]?.role?.permissions?.some(({ action }) => action === 'reconfigure clusters'));
    assert.ok(sentences(dan.remedies).includes('Add dan to the team Editors'));
    const joined = dan.remedies.find(({ sentence }) => sentence.includes('Editors'));
    assert.equal(joined?.others, 0);
    assert.ok((joined?.gains ?? 0) > (filled?.gains ?? 0));
  });

  it('A role that contains the permission already can be assigned to a team of the user', async () => {
    const { body: role } = await makeRole(atrium, { name: 'auditors', permissions: [orgPermission('view audit log')] });
    const { remedies } = await remediesFor('ann', 'cat', `organization:${id.org('acme')}`, 'can_view_audit_log');
    const assigned = remedies.find(({ change }) => change.changes[0]?.action === 'role.assign');
    assert.deepEqual(assigned?.change.changes, [{ action: 'role.assign', id: role.id, team: id.team('Viewers') }]);
    assert.equal(assigned?.sentence, 'Assign the role auditors to the team Viewers');
    const { relation, objectType } = assigned?.required ?? {};
    assert.deepEqual([objectType, relation], ['organization', 'can_edit_roles']);
  });

  it('Who is in no team has to join one, and the answer says so', async () => {
    const stranger = await makePerson(atrium);
    const { remedies, note } = await remediesFor('ann', stranger.name, `cluster:${id.cluster('prod')}`, 'can_connect');
    assert.ok(remedies.every(({ change }) => change.changes[0]?.action === 'team.add_member'));
    assert.match(note, /is in no team of acme, so adding person\d+ to a team is the only way/);
    const rare = await remediesFor('ann', stranger.name, `organization:${id.org('acme')}`, 'can_delete_roles');
    assert.deepEqual(
      rare.remedies[0]?.change.changes.map(({ action }) => action),
      ['team.add_member', 'role.create'],
    );
    assert.doesNotMatch(JSON.stringify(rare.remedies), /Owners/);
  });

  it('Membership of Owners is the remedy only for what no role can contain, and the answer says why', async () => {
    const acme = `organization:${id.org('acme')}`;
    const { remedies, note } = await remediesFor('ann', 'bob', acme, 'can_delete');
    assert.deepEqual(sentences(remedies), ['Add bob to the team Owners']);
    assert.equal(note, 'No role can contain the permission to delete acme: only teams give it.');
    const owners = await remediesFor('ann', 'bob', `team:${id.team('Owners')}`, 'can_remove_member');
    assert.deepEqual(sentences(owners.remedies), ['Add bob to the team Owners']);
  });

  it('What nothing can give has no remedy, and the answer says why', async () => {
    const acme = `organization:${id.org('acme')}`;
    for (const [who, user, about, relation, expected] of [
      ['ann', 'ann', acme, 'can_leave', /needs another owner first/],
      ['ann', 'eve', acme, 'can_leave', /Only members of acme can leave it/],
      ['ann', 'ann', `team:${id.team('Viewers')}`, 'can_delete', /Viewers is a built-in team and stays/],
      ['ann', 'ann', `team:${id.team('Owners')}`, 'can_remove_member', /Owners needs another member first/],
      ['ann', 'bob', `cluster:${id.cluster('laptop')}`, 'can_view', /belongs to a user, not to an organization/],
      ['ann', 'bob', `user:${id.user('ann')}`, 'can_view', /Only users themselves/],
    ] as const) {
      const { remedies, note, allowed } = await remediesFor(who, user, about, relation);
      assert.deepEqual([allowed, remedies], [false, []], `${user} ${relation} ${about}`);
      assert.match(note, expected);
    }
  });

  it('A yes has no remedies, and without the parameters the answer has none of the new fields', async () => {
    const prod = `cluster:${id.cluster('prod')}`;
    const yes = await explain('ann', prod, 'can_view', 'remedies=true');
    assert.deepEqual([yes.remedies, yes.remedies_note], [[], '']);
    const plain = await explain('ann', prod, 'can_view', '');
    for (const field of ['remedies', 'remedies_note', 'paths', 'more']) assert.ok(!(field in plain), field);
  });

  it('A remedy says whether the caller may make it, as the API then does', async () => {
    const editor = await makeHolder(atrium, [
      orgPermission('edit roles'),
      orgPermission('view members'),
      orgPermission('view teams'),
      clusterPermission('remove clusters'),
    ]);
    let [yes, no] = [0, 0];
    for (const who of [editor.name, 'bob']) {
      for (const relation of ['can_edit', 'can_remove']) {
        const { remedies } = await remediesFor(who, 'dan', `cluster:${id.cluster('prod')}`, relation);
        for (const { allowed, sentence, change } of remedies) {
          const made = await make(atrium.as(who), 'acme', change.changes[0] ?? { action: '' });
          assert.equal(typeof made === 'function', allowed, `${who}: ${sentence} gave ${made}`);
          if (typeof made === 'function') await made();
          if (allowed) yes += 1;
          else no += 1;
        }
      }
    }
    assert.ok(yes > 0 && no > 0, `${yes} allowed, ${no} not`);
  });

  it('All paths of a yes say whether a user still could without one team', async () => {
    const spare = await createTeam(atrium.instance, {
      organizationId: atrium.world.orgs.acme?.id ?? 0n,
      name: 'spare',
      permission: 'read',
    });
    await addMember(atrium.instance, spare, atrium.world.users.dan?.id ?? 0n);
    const prod = `cluster:${id.cluster('prod')}`;
    const body = await explain('ann', prod, 'can_connect', 'user=dan&paths=all');
    const teams = body.paths.map((path: { tuple: { object: string; relation: string } | null }[]) =>
      path.flatMap(({ tuple }) => (tuple?.relation === 'member' ? [tuple.object] : [])),
    );
    assert.deepEqual(teams.toSorted(), [[`team:${id.team('operators')}`], [`team:${spare}`]].toSorted());
    assert.equal(body.more, false);
    const no = await explain('ann', prod, 'can_edit', 'user=dan&paths=all');
    assert.deepEqual([no.paths, no.more], [[], false]);
    const refused = await atrium.as('ann')(
      'GET',
      `/authz/objects/cluster/1/explain?org=acme&relation=can_view&paths=two`,
    );
    assert.equal(refused.status, 400);
    await atrium.as('ann')('DELETE', `/teams/${spare}/members/dan`);
  });

  it('Principals say through what each user holds the relation', async () => {
    const path = `/authz/objects/cluster/${id.cluster('prod')}/principals?org=acme&relation=can_connect`;
    const { body } = await atrium.as('ann')('GET', `${path}&reason=true`);
    const via = new Map(body.map((one: { name: string; via: unknown }) => [one.name, one.via]));
    assert.deepEqual(via.get('dan'), [
      { kind: 'role', id: id.role('cluster-operator'), name: 'cluster-operator' },
      { kind: 'team', id: id.team('operators'), name: 'operators' },
    ]);
    assert.deepEqual(via.get('ann'), [{ kind: 'team', id: id.team('Owners'), name: 'Owners' }]);
    assert.deepEqual(via.get('root'), [{ kind: 'platform', name: 'site administrators' }]);
    assert.ok(!('via' in (await atrium.as('ann')('GET', path)).body[0]));
    const laptop = `/authz/objects/cluster/${id.cluster('laptop')}/principals?org=acme&relation=can_view&reason=true`;
    const own = await atrium.as('ann')('GET', laptop);
    assert.deepEqual(own.body[0]?.via, [{ kind: 'owner', id: id.cluster('laptop'), name: 'laptop' }]);
    const blind = await makeHolder(atrium, [orgPermission('view members'), clusterPermission('view clusters')]);
    const hidden = await atrium.as(blind.name)('GET', `${path}&reason=true`);
    const dan = hidden.body.find((one: { name: string }) => one.name === 'dan');
    assert.deepEqual(dan.via, [{ kind: 'role' }, { kind: 'team' }]);
  });
});
