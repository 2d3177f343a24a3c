import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as passed } from 'node:timers/promises';
import { auditOf } from '../../support/checks/audit.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace, type Place, pair, rejected } from '../../support/world/assignments.ts';

describe('Assignments in namespaces', () => {
  let atrium: TestServer;
  let place: Place;
  let worker: number;
  before(async () => {
    atrium = await openTestServer();
    place = await openPlace(atrium);
    const cluster = ['view clusters', 'reconfigure clusters', 'connect to clusters', 'remove clusters'];
    const all = [...cluster, 'view orchestrator configuration'].map((action) => `cluster_mgmt ${action}`);
    worker = (await place.role('worker', ...all)).id;
  });
  after(() => atrium.close());

  const dan = () => ({ type: 'user', id: Number(place.dan.id) });
  const prod = () => ({ type: 'cluster', id: place.prod.id });
  const eu = { type: 'cluster_set', name: 'eu' };
  const body = (more: object) => ({ role: { id: worker }, to: dan(), on: prod(), ...more });
  const remove = async (...made: { id: number }[]) => {
    for (const { id } of made) assert.equal((await place.call('DELETE', place.at(id))).status, 204);
  };

  const byLength = (one: string[], other: string[]) => one.length - other.length;

  async function get(path: string, who = place.owner.name) {
    const answer = await atrium.as(who)('GET', path);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  async function allowed(namespace?: string, cluster = place.prod.id): Promise<string[]> {
    const query = `org=${place.org.name}${namespace === undefined ? '' : `&namespace=${namespace}`}`;
    const path = `/authz/objects/cluster/${cluster}/allowed-permissions?${query}`;
    return (await get(path, place.dan.name)).allowedPermissions;
  }

  const why = (relation: string, rest = '') =>
    `/authz/objects/cluster/${place.prod.id}/explain?org=${place.org.name}&relation=${relation}&user=${place.dan.name}${rest}`;

  it('An assignment shows its namespaces in the order given, each once, and what of the role counts there', async () => {
    const { call, path, at, operator } = place;
    const made = await assign(place, worker, dan(), prod(), { namespaces: ['web', 'shop-*', 'web'] });
    const actions = (list: { action: string }[]) => list.map(({ action }) => action);
    assert.deepEqual(made.namespaces, ['web', 'shop-*']);
    assert.deepEqual(actions(made.effective), ['view clusters', 'reconfigure clusters', 'connect to clusters']);
    assert.deepEqual(actions(made.without_effect), ['view orchestrator configuration', 'remove clusters']);
    assert.deepEqual((await get(at(made.id))).namespaces, ['web', 'shop-*']);
    const whole = await assign(place, operator.id, dan(), prod(), { namespaces: null });
    assert.equal('namespaces' in whole, false);
    const listed = (await call('GET', `${path}&on=cluster:prod`)).body as { id: number; namespaces: unknown }[];
    assert.deepEqual(
      listed.map(({ id, namespaces }) => [id, namespaces]),
      [
        [made.id, ['web', 'shop-*']],
        [whole.id, undefined],
      ],
    );
    const principals = await get(`/authz/roles/${worker}/principals?org=${place.org.name}`);
    assert.deepEqual(principals[0].namespaces, ['web', 'shop-*']);
    await remove(made, whole);
  });

  it('Namespaces that are none, too many, or on what has none are rejected', async () => {
    const { call, path, at, operator, crew, robot } = place;
    const names = (count: number) => Array.from({ length: count }, (_, place) => `n${place}`);
    const long = 'a'.repeat(63);
    const wrong: [string, unknown][] = [
      ['an empty list', []],
      ['everything', ['*']],
      ['everything, and more', ['web', '*']],
      ['no text', [5]],
      ['a text', 'web'],
      ['too many', names(51)],
      ['an empty name', ['']],
      ['a capital letter', ['Web']],
      ['a dot', ['a.b']],
      ['a hyphen first', ['-a']],
      ['a hyphen first in a prefix', ['-*']],
      ['a hyphen last', ['a-']],
      ['an asterisk inside', ['a*b']],
      ['two asterisks', ['a**']],
      ['a name that is too long', [`${long}a`]],
      ['a prefix that is too long', [`${long}a*`]],
    ];
    for (const [what, namespaces] of wrong) {
      const answer = await call('POST', path, body({ namespaces }));
      assert.equal(answer.status, 422, `${what}: ${answer.text}`);
    }
    const places = [undefined, { type: 'organization' }, { type: 'team', id: crew }, { type: 'robot_ac', id: robot }];
    for (const on of [...places, { type: 'contract', id: 1 }]) {
      const sent = { role: { id: operator.id }, to: dan(), ...(on && { on }), namespaces: ['web'] };
      assert.equal((await call('POST', path, sent)).status, 422, JSON.stringify(on));
    }
    const remover = await place.role('remover', 'cluster_mgmt remove clusters', 'org_mgmt view members');
    const config = await place.role('config', 'cluster_mgmt view orchestrator configuration');
    for (const { id } of [remover, config]) {
      const sent = ['POST', path, body({ role: { id }, namespaces: ['web'] })] as const;
      await rejected(call, sent, 422, 'no_effect');
    }
    const many = await assign(place, worker, dan(), prod(), { namespaces: names(50) });
    const lengthy = await assign(place, worker, dan(), prod(), { namespaces: [long, `${long}*`] });
    const made = await assign(place, worker, dan(), prod(), { namespaces: ['web', 'shop-*'] });
    for (const namespaces of [['web'], ['web', 'shop-*', 'a'], []]) {
      assert.equal((await call('PATCH', at(made.id), { namespaces })).status, 422, JSON.stringify(namespaces));
    }
    for (const namespaces of [['shop-*', 'web'], null]) {
      assert.equal((await call('PATCH', at(made.id), { namespaces, reason: 'the same' })).status, 200);
    }
    const whole = await assign(place, worker, dan(), prod());
    assert.equal((await call('PATCH', at(whole.id), { namespaces: ['web'] })).status, 422);
    await remove(many, lengthy, made, whole);
  });

  it('Namespaces belong to what can be assigned once, whatever their order', async () => {
    const { call, path } = place;
    const made = [
      await assign(place, worker, dan(), prod(), { namespaces: ['web', 'shop-*'] }),
      await assign(place, worker, dan(), prod()),
      await assign(place, worker, dan(), prod(), { namespaces: ['web'] }),
    ];
    for (const namespaces of [['web'], ['shop-*', 'web'], ['web', 'shop-*', 'web'], null]) {
      await rejected(call, ['POST', path, body({ namespaces })], 409, 'already_assigned');
    }
    await remove(...made);
  });

  it('A question without a namespace gets can_view, and one with a namespace what counts there', async () => {
    const { call, org, staging, crew } = place;
    assert.deepEqual(await allowed(), []);
    const mine = await assign(place, worker, dan(), prod(), { namespaces: ['web', 'shop-*'] });
    assert.deepEqual(await allowed(), ['can_view']);
    for (const namespace of ['web', 'shop-eu']) {
      assert.deepEqual(await allowed(namespace), ['can_view', 'can_edit', 'can_connect'], namespace);
    }
    for (const namespace of ['webs', 'shop', 'kube-system']) assert.deepEqual(await allowed(namespace), [], namespace);
    assert.deepEqual(await allowed('web', staging.id), []);
    const onSet = await assign(place, worker, { type: 'team', id: crew }, eu, { namespaces: ['data'] });
    assert.deepEqual(await allowed('data'), ['can_view', 'can_edit', 'can_connect']);
    const batch = [undefined, 'web', 'data', 'other'].map((namespace) => ({
      ...{ objectType: 'cluster', objectID: place.prod.id },
      ...(namespace && { namespace }),
    }));
    const asked = await atrium.as(place.dan.name)('POST', `/authz/objects/allowed-permissions?org=${org.name}`, batch);
    assert.deepEqual(
      asked.body.map(({ allowedPermissions }: { allowedPermissions: string[] }) => allowedPermissions),
      [['can_view'], ['can_view', 'can_edit', 'can_connect'], ['can_view', 'can_edit', 'can_connect'], []],
    );
    const checks = ['web', 'data', 'other', undefined].flatMap((namespace) =>
      ['can_connect', 'can_view', 'can_remove'].map((relation) => ({
        ...{ user: place.dan.name, relation, object: { type: 'cluster', name: 'prod' } },
        ...(namespace && { namespace }),
      })),
    );
    const { results } = (await call('POST', `/authz/check?org=${org.name}`, { checks })).body;
    assert.deepEqual(
      results.map(({ allowed: yes }: { allowed: boolean }) => yes),
      [true, true, false, true, true, false, false, false, false, false, true, false],
    );
    const who = async (relation: string, namespace?: string) => {
      const path = `/authz/objects/cluster/${place.prod.id}/principals?org=${org.name}&relation=${relation}&reason=true`;
      const found = await get(`${path}${namespace === undefined ? '' : `&namespace=${namespace}&also=can_edit`}`);
      return found.find(({ name }: { name: string }) => name === place.dan.name);
    };
    const role = { kind: 'role', id: worker, name: 'worker' };
    assert.deepEqual((await who('can_connect', 'web')).via, [role]);
    assert.deepEqual((await who('can_connect', 'web')).also, ['can_edit']);
    assert.deepEqual((await who('can_view', 'data')).via.map(({ kind }: { kind: string }) => kind).sort(), [
      'role',
      'team',
    ]);
    assert.equal(await who('can_connect', 'other'), undefined);
    assert.equal(await who('can_view', 'other'), undefined);
    assert.equal(await who('can_connect'), undefined);
    assert.ok(await who('can_view'));
    await remove(mine, onSet);
    assert.deepEqual(await allowed('web'), []);
  });

  it('An explanation names the namespaces, and every path', async () => {
    const { crew } = place;
    const name = place.dan.name;
    const mine = await assign(place, worker, dan(), prod(), { namespaces: ['web', 'shop-*'] });
    const onSet = await assign(place, worker, { type: 'team', id: crew }, eu, { namespaces: ['web'] });
    const role = 'worker on prod in the namespaces web, shop-*';
    for (const who of [place.owner.name, name]) {
      const yes = await get(why('can_connect', '&namespace=web&paths=all'), who);
      assert.equal(yes.allowed, true);
      assert.equal(yes.namespace, 'web');
      assert.equal(
        yes.sentence,
        `${name} can connect to prod in the namespace web because ${name} has the role ${role}`,
      );
      assert.deepEqual(yes.paths.map((path: { text: string }[]) => path.map(({ text }) => text)).sort(byLength), [
        [`${name} can connect to prod because ${name} has the role ${role}`, `${name} has the role ${role}`],
        [
          `${name} can connect to prod because ${name} has the role worker on eu in the namespace web`,
          'the team crew has the role worker on eu in the namespace web',
          `${name} is in the team crew`,
        ],
      ]);
      const stored = yes.paths.map(([first]: { tuple: object }[]) => first?.tuple);
      for (const [one, object] of [
        [mine, `cluster:${place.prod.id}`],
        [onSet, 'cluster_set:'],
      ]) {
        const tuple = stored.find(({ user }: { user: string }) => user === `assignment:${one.id}`);
        assert.equal(tuple.relation, 'namespaced_assignment');
        assert.ok(tuple.object.startsWith(object), tuple.object);
      }
      const view = await get(why('can_view', '&namespace=shop-eu'), who);
      assert.equal(
        view.sentence,
        `${name} can view prod in the namespace shop-eu because ${name} has the role ${role}`,
      );
      assert.deepEqual(
        view.steps.map(({ relation }: { relation: string }) => relation),
        ['can_view', 'assignee'],
      );
      const seen = await get(why('can_view', '&paths=all'), who);
      assert.equal(seen.sentence, `${name} can view prod because ${name} has the role ${role}`);
      assert.equal(seen.paths.length, 2);
      for (const rest of ['', '&namespace=other']) {
        assert.equal((await get(why('can_connect', rest), who)).allowed, false, rest);
      }
      const no = await get(why('can_view', '&namespace=other'), who);
      assert.match(no.sentence, /cannot view prod in the namespace other/);
      assert.equal((await get(why('can_remove', '&namespace=web'), who)).allowed, false);
    }
    await remove(mine, onSet);
  });

  it('Only questions about clusters have a namespace, and it must be a name', async () => {
    const { call, org, crew } = place;
    const paths = (type: string, id: number, namespace: string) => [
      `/authz/objects/${type}/${id}/allowed-permissions?org=${org.name}&namespace=${namespace}`,
      `/authz/objects/${type}/${id}/explain?org=${org.name}&relation=can_view&namespace=${namespace}`,
      `/authz/objects/${type}/${id}/principals?org=${org.name}&relation=can_view&namespace=${namespace}`,
    ];
    const wrong = ['shop-*', '', 'Web', 'a'.repeat(64)].flatMap((namespace) =>
      paths('cluster', place.prod.id, namespace),
    );
    for (const path of [...paths('team', crew, 'web'), ...wrong]) {
      assert.equal((await call('GET', path)).status, 400, path);
    }
    for (const [objectType, objectID, namespace] of [
      ['team', crew, 'web'],
      ['cluster', place.prod.id, 'a*'],
    ]) {
      const answer = await call('POST', `/authz/objects/allowed-permissions?org=${org.name}`, [
        { objectType, objectID, namespace },
      ]);
      assert.equal(answer.status, 400, answer.text);
    }
    const checks = [
      { relation: 'can_view', object: { type: 'organization' }, namespace: 'web' },
      { relation: 'can_view', object: { type: 'cluster', id: place.prod.id }, namespace: 'a*' },
    ];
    const { results } = (await call('POST', `/authz/check?org=${org.name}`, { checks })).body;
    for (const result of results) {
      assert.equal(result.allowed, false);
      assert.match(result.fault, /namespace/);
    }
  });

  it('A holder sees the cluster and not the others, and the matrix and the access of a person say so', async () => {
    const { call, org } = place;
    const mine = await assign(place, worker, dan(), eu, { namespaces: ['web'] });
    const clusters = await atrium.as(place.dan.name)('GET', `/orgs/${org.name}/clusters`);
    assert.deepEqual(
      clusters.body.map(({ name }: { name: string }) => name),
      ['prod'],
    );
    assert.equal((await atrium.as(place.dan.name)('PATCH', `/clusters/${place.prod.id}`, { name: 'x' })).status, 403);
    const matrix = (await call('POST', `/authz/matrix?org=${org.name}`, { type: 'cluster', users: [place.dan.name] }))
      .body;
    assert.deepEqual(
      matrix.cells.map((row: number[]) => row.map((cell) => cell !== 0)),
      [[true, false]],
    );
    const access = await get(`/authz/users/${place.dan.name}/access?org=${org.name}&type=cluster`);
    const via = [{ kind: 'role', id: worker, name: 'worker', relations: ['can_view'] }];
    assert.deepEqual(access.types[0].groups, [
      { relations: ['can_view'], via, count: 1, objects: [{ id: place.prod.id, name: 'prod' }] },
    ]);
    const [own] = await get(`/authz/assignments?org=${org.name}`, place.dan.name);
    assert.equal(own.on.name, 'eu');
    await remove(mine);
  });

  it('A role that is changed so that nothing of it is about namespaces shows the cluster no longer', async () => {
    const { call, org, at } = place;
    const { id } = await place.role('changing', 'cluster_mgmt connect to clusters');
    const mine = await assign(place, id, dan(), prod(), { namespaces: ['web'] });
    assert.deepEqual(await allowed('web'), ['can_view', 'can_connect']);
    const change = { permissions: [pair('cluster_mgmt remove clusters')] };
    assert.equal(
      (await call('PUT', `/authz/roles/${id}?org=${org.name}`, { name: 'changing', ...change })).status,
      200,
    );
    assert.deepEqual([await allowed(), await allowed('web')], [[], []]);
    assert.deepEqual((await get(at(mine.id))).effective, []);
    await remove(mine);
  });

  it('Answers about a past moment know the namespaces of then', async () => {
    const moment = async () => {
      await passed(5);
      const now = new Date().toISOString();
      await passed(5);
      return now;
    };
    const ask = async (namespace: string, at: string) => {
      const { allowed: yes, sentence } = await get(why('can_connect', `&namespace=${namespace}&at=${at}`));
      return [yes, sentence];
    };
    const before = await moment();
    const mine = await assign(place, worker, dan(), prod(), { namespaces: ['web', 'shop-*'] });
    const during = await moment();
    await remove(mine);
    assert.equal((await ask('web', before))[0], false);
    assert.equal((await ask('web', during))[0], true);
    assert.match(String((await ask('shop-1', during))[1]), /could connect to prod in the namespace shop-1 because/);
    assert.equal((await ask('other', during))[0], false);
    const path = `/authz/objects/cluster/${place.prod.id}/principals?org=${place.org.name}&relation=can_connect&namespace=web&at=`;
    const then = async (at: string) =>
      (await get(`${path}${at}`)).some(({ name }: { name: string }) => name === place.dan.name);
    assert.deepEqual([await then(before), await then(during)], [false, true]);
    const entries = (await auditOf(atrium.instance.db, place.org.id)).filter(
      (one) => one.object_id === BigInt(mine.id),
    );
    const { items } = await get(`/orgs/${place.org.name}/audit?action=assignment.delete`);
    const removed = /removed the role worker from \S+ on prod in the namespaces web, shop-\*$/;
    assert.match(items[0].summary, removed);
    const states = entries.map(({ before: had, after: has }) => JSON.parse(has ?? had ?? '').namespaces);
    assert.deepEqual(states, [
      ['web', 'shop-*'],
      ['web', 'shop-*'],
    ]);
  });
});
