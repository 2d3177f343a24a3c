import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { openFilePlace } from '../../support/world/assignment-file.ts';
import { assign, rejected } from '../../support/world/assignments.ts';

for (const driver of API_DRIVERS) {
  describe(`Namespaces in role files on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const fresh = async () => {
      const place = await openFilePlace(atrium);
      const { call, path, operator, dan, prod } = place;
      const user = { type: 'user', id: Number(dan.id) };
      const kept = await assign(
        place,
        operator.id,
        user,
        { type: 'cluster', id: prod.id },
        { namespaces: ['web', 'a*'] },
      );
      const scopes = async () =>
        (await call('GET', `${path}&limit=50`)).body
          .map(({ on, namespaces }: Scoped) => `${on.name} ${namespaces?.join() ?? 'all'}`)
          .sort();
      const entry = (more: object = {}) => ({
        ...{ role: 'cluster-operator', to: { user: dan.name }, on: { cluster: 'prod' } },
        ...more,
      });
      return { ...place, kept, scopes, entry };
    };

    it(`What is exported has them, and changes nothing on ${driver}`, async () => {
      const { exported, brought, scopes, dan } = await fresh();
      const { text } = await exported();
      assert.match(text, /\n {4}on: \{cluster: prod\}\n {4}namespaces: \["a\*", web\]\n/);
      const json = (await exported(undefined, '&format=json')).body;
      assert.deepEqual(json.assignments, [
        {
          ...{ role: 'cluster-operator', to: { user: dan.name } },
          ...{ on: { cluster: 'prod' }, namespaces: ['a*', 'web'] },
        },
      ]);
      for (const query of ['', '&prune=true']) {
        const { assignments } = await brought(json, query);
        assert.deepEqual(assignments, { changes: [], unchanged: 1, unmanaged: [] });
      }
      assert.deepEqual(await scopes(), ['prod web,a*']);
    });

    it(`An entry with other namespaces, or without, is another assignment on ${driver}`, async () => {
      const { brought, fileOf, scopes, entry, exported, dan, kept, at, call } = await fresh();
      const title = `cluster-operator to user ${dan.name} on cluster prod`;
      const dry = await brought(fileOf([entry()]), '&dry_run=true');
      assert.deepEqual(dry.assignments, {
        ...{ changes: [{ assignment: title, kind: 'create', words: [] }], unchanged: 0 },
        unmanaged: [`${title} in a*, web`],
      });
      const some = [entry(), entry({ namespaces: ['web', 'web'] }), entry({ namespaces: ['web', 'a*'], reason: 'x' })];
      const done = await brought(fileOf(some));
      assert.deepEqual(
        done.assignments.changes.map(({ assignment, kind }: Changed) => `${kind} ${assignment}`),
        [`create ${title}`, `update ${title} in a*, web`, `create ${title} in web`],
      );
      assert.deepEqual(await scopes(), ['prod all', 'prod web', 'prod web,a*']);
      assert.equal((await call('GET', at(kept.id))).body.reason, 'x');
      const again = await brought((await exported(undefined, '&format=json')).body, '&prune=true');
      assert.deepEqual(again.assignments, { changes: [], unchanged: 3, unmanaged: [] });
      const pruned = await brought(fileOf([entry({ namespaces: ['web'] })]), '&prune=true');
      assert.deepEqual(
        pruned.assignments.changes.map(({ assignment, kind }: Changed) => `${kind} ${assignment}`),
        [`delete ${title}`, `delete ${title} in a*, web`],
      );
      assert.deepEqual(await scopes(), ['prod web']);
    });

    it(`A guardrail counts what a file gives in namespaces as any other call does on ${driver}`, async () => {
      const { call, bring, brought, fileOf, entry, org, dan, at, kept } = await fresh();
      assert.equal((await call('DELETE', at(kept.id))).status, 204);
      const about = { relation: 'can_connect', object: { type: 'cluster', name: 'prod' } };
      const rule = async (statement: object) => {
        const made = await call('POST', `/authz/guardrails?org=${org.name}`, { name: 'rule', ...statement });
        assert.equal(made.status, 201, made.text);
        return made.body;
      };
      const { id } = await rule({ never: { users: [dan.name], ...about } });
      for (const query of ['', '&dry_run=true']) {
        const answer = await bring(call, fileOf([entry({ namespaces: ['web'] })]), query);
        assert.deepEqual([answer.status, answer.body.reason], [409, 'guardrail_violated'], answer.text);
      }
      assert.equal((await call('DELETE', `/authz/guardrails/${id}?org=${org.name}`)).status, 204);
      // What counts in a namespace does not satisfy a rule about the cluster.
      const whole = await brought(fileOf([entry()]));
      assert.equal(whole.assignments.changes.length, 1);
      await rule({ at_least: { count: 2, ...about } });
      for (const query of ['&prune=true', '&prune=true&dry_run=true']) {
        const answer = await bring(call, fileOf([entry({ namespaces: ['web'] })]), query);
        assert.deepEqual([answer.status, answer.body.reason], [409, 'guardrail_violated'], answer.text);
      }
    });

    it(`Namespaces that are none are rejected, and say where on ${driver}`, async () => {
      const { call, org, fileOf, entry, scopes } = await fresh();
      const cases: readonly (readonly [object, RegExp])[] = [
        [{ namespaces: null }, /^assignments\[0\]\.namespaces must be a list of strings$/],
        [{ namespaces: 'web' }, /^assignments\[0\]\.namespaces must be a list of strings$/],
        [{ namespaces: [5] }, /^assignments\[0\]\.namespaces must be a list of strings$/],
        [{ namespaces: [] }, /^assignments\[0\]\.namespaces must have 1 to 50 entries: leave it out for all of it$/],
        [{ namespaces: Array.from({ length: 51 }, (_, place) => `n${place}`) }, /must have 1 to 50 entries/],
        [{ namespaces: ['*'] }, /^assignments\[0\]\.namespaces must be names of Kubernetes namespaces/],
        [{ namespaces: ['Web'] }, /must be names of Kubernetes namespaces/],
        [{ namespaces: ['web'], on: { contract: 'gold' } }, /^assignments\[0\]\.namespaces are for assignments on a/],
        [{ namespaces: ['web'], on: undefined }, /^assignments\[0\]\.namespaces are for assignments on a cluster/],
      ];
      for (const [more, message] of cases) {
        const document = JSON.parse(JSON.stringify(fileOf([entry(more)])));
        const path = `/authz/roles/import?org=${org.name}`;
        const body = await rejected(call, ['PUT', path, document], 422, 'validation_failed');
        assert.match(body.message, message);
      }
      const keeper = { name: 'keeper', permissions: { cluster_mgmt: ['remove clusters'] } };
      const nothing = fileOf([entry({ role: 'keeper', namespaces: ['web'] })], { roles: [keeper] });
      const body = await rejected(call, ['PUT', `/authz/roles/import?org=${org.name}`, nothing], 422, 'no_effect');
      assert.match(body.message, /has no permission that concerns namespaces of this cluster$/);
      const twice = fileOf([entry({ namespaces: ['web', 'b'] }), entry({ namespaces: ['b', 'web'] })]);
      const same = await rejected(
        call,
        ['PUT', `/authz/roles/import?org=${org.name}`, twice],
        422,
        'validation_failed',
      );
      assert.match(same.message, /^assignments\[1\]\.role: the same as assignments\[0\]$/);
      assert.deepEqual(await scopes(), ['prod web,a*']);
    });
  });
}

describe('Giving in namespaces by a file', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('Who holds a prefix gives what it names, and neither more nor the whole cluster', async () => {
    const place = await openFilePlace(atrium);
    const { role, operator, dan, prod, org, bring, fileOf } = place;
    const user = { type: 'user', id: Number(dan.id) };
    const assigner = await role('assigner', 'org_mgmt assign roles', 'org_mgmt view roles');
    await assign(place, assigner.id, user);
    await assign(place, operator.id, user, { type: 'cluster', id: prod.id }, { namespaces: ['team-*'] });
    const asDan = atrium.as(dan.name);
    const file = (more: object) => {
      const entry = { role: 'cluster-operator', to: { robot: 'deploy' }, on: { cluster: 'prod' }, ...more };
      return fileOf([entry], { roles: [] });
    };
    const path = `/authz/roles/import?org=${org.name}`;
    for (const more of [{}, { namespaces: ['web'] }, { namespaces: ['t*'] }, { namespaces: ['team-a', 'web'] }]) {
      await rejected(asDan, ['PUT', path, file(more)], 403, 'escalation');
    }
    for (const more of [{ namespaces: ['team-a'] }, { namespaces: ['team-b*'] }]) {
      const answer = await bring(asDan, file(more));
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.assignments.changes.length, 1);
    }
  });
});

interface Changed {
  readonly assignment: string;
  readonly kind: string;
}

interface Scoped {
  readonly on: { readonly name: string };
  readonly namespaces?: readonly string[];
}
