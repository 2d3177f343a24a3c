import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { CATALOG } from '../../../src/roles/catalog.ts';
import { COUNTS } from '../../counts.ts';
import { createRandom, SEED } from '../../support/checks/random.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { clusterPermission, numbersOf, orgPermission } from '../../support/world/authz.ts';
import { addMember, createTeam, makeOrganization, makePerson } from '../../support/world/people.ts';
import { make, type WireRemedy } from '../../support/world/remedies.ts';

describe('Remedies know guardrails and say how far they reach', () => {
  let atrium: TestServer;
  let id: ReturnType<typeof numbersOf>;
  before(async () => {
    atrium = await openTestServer();
    id = numbersOf(atrium);
  });
  after(() => atrium.close());

  const ask = async (who: string, path: string) => {
    const answer = await atrium.as(who)('GET', path);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };

  async function openWorld() {
    const owner = await makePerson(atrium);
    const org = await makeOrganization(atrium, owner.name);
    const call = atrium.as(owner.name);
    const cluster = async (name: string) =>
      (await call('POST', `/orgs/${org.name}/clusters`, { name, uid: randomUUID() })).body.id as number;
    const team = async (name: string, ...members: { readonly id: bigint }[]) => {
      const made = await createTeam(atrium.instance, { organizationId: org.id, name, permission: 'none' });
      for (const member of members) await addMember(atrium.instance, made, member.id);
      return Number(made);
    };
    const guard = async (name: string, statement: object) => {
      const made = await call('POST', `/authz/guardrails?org=${org.name}`, { name, ...statement });
      assert.equal(made.status, 201, made.text);
    };
    const role = async (name: string, action: string, teamIDs: number[]) => {
      const permissions = [clusterPermission(action)];
      return (await call('POST', `/authz/roles?org=${org.name}`, { name, permissions, teamIDs })).body.id as number;
    };
    const explain = async (user: string, object: string, relation: string, more = '&remedies=true', who = owner.name) =>
      await ask(who, `/authz/objects/${object}/explain?org=${org.name}&relation=${relation}&user=${user}${more}`);
    return { owner, org, call, cluster, team, guard, role, explain };
  }

  it('What a guardrail forbids is said, every way to yes is marked, and each is really rejected', async () => {
    const { org, call, cluster, team, guard, role, explain } = await openWorld();
    const jim = await makePerson(atrium);
    const prod = await cluster('prod');
    await team('payments', jim);
    await role('connect', 'connect to clusters', [await team('sre')]);
    const statement = { team: 'payments', relation: 'can_connect', object: { type: 'cluster', name: 'prod' } };
    await guard('payments and prod', { never: statement });
    const says = 'the guardrail "payments and prod" says that members of the team payments can never connect to prod';
    const {
      sentence,
      forbidden_by: forbidden,
      remedies,
      remedies_note: note,
    } = await explain(jim.name, `cluster/${prod}`, 'can_connect');
    assert.equal(sentence, `${jim.name} cannot connect to prod: ${says}`);
    assert.deepEqual(
      forbidden.map((one: { name: string }) => one.name),
      ['payments and prod'],
    );
    assert.equal(note, 'A guardrail would reject every one of these.');
    assert.ok(remedies.length > 1);
    for (const { allowed, rejected_by: by, change } of remedies as WireRemedy[]) {
      assert.deepEqual([allowed, by?.name], [false, 'payments and prod']);
      const done = [];
      for (const one of change.changes) done.push(await make(call, org.name, one));
      assert.equal(done.at(-1), 409);
    }
    const plain = await explain(jim.name, `cluster/${prod}`, 'can_connect', '');
    assert.match(plain.sentence, /^person\d+ cannot connect to prod: .*; the guardrail "payments and prod" says that/);
    const other = await explain(jim.name, `cluster/${prod}`, 'can_edit', '');
    assert.ok(!('forbidden_by' in other));
  });

  it('The first remedy is one that the server accepts, if there is one', async () => {
    const { org, call, cluster, team, guard, role, explain } = await openWorld();
    const [jim, eve] = [await makePerson(atrium), await makePerson(atrium)];
    const prod = await cluster('prod');
    const sre = await team('sre');
    await team('both', jim, eve);
    // It gives more than the least, which is to give the permission to the team of both.
    await role('much', 'remove clusters', [sre]);
    await guard('eve never', { never: { users: [eve.name], relation: 'can_remove', object: { type: 'cluster' } } });
    const { remedies, sentence } = await explain(jim.name, `cluster/${prod}`, 'can_remove');
    const [first, second, ...rest] = remedies as WireRemedy[];
    assert.equal(first?.change.changes[0]?.action, 'assignment.create');
    assert.deepEqual(second?.change.changes, [{ action: 'team.add_member', id: sre, username: jim.name }]);
    assert.deepEqual([first?.allowed, first?.rejected_by], [true, undefined]);
    assert.match(sentence, /the smallest change that would help is to assign the role much to person\d+ on prod/);
    assert.ok(rest.some(({ rejected_by: by }) => by?.name === 'eve never'));
    assert.notEqual(typeof (await make(call, org.name, first?.change.changes[0] ?? assert.fail())), 'number');
  });

  it('A guardrail is not named to a caller who may neither view roles nor make the change', async () => {
    const { org, call, cluster, team, guard, explain } = await openWorld();
    const [jim, spy] = [await makePerson(atrium), await makePerson(atrium)];
    await team('payments', jim);
    const permissions = [
      orgPermission('view members'),
      orgPermission('view teams'),
      clusterPermission('view clusters'),
    ];
    const body = { name: 'spies', permissions, teamIDs: [await team('spies', spy)] };
    assert.equal((await call('POST', `/authz/roles?org=${org.name}`, body)).status, 201);
    const prod = await cluster('prod');
    await guard('secret rule', { never: { users: [jim.name], relation: 'can_connect', object: { type: 'cluster' } } });
    const told = await explain(jim.name, `cluster/${prod}`, 'can_connect', '&remedies=true&paths=all', spy.name);
    assert.ok(told.remedies.length > 0);
    assert.doesNotMatch(JSON.stringify(told), /secret rule|guardrail/);
  });

  it('A remedy says on which other objects, and that also on those to come, the user would get the relation', async () => {
    const { org, call, cluster, team, role, explain } = await openWorld();
    const jim = await makePerson(atrium);
    const staging = await cluster('staging');
    await cluster('prod');
    await call('PUT', `/orgs/${org.name}/members/${jim.name}`);
    const sre = await team('sre');
    await role('removers', 'remove clusters', [sre]);
    const { remedies, sentence } = await explain(jim.name, `cluster/${staging}`, 'can_remove');
    const joining = (remedies as WireRemedy[]).find(({ change }) => change.changes[0]?.action === 'team.add_member');
    assert.deepEqual(
      [joining?.other_objects, joining?.future_objects, joining?.reach],
      [1, true, 'also on 1 other cluster, and every cluster to come'],
    );
    assert.match(sentence, /is to assign the role removers to person\d+ on staging$/);
    await cluster('third');
    const again = await explain(jim.name, `cluster/${staging}`, 'can_remove');
    assert.deepEqual(
      [again.remedies[0].reach, again.remedies[1].reach],
      ['', 'also on 2 other clusters, and every cluster to come'],
    );
    const unknown = await explain(jim.name, `cluster/${staging}`, 'can_edit');
    assert.match(unknown.sentence, /\(also on 2 other clusters, and every cluster to come\)$/);
    const onOrg = await explain(jim.name, `organization/${org.id}`, 'can_edit_roles');
    for (const one of onOrg.remedies as WireRemedy[]) {
      assert.deepEqual([one.other_objects, one.future_objects, one.reach], [0, false, '']);
    }
    const ofTeam = await explain(jim.name, `team/${sre}`, 'can_edit');
    // Viewers and Editors; only owners edit Owners.
    assert.equal(ofTeam.remedies[0].reach, 'also on 2 other teams, and every team to come');
  });

  it('What is needed is suggested only if it would grant', async () => {
    const editors = `team/${id.team('Editors')}`;
    const built = await ask('ann', `/authz/objects/${editors}/explain?org=acme&relation=can_delete&user=dan`);
    assert.deepEqual([built.allowed, built.needs, built.trail], [false, [], []]);
    assert.equal(built.excluded_by[0].relation, 'built_in');
    assert.equal(built.sentence, 'dan cannot delete Editors: the team Editors is built in and stays');
    const plain = await ask(
      'ann',
      `/authz/objects/team/${id.team('operators')}/explain?org=acme&relation=can_delete&user=dan`,
    );
    assert.equal(plain.needs.length, 1);
  });

  it(`A remedy is marked if and only if a guardrail rejects it, in ${COUNTS.guardedRemedies} random questions with seed ${SEED}`, async () => {
    const random = createRandom();
    const { org, call, cluster, team, explain } = await openWorld();
    const people: Awaited<ReturnType<typeof makePerson>>[] = [];
    for (let count = 0; count < 5; count++) people.push(await makePerson(atrium));
    const prod = await cluster('prod');
    const teams = [org.team('Viewers')];
    for (const name of ['red', 'blue', 'green']) teams.push(await team(name, ...random.some(people, 0.4)));
    for (let count = 0; count < 4; count++) {
      const permissions = random.some(CATALOG, 0.1).map(({ namespace, action }) => ({ namespace, action }));
      const role = { name: `role ${count}`, permissions, teamIDs: random.some(teams, 0.3) };
      assert.equal((await call('POST', `/authz/roles?org=${org.name}`, role)).status, 201);
    }
    const relations = ['can_edit_roles', 'can_view_audit_log', 'can_remove_clusters', 'can_view_roles'];
    for (let count = 0; count < 6; count++) {
      const about = { relation: random.pick(relations), object: { type: 'organization' } };
      const rule = random.chance(0.5)
        ? { never: { users: [random.pick(people).name], ...about } }
        : { at_most: { count: 1 + random.below(3), ...about } };
      await call('POST', `/authz/guardrails?org=${org.name}`, { name: `rule ${count}`, ...rule });
    }
    const seen = { marked: 0, made: 0 };
    for (let count = 0; count < COUNTS.guardedRemedies; count++) {
      const { name } = random.pick(people);
      const [object, relation] = random.chance(0.3)
        ? [`cluster/${prod}`, random.pick(['can_remove', 'can_edit'])]
        : [`organization/${org.id}`, random.pick(relations)];
      const { remedies } = await explain(name, object, relation);
      let isMarked = false;
      for (const { change, rejected_by: by, allowed, sentence } of remedies as WireRemedy[]) {
        const undo: (() => Promise<void>)[] = [];
        let status = 0;
        for (const one of change.changes) {
          const done = await make(call, org.name, one);
          if (typeof done === 'number') {
            status = done;
            break;
          }
          undo.unshift(done);
        }
        assert.deepEqual([by !== undefined, allowed], [status === 409, status !== 409], `${name}: ${sentence}`);
        assert.ok(by || !isMarked, 'those that would be rejected come last');
        isMarked ||= by !== undefined;
        seen[by ? 'marked' : 'made']++;
        for (const step of undo) await step();
      }
    }
    assert.ok(seen.marked > 0 && seen.made > 0, JSON.stringify(seen));
  });
});
