import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { linesOf } from '../../support/checks/chain.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { makeHolder, makeRole, orgPermission } from '../../support/world/authz.ts';
import { createRobot } from '../../support/world/people.ts';

interface Entry {
  readonly action: string;
  readonly organization_id: number;
  readonly object: { readonly type: string; readonly id: number; readonly name?: string };
}

for (const driver of API_DRIVERS) {
  describe(`Names in the audit log on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());
    const read = async (who: string, path: string): Promise<Entry[]> => {
      const answer = await atrium.as(who)('GET', path);
      assert.equal(answer.status, 200, answer.text);
      return path.includes('/export') ? (linesOf(answer.text) as unknown as Entry[]) : answer.body.items;
    };
    const names = async (who: string, path: string) => (await read(who, path)).map(({ object }) => object.name);
    const call = async (who: string, method: string, path: string, body?: unknown) => {
      const answer = await atrium.as(who)(method, path, body);
      assert.ok(answer.status < 300, answer.text);
      return answer.body;
    };

    it(`Entries call an object by its present name, and a deleted one by its last, on ${driver}`, async () => {
      const team = await call('ann', 'POST', '/orgs/acme/teams', { name: 'before' });
      await call('ann', 'PUT', `/teams/${team.id}/members/cat`);
      await call('ann', 'PATCH', `/teams/${team.id}`, { name: 'after' });
      const about = `?object=team:${team.id}`;
      const paths = [`/orgs/acme/audit${about}`, `/orgs/acme/audit/export${about}`];
      for (const path of paths) assert.deepEqual(await names('ann', path), ['after', 'after', 'after'], path);
      assert.deepEqual(await names('root', `/admin/audit${about}`), ['after', 'after', 'after']);
      await call('ann', 'DELETE', `/teams/${team.id}`);
      for (const path of [...paths, `/admin/audit${about}`]) {
        assert.deepEqual(await names('root', path), ['after', 'after', 'after', 'after'], path);
      }
    });

    it(`A reader who may not see an object gets the name that the log tells, not the present one, on ${driver}`, async () => {
      const { body: role } = await makeRole(atrium, { name: 'as recorded' });
      const uid = '00000000-0000-4000-8000-0000000000aa';
      const cluster = await call('ann', 'POST', '/orgs/acme/clusters', { name: 'recorded', uid });
      // No entry tells the new names.
      await atrium.instance.db.query(statement(`update role set name = 'secret role' where id = ${role.id}`));
      await atrium.instance.db.query(statement(`update cluster set name = 'secret-name' where id = ${cluster.id}`));
      const auditor = await makeHolder(atrium, [orgPermission('view audit log')]);
      const ofRole = `/orgs/acme/audit?object=role:${role.id}`;
      const ofCluster = `/orgs/acme/audit?object=cluster:${cluster.id}`;
      assert.deepEqual(await names('ann', ofRole), ['secret role']);
      assert.deepEqual(await names('ann', ofCluster), ['secret-name']);
      assert.deepEqual(await names(auditor.name, ofRole), ['as recorded']);
      assert.deepEqual(await names(auditor.name, ofCluster), ['recorded']);
      const answer = await atrium.as(auditor.name)('GET', '/orgs/acme/audit/export');
      assert.doesNotMatch(answer.text, /secret role|secret-name/);
    });

    it(`The log of an organization never names what belongs to another account on ${driver}`, async () => {
      const robot = await createRobot(atrium.instance, atrium.world.orgs.globex?.id ?? 0n, 'robot-of-globex');
      const user = atrium.world.users.eve?.id ?? 0n;
      const acme = atrium.world.orgs.acme?.id ?? 0n;
      const forge = (type: string, id: bigint) =>
        atrium.instance.db.query(
          statement(`insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id,
                                        request_id, previous_hash, hash)
                     values (now(), ${acme}, 1, 'x', 'access.denied', '${type}', ${id}, 'forged', '\\x00', '\\x00')`),
        );
      await forge('robot_ac', robot);
      await forge('user', user);
      for (const object of [`robot_ac:${robot}`, `user:${user}`]) {
        assert.deepEqual(await names('ann', `/orgs/acme/audit?object=${object}`), [undefined], object);
        const all = await names('root', `/admin/audit?org=acme&object=${object}`);
        assert.deepEqual(all, [object.startsWith('user') ? 'eve' : 'robot-of-globex']);
      }
    });

    it(`Users read and export the log of their own account and of nothing else on ${driver}`, async () => {
      const body = { name: 'cloud-of-bob', type: 'Aws', n: 1 };
      await call('bob', 'POST', '/user/credentials', body);
      const uid = '00000000-0000-4000-8000-0000000000bb';
      await call('bob', 'POST', '/user/clusters', { name: 'own-of-bob', uid });
      const found = await read('bob', '/user/audit?limit=2');
      assert.deepEqual(
        found.map(({ action, object }) => [action, object.name]),
        [
          ['cluster.create', 'own-of-bob'],
          ['credential.create', 'cloud-of-bob'],
        ],
      );
      const own = Number(atrium.world.users.bob?.id);
      for (const path of ['/user/audit?limit=200', '/user/audit/export']) {
        const entries = await read('bob', path);
        assert.ok(entries.length >= 2);
        assert.deepEqual(new Set(entries.map((one) => one.organization_id)), new Set([own]));
      }
      assert.deepEqual(await names('bob', '/user/audit?action=credential.&since=2026-01-01T00:00:00Z'), [
        'cloud-of-bob',
      ]);
      assert.ok(!(await names('dan', '/user/audit')).includes('cloud-of-bob'));
      const robot = await createRobot(atrium.instance, atrium.world.orgs.acme?.id ?? 0n, 'reader');
      const issued = await call('ann', 'POST', `/robots/${robot}/tokens`, { name: 'all', scopes: ['all'] });
      const refused = await atrium.as()('GET', '/user/audit', undefined, { Authorization: `token ${issued.sha1}` });
      assert.deepEqual([refused.status, refused.body.message], [403, 'robot accounts cannot call this route']);
    });

    it(`Actions are counted over the last 90 days, in one organization and in all, on ${driver}`, async () => {
      const count = async (who: string, path: string) => {
        const { body } = await atrium.as(who)('GET', path);
        assert.ok(Array.isArray(body), JSON.stringify(body));
        return new Map(body.map((one: { action: string; count: number }) => [one.action, one.count]));
      };
      const entries = await read('ann', '/orgs/acme/audit?limit=200');
      const expected = new Map<string, number>();
      for (const { action } of entries) expected.set(action, (expected.get(action) ?? 0) + 1);
      const counted = await count('ann', '/orgs/acme/audit/actions');
      assert.deepEqual(
        [...counted],
        [...expected].sort(([one], [other]) => (one < other ? -1 : 1)),
      );
      assert.deepEqual(await count('root', '/admin/audit/actions?org=acme'), counted);
      const all = await count('root', '/admin/audit/actions');
      for (const [action, times] of counted) assert.ok((all.get(action) ?? 0) >= times, action);
      assert.ok((all.get('credential.create') ?? 0) > 0, 'of users, too');
      const some = `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id,
                                       request_id, previous_hash, hash)
        select now(), organization_id, 0, 'atrium', 'role.update', 'role', 1, '', '', '' from audit a, generate_series(1, $1::integer) n
         where a.id = (select max(id) from audit where organization_id = ${atrium.world.orgs.acme?.id})`;
      await atrium.instance.db.query(statement(some), [10_000 - (counted.get('role.update') ?? 0)]);
      const roleUpdates = async (who: string, path: string) =>
        (await atrium.as(who)('GET', path)).body.find(({ action }: { action: string }) => action === 'role.update');
      const inAcme = await roleUpdates('ann', '/orgs/acme/audit/actions');
      assert.deepEqual([inAcme.count, inAcme.more], [10_000, undefined]);
      await atrium.instance.db.query(statement(some), [1]);
      for (const [who, path] of [
        ['ann', '/orgs/acme/audit/actions'],
        ['root', '/admin/audit/actions'],
      ] as const) {
        const { count: found, more } = await roleUpdates(who, path);
        assert.deepEqual([found, more], [10_000, true], path);
      }
      const [first] = (await atrium.as('ann')('GET', '/orgs/acme/audit/actions')).body;
      assert.match(first.description, /\.$/);
      await atrium.instance.db.query(
        statement(`update audit set at = at - interval '91 days' where action = 'role.create'`),
      );
      assert.equal((await count('ann', '/orgs/acme/audit/actions')).has('role.create'), false);
      assert.equal((await count('root', '/admin/audit/actions')).has('role.create'), false);
    });
  });
}
