import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace, type Place, rejected } from '../../support/world/assignments.ts';

describe('Guardrails and assignments in namespaces', () => {
  let atrium: TestServer;
  let place: Place;
  before(async () => {
    atrium = await openTestServer();
    place = await openPlace(atrium);
  });
  after(() => atrium.close());

  const rules = () => `/authz/guardrails?org=${place.org.name}`;
  const dan = () => ({ type: 'user', id: Number(place.dan.id) });
  const about = (relation: string, object: object = { type: 'cluster', id: place.prod.id }) => ({ relation, object });
  async function guard(statement: object): Promise<{ id: number; violated_by: unknown; holds: boolean }> {
    const answer = await place.call('POST', rules(), { name: 'rule', ...statement });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  }
  async function unguard(id: number): Promise<void> {
    assert.equal((await place.call('DELETE', `/authz/guardrails/${id}?org=${place.org.name}`)).status, 204);
  }

  for (const [what, object] of [
    ['one cluster', undefined],
    ['any cluster', { type: 'cluster' }],
  ] as const) {
    it(`A grant in any namespace violates never and at_most about ${what}`, async () => {
      const { call, path, operator, crew, dan: person } = place;
      const never = await guard({ never: { users: [person.name], ...about('can_connect', object) } });
      const body = { role: { id: operator.id }, namespaces: ['web'] };
      for (const on of [
        { type: 'cluster', id: place.prod.id },
        { type: 'cluster_set', name: 'eu' },
      ]) {
        await rejected(call, ['POST', path, { ...body, on, to: dan() }], 409, 'guardrail_violated');
        const team = { type: 'team', id: crew };
        await rejected(call, ['POST', path, { ...body, on, to: team }], 409, 'guardrail_violated');
      }
      await unguard(never.id);
      const most = await guard({ at_most: { count: 1, ...about('can_connect', object) } });
      const on = { type: 'cluster', id: place.prod.id };
      await rejected(call, ['POST', path, { ...body, on, to: dan() }], 409, 'guardrail_violated');
      await unguard(most.id);
      const viewing = await guard({ never: { users: [person.name], ...about('can_view', object) } });
      await rejected(call, ['POST', path, { ...body, on, to: dan() }], 409, 'guardrail_violated');
      await unguard(viewing.id);
      const editing = await guard({ never: { users: [person.name], ...about('can_edit', object) } });
      const made = await assign(place, operator.id, dan(), on, { namespaces: ['web'] });
      await call('DELETE', place.at(made.id));
      await unguard(editing.id);
    });
  }

  it('A move into a set, and a permission more in a role, count in namespaces as well', async () => {
    const { call, org, staging, operator, dan: person } = place;
    const never = await guard({
      never: { users: [person.name], relation: 'can_connect', object: { type: 'cluster', id: staging.id } },
    });
    const viewer = await place.role('onlooker', 'cluster_mgmt view clusters');
    const onSet = await assign(place, operator.id, dan(), { type: 'cluster_set', name: 'eu' }, { namespaces: ['a*'] });
    const move = ['PATCH', `/clusters/${staging.id}`, { clusterSetName: 'eu' }] as const;
    await rejected(call, move, 409, 'guardrail_violated');
    const seen = await assign(place, viewer.id, dan(), { type: 'cluster', id: staging.id }, { namespaces: ['web'] });
    const permissions = [{ namespace: 'cluster_mgmt', action: 'connect to clusters' }];
    const more = ['PUT', `/authz/roles/${viewer.id}?org=${org.name}`, { name: 'onlooker', permissions }] as const;
    await rejected(call, more, 409, 'guardrail_violated');
    for (const { id } of [onSet, seen]) assert.equal((await call('DELETE', place.at(id))).status, 204);
    await unguard(never.id);
  });

  it('A grant in a namespace does not satisfy always and at_least', async () => {
    const { call, operator, dan: person, owner } = place;
    const on = { type: 'cluster', id: place.prod.id };
    const whole = await assign(place, operator.id, dan(), on);
    const some = await assign(place, operator.id, dan(), on, { namespaces: ['web'] });
    const remove = ['DELETE', place.at(whole.id)] as const;
    for (const relation of ['can_connect', 'can_view']) {
      for (const statement of [
        { always: { users: [person.name, owner.name], ...about(relation) } },
        { at_least: { count: 2, ...about(relation) } },
      ]) {
        const rule = await guard(statement);
        await rejected(call, remove, 409, 'guardrail_violated');
        await unguard(rule.id);
      }
    }
    for (const made of [whole, some]) assert.equal((await call('DELETE', place.at(made.id))).status, 204);
  });
});
