import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { DRIVERS } from '../../support/server/db.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace, type Place } from '../../support/world/assignments.ts';
import { allowedTo } from '../../support/world/authz.ts';
import { inHours, letExpire } from '../../support/world/expiry.ts';
import { addMember, createTeam, makePerson } from '../../support/world/people.ts';

for (const driver of DRIVERS) {
  describe(`Ends of assignments on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver, hasOurClock: true });
    });
    after(() => atrium.close());

    /** The entries about assignments that ended, as `assignment.end cluster.delete`. */
    async function ends(place: Place): Promise<string[]> {
      const chain = await auditOf(atrium.instance.db, place.org.id);
      assert.deepEqual(brokenLinks(chain), []);
      return chain
        .filter(({ action }) => /^assignment\.(end|expire)$/.test(action))
        .map(({ action, object_id, after: said }) =>
          `${action} ${object_id} ${JSON.parse(said ?? '{}').because ?? ''}`.trim(),
        );
    }

    it(`Deleting a role, a team, a robot or the object ends what names it, each with an entry, on ${driver}`, async () => {
      const place = await openPlace(atrium);
      const { call, org, operator, role, dan, robot, staging, prod, path, crew } = place;
      const user = { type: 'user', id: Number(dan.id) };
      const all = await role(
        'all',
        'cluster_mgmt view clusters',
        'contract_mgmt view contracts',
        'robot_mgmt view robot accounts',
        'org_mgmt view teams',
      );
      const contract = await call('POST', `/orgs/${org.name}/contracts`, { name: 'basic' });
      const team = await createTeam(atrium.instance, { organizationId: org.id, name: 'gone', permission: 'none' });
      const goner = { type: 'team', id: Number(team) };
      const kept = await assign(place, all.id, user, { type: 'cluster', id: prod.id });
      const expected: string[] = [];
      const deleted = async (of: string, target: string, made: { id: number }[]) => {
        const answer = await call('DELETE', target);
        assert.equal(answer.status, 204, answer.text);
        expected.push(...made.map(({ id }) => `assignment.end ${id} ${of}.delete`));
        assert.deepEqual(await ends(place), expected);
        const left = (await call('GET', path)).body.map(({ id }: { id: number }) => id);
        for (const { id } of made) assert.ok(!left.includes(id));
        assert.ok(left.includes(kept.id));
      };
      await deleted('cluster', `/clusters/${staging.id}`, [
        await assign(place, all.id, user, { type: 'cluster', id: staging.id }),
        await assign(place, operator.id, { type: 'team', id: crew }, { type: 'cluster', id: staging.id }),
      ]);
      await deleted('contract', `/contracts/${contract.body.id}`, [
        await assign(place, all.id, user, { type: 'contract', id: contract.body.id }),
      ]);
      await deleted('team', `/teams/${team}`, [
        await assign(place, all.id, user, goner),
        await assign(place, all.id, goner, { type: 'cluster', id: prod.id }),
        await assign(place, operator.id, goner),
      ]);
      assert.deepEqual((await call('GET', `/authz/roles/${operator.id}?org=${org.name}`)).body.team_ids, []);
      await deleted('robot', `/robots/${robot}`, [
        await assign(place, all.id, user, { type: 'robot_ac', id: robot }),
        await assign(place, operator.id, { type: 'robot_ac', id: robot }),
      ]);
      await deleted('role', `/authz/roles/${operator.id}?org=${org.name}`, [
        await assign(place, operator.id, user, { type: 'cluster_set', name: 'eu' }),
        await assign(place, operator.id, user),
        await assign(place, operator.id, { type: 'team', id: crew }),
      ]);
    });

    it(`Leaving the organization ends the assignments of a user, in whatever way they leave, on ${driver}`, async (t) => {
      const place = await openPlace(atrium);
      const { call, org, operator, prod, crew, path } = place;
      const other = await openPlace(atrium);
      const joined = async (term?: string) => {
        const person = await makePerson(atrium);
        const answer = await call(
          'PUT',
          `/teams/${crew}/members/${person.name}`,
          term ? { expires_at: term } : undefined,
        );
        assert.equal(answer.status, 204, answer.text);
        const user = { type: 'user', id: Number(person.id) };
        const made = [
          await assign(place, operator.id, user, { type: 'cluster', id: prod.id }),
          await assign(place, operator.id, user),
        ];
        return { person, user, made };
      };
      const count = async () => (await call('GET', path)).headers.get('x-total-count');

      const first = await joined();
      const second = await createTeam(atrium.instance, { organizationId: org.id, name: 'second', permission: 'none' });
      await addMember(atrium.instance, second, first.person.id);
      await addMember(atrium.instance, BigInt(other.crew), first.person.id);
      const elsewhere = await assign(other, other.operator.id, first.user);
      assert.equal((await call('DELETE', `/teams/${crew}/members/${first.person.name}`)).status, 204);
      assert.equal(await count(), '2', 'still a member');
      assert.equal((await call('DELETE', `/teams/${second}`)).status, 204);
      assert.equal(await count(), '0', 'the last team is gone');
      assert.equal((await other.call('GET', other.at(elsewhere.id))).status, 200);

      const leaver = await joined();
      assert.equal(
        (await atrium.as(leaver.person.name)('DELETE', `/orgs/${org.name}/members/${leaver.person.name}`)).status,
        204,
      );
      assert.equal(await count(), '0');
      const deleted = await joined();
      const answer = await atrium.as('root')('DELETE', `/admin/users/${deleted.person.name}`);
      assert.equal(answer.status, 204, answer.text);
      assert.equal(await count(), '0');
      const inactive = await joined();
      const off = await atrium.as('root')('PATCH', `/admin/users/${inactive.person.name}`, { active: false });
      assert.ok(off.status < 300, off.text);
      assert.equal(await count(), '2', 'an inactive account keeps what it has');

      const expiring = await joined(inHours(1));
      await letExpire(t, atrium, org.id);
      assert.equal(await count(), '2');
      assert.deepEqual(
        (await ends(place)).map((line) => line.split(' ')[2]),
        [
          ...Array(4).fill('team.remove_member'),
          ...Array(2).fill('user.delete'),
          ...Array(2).fill('team.remove_member'),
        ],
      );
      assert.ok(expiring.made.length > 0);
    });

    it(`The first request after its end no longer has an assignment, and the log says so, on ${driver}`, async (t) => {
      const place = await openPlace(atrium);
      const { call, org, operator, dan, prod, robot, crew, path } = place;
      const soon = { expires_at: inHours(1) };
      const user = { type: 'user', id: Number(dan.id) };
      const made = [
        await assign(place, operator.id, user, { type: 'cluster', id: prod.id }, soon),
        await assign(place, operator.id, user, undefined, soon),
        await assign(place, operator.id, { type: 'robot_ac', id: robot }, { type: 'cluster_set', name: 'eu' }, soon),
        await assign(place, operator.id, { type: 'team', id: crew }, undefined, soon),
      ];
      const holds = () => allowedTo(atrium, dan.name, 'cluster', prod.id, org.name);
      assert.deepEqual(await holds(), ['can_view', 'can_connect']);
      await letExpire(t, atrium, org.id);
      assert.deepEqual(await holds(), []);
      assert.equal((await call('GET', path)).headers.get('x-total-count'), '0');
      assert.deepEqual((await ends(place)).sort(), made.map(({ id }) => `assignment.expire ${id}`).sort());
      assert.deepEqual((await call('GET', `/authz/roles/${operator.id}?org=${org.name}`)).body.team_ids, []);
      // What has expired is in nobody's way.
      if (atrium.instance.db.driver !== 'pglite')
        await assign(place, operator.id, user, { type: 'cluster', id: prod.id });
    });
  });
}
