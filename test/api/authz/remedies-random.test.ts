import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CATALOG } from '../../../src/roles/catalog.ts';
import { COUNTS } from '../../counts.ts';
import { createRandom, SEED } from '../../support/checks/random.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { allowedTo, makeHolder, makeRole, numbersOf } from '../../support/world/authz.ts';
import { addMember, createTeam, makePerson } from '../../support/world/people.ts';
import { make, type WireRemedy } from '../../support/world/remedies.ts';
import { makeRobot } from '../../support/world/robots.ts';

/** Which permission of the organization is behind each relation of a cluster. */
const BEHIND: Readonly<Record<string, string>> = {
  can_view: 'can_view_clusters',
  can_edit: 'can_edit_clusters',
  can_remove: 'can_remove_clusters',
  can_connect: 'can_connect_clusters',
  can_view_orchestratorconfig: 'can_view_cluster_config',
  can_administer: 'can_administer_clusters',
  can_review: 'can_review_clusters',
};
const CANARY = 'canary';

describe(`Remedies in a random organization with seed ${SEED}`, () => {
  const random = createRandom();
  let atrium: TestServer;
  let people: string[];
  let prod: number;
  let acme: number;
  let robots: number[];
  const roles: number[] = [];
  before(async () => {
    atrium = await openTestServer();
    const id = numbersOf(atrium);
    [prod, acme] = [id.cluster('prod'), id.org('acme')];
    const made = await Promise.all([0, 1, 2].map(() => makePerson(atrium)));
    people = ['ann', 'bob', 'cat', 'dan', ...made.map(({ name }) => name)];
    const teams = [id.team('Viewers'), id.team('operators')];
    for (let count = 0; count < 4; count++) {
      const permission = random.pick(['none', 'none', 'read'] as const);
      const team = await createTeam(atrium.instance, {
        organizationId: BigInt(acme),
        name: `${CANARY} team ${count}`,
        permission,
      });
      teams.push(Number(team));
      for (const name of random.some(people.slice(1, -1), 0.4))
        await addMember(atrium.instance, team, atrium.world.users[name]?.id ?? 0n);
    }
    for (let count = 0; count < 5; count++) {
      const permissions = random.some(CATALOG, 0.12).map(({ namespace, action }) => ({ namespace, action }));
      const { body: role } = await makeRole(atrium, {
        name: `${CANARY} role ${count}`,
        permissions,
        teamIDs: random.some(teams, 0.3),
      });
      roles.push(role.id);
    }
    robots = [(await makeRobot(atrium, 'sweeper')).id, (await makeRobot(atrium, 'painter')).id];
    await atrium.as('ann')('PATCH', `/clusters/${prod}`, { clusterSetName: 'eu' });
    const places = [
      {},
      { type: 'cluster', id: prod },
      { type: 'cluster_set', name: 'eu' },
      { type: 'team', id: teams[2] },
    ];
    for (let count = 0; count < 12; count++) {
      const to = random.pick([
        { type: 'user', name: random.pick(people.slice(1, 4)) },
        { type: 'team', id: random.pick(teams) },
        { type: 'robot_ac', id: random.pick(robots) },
      ]);
      const on = random.pick(places);
      const body = { role: { id: random.pick(roles) }, to, ...('type' in on && { on }) };
      const { status, text } = await atrium.as('ann')('POST', '/authz/assignments?org=acme', body);
      // Some have no effect there, or exist already.
      assert.ok([201, 409, 422].includes(status), text);
    }
  });
  after(() => atrium.close());

  const robotNames = () => robots.map((robot) => `robot:${robot}`);
  /** What users and robots hold on the organization, or on a cluster. */
  const heldByAll = async (type = 'organization', id = acme) =>
    new Map(
      await Promise.all(
        [...people, ...robotNames()].map(async (name) => {
          const held = await heldBy(name, type, id);
          return [name, new Set(held.filter((relation) => relation !== 'can_leave'))] as const;
        }),
      ),
    );
  const heldBy = async (name: string, type: string, id: number): Promise<string[]> => {
    if (!name.startsWith('robot:')) return await allowedTo(atrium, name, type, id);
    const relations = type === 'cluster' ? Object.keys(BEHIND) : [...new Set(CATALOG.map(({ relation }) => relation))];
    const checks = relations.map((relation) => ({ user: name, relation, object: { type, id } }));
    const { body } = await atrium.as('ann')('POST', '/authz/check?org=acme', { checks });
    return relations.filter((_, place) => body.results[place].allowed);
  };

  it('Every remedy that is made gives a yes, and grants exactly what it said', async () => {
    let [made, assigned] = [0, 0];
    for (let count = 0; count < COUNTS.remedyQuestions; count++) {
      const user = random.pick([...people, ...robotNames()]);
      const [type, number, relation, wanted] = random.chance(0.5)
        ? (() => {
            const asked = random.pick(Object.keys(BEHIND));
            return ['cluster', prod, asked, BEHIND[asked]] as const;
          })()
        : (() => {
            const { relation: asked } = random.pick(CATALOG);
            return ['organization', acme, asked, asked] as const;
          })();
      const url = `/authz/objects/${type}/${number}/explain?org=acme&relation=${relation}&user=${user}`;
      const { body } = await atrium.as('ann')('GET', `${url}&remedies=true`);
      const remedies = body.remedies as WireRemedy[];
      // A robot can get only what a role contains that exists.
      if (!user.startsWith('robot:')) assert.equal(remedies.length > 0, !body.allowed, url);
      const cost = remedies.map(({ gains, others }) => [gains, others] as const);
      const sorted = cost.toSorted(([gains, others], [more, further]) => gains - more || others - further);
      assert.deepEqual(cost, sorted, 'the least comes first');
      const before = await heldByAll();
      const beforeThere = await heldByAll('cluster', prod);
      for (const { change, sentence, gains, others, allowed } of remedies) {
        const undo: (() => Promise<void>)[] = [];
        for (const one of change.changes) {
          const done = await make(atrium.as('ann'), 'acme', one);
          if (typeof done === 'number') assert.fail(`${sentence}: ${done}`);
          undo.unshift(done);
        }
        assert.ok(allowed, 'an owner may do everything');
        const { body: now } = await atrium.as('ann')('GET', url);
        assert.equal(now.allowed, true, `${user} ${relation} ${type}: ${sentence}`);
        const gained = [...(await heldByAll())].map(
          ([name, held]) => [name, held.difference(before.get(name) ?? new Set())] as const,
        );
        const own = gained.find(([name]) => name === user)?.[1] ?? new Set();
        const place = change.changes.find(({ action }) => action === 'assignment.create')?.on;
        const there = place?.type === 'cluster' ? await heldByAll('cluster', prod) : undefined;
        const grown = (there?.get(user) ?? new Set()).difference(beforeThere.get(user) ?? new Set());
        // Whoever can do anything on a cluster can view it.
        const furtherThere = [...grown].filter((one) => one !== relation && one !== 'can_view');
        const further = [...[...own].filter((one) => one !== wanted), ...furtherThere];
        const reached = gained.filter(([name, held]) => name !== user && held.size > 0);
        for (const [name, held] of there ?? []) {
          if (name !== user) assert.deepEqual(held, beforeThere.get(name), `${name}: ${sentence}`);
        }
        if (place) assigned++;
        assert.deepEqual([gains, others], [further.length, reached.length], `${user} ${relation} ${type}: ${sentence}`);
        for (const step of undo) await step();
        made += 1;
      }
      assert.deepEqual(await heldByAll(), before, 'everything is undone');
    }
    assert.ok(made > COUNTS.remedyQuestions / 10, `${made} remedies`);
    if (COUNTS.remedyQuestions >= 100) assert.ok(assigned > 10, `${assigned} assignments`);
  });

  it('Remedies, paths and reasons reveal no team or role that the caller may not see', async () => {
    const relations = [...new Set([...CATALOG.map(({ relation }) => relation), 'can_view', 'can_delete', 'can_leave'])];
    const callers: (Awaited<ReturnType<typeof makeHolder>> & { seesRoles: boolean; seesTeams: boolean })[] = [];
    for (let count = 0; count < 3; count++) {
      const extra = random.some(CATALOG, 0.06).map(({ namespace, action }) => ({ namespace, action }));
      const permissions = [{ namespace: 'org_mgmt', action: 'view members' }, ...extra];
      const made = await makeHolder(atrium, permissions);
      const held = await allowedTo(atrium, made.name, 'organization', acme);
      callers.push({ ...made, seesRoles: held.includes('can_view_roles'), seesTeams: held.includes('can_view_teams') });
    }
    assert.ok(callers.some(({ seesRoles, seesTeams }) => !seesRoles || !seesTeams));
    for (let count = 0; count < COUNTS.blindQuestions; count++) {
      const caller = random.pick(callers);
      const user = random.pick([...people, caller.name]);
      const relation = random.pick(relations);
      const on = `/authz/objects/organization/${acme}`;
      const query = `org=acme&relation=${relation}`;
      const told = await atrium.as(caller.name)('GET', `${on}/explain?${query}&user=${user}&remedies=true&paths=all`);
      assert.equal(told.status, 200, told.text);
      const listed = await atrium.as(caller.name)('GET', `${on}/principals?${query}&reason=true`);
      const { remedies, paths } = told.body as { remedies: WireRemedy[]; paths: unknown[] };
      const text = JSON.stringify([remedies, told.body.remedies_note, paths, listed.body]);
      if (!caller.seesTeams) assert.doesNotMatch(text, /canary team|operators|Owners|Editors|Viewers/, told.text);
      if (!caller.seesRoles && !caller.seesTeams) assert.doesNotMatch(text, /canary role|cluster-operator/, told.text);
      const known = new Set([`team:${caller.teamId}`, `role:${caller.roleId}`]);
      if (caller.seesTeams || caller.seesRoles || user === caller.name) continue;
      for (const one of text.match(/(team|role):\d+/g) ?? []) assert.ok(known.has(one), one);
      for (const { change } of remedies)
        for (const { action, id, team, role } of change.changes) {
          const ids = [action === 'team.add_member' ? id : undefined, team, ...(role?.teamIDs ?? [])];
          for (const one of ids) assert.ok(one === undefined || one === caller.teamId, JSON.stringify(change));
          if (/role\.(update|assign)/.test(action)) assert.equal(id, caller.roleId);
          if (action === 'assignment.create') assert.equal(role?.id, caller.roleId);
        }
    }
  });

  it('What the caller may not see does not change the remedies either', async () => {
    const blind = await makeHolder(atrium, [{ namespace: 'org_mgmt', action: 'view members' }]);
    const ask = async () => {
      const answers = [];
      for (const relation of ['can_edit', 'can_view_teams', 'can_create_contracts']) {
        const url = `/authz/objects/organization/${acme}/explain?org=acme&relation=${relation}&user=${blind.name}`;
        const { body } = await atrium.as(blind.name)('GET', `${url}&remedies=true`);
        answers.push([body.remedies, body.remedies_note]);
      }
      return answers;
    };
    const before = await ask();
    assert.ok(JSON.stringify(before).includes('role.create'));
    const team = await createTeam(atrium.instance, {
      organizationId: BigInt(acme),
      name: 'a hidden team',
      permission: 'write',
    });
    await addMember(atrium.instance, team, atrium.world.users.dan?.id ?? 0n);
    const permissions = [{ namespace: 'org_mgmt', action: 'edit' }];
    await makeRole(atrium, { name: 'edit', permissions, teamIDs: [Number(team)] });
    assert.deepEqual(await ask(), before);
  });
});
