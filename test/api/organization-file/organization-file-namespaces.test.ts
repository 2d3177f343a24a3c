import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace, type Place } from '../../support/world/assignments.ts';

describe('Namespaces in the file of an organization', () => {
  let atrium: TestServer;
  let place: Place;
  before(async () => {
    atrium = await openTestServer();
    place = await openPlace(atrium);
    const { operator, prod } = place;
    await assign(place, operator.id, dan(), { type: 'cluster', id: prod.id }, { namespaces: ['web', 'a*'] });
  });
  after(() => atrium.close());

  const dan = () => ({ type: 'user', id: Number(place.dan.id) });
  const fileOf = (assignments: unknown, more: object = {}) => ({
    ...{ apiVersion: 'atrium/v1', kind: 'Organization', organization: place.org.name },
    ...{ assignments, ...more },
  });
  const entry = (more: object = {}) => ({
    ...{ role: 'cluster-operator', to: { user: place.dan.name }, on: { cluster: 'prod' } },
    ...more,
  });
  const exported = async () => (await place.call('GET', `/orgs/${place.org.name}/file?format=json`)).body;
  const plan = async (body: object, call = place.call) => {
    const answer = await call('POST', `/orgs/${place.org.name}/plan`, body);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const apply = async (body: object, call = place.call) => await call('PUT', `/orgs/${place.org.name}/file`, body);
  const applied = async (body: object) => {
    const answer = await apply(body);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const scopes = async () =>
    (await place.call('GET', `${place.path}&limit=50`)).body
      .map(({ on, namespaces }: Scoped) => `${on.name} ${namespaces?.join() ?? 'all'}`)
      .sort();

  it('What is exported has them, and changes nothing', async () => {
    const whole = await exported();
    assert.deepEqual(whole.assignments, [entry({ namespaces: ['a*', 'web'] })]);
    const { text } = await place.call('GET', `/orgs/${place.org.name}/file`);
    assert.match(text, /\n {4}namespaces: \["a\*", web\]\n/);
    for (const file of [whole, { ...whole, assignments: { prune: true, items: whole.assignments } }]) {
      const planned = await plan(file);
      assert.deepEqual([planned.changes, planned.impact.users, planned.refusals], [[], [], []]);
      assert.deepEqual((await applied(file)).changes, []);
    }
    assert.deepEqual(await scopes(), ['prod web,a*']);
  });

  it('A plan of other namespaces creates exactly those, and leaves the assignment that is there', async () => {
    const file = fileOf([entry({ namespaces: ['web'] })]);
    const planned = await plan(file);
    const title = `cluster-operator to user ${place.dan.name} on cluster prod in web`;
    assert.deepEqual(planned.changes, [{ section: 'assignments', name: title, kind: 'create', words: [] }]);
    assert.deepEqual(planned.unmanaged.assignments, [`cluster-operator to ${place.dan.name} on prod in a*, web`]);
    assert.deepEqual(planned.impact.users, [], 'they see the cluster already, and connect in namespaces only');
    assert.deepEqual((await applied(file)).changes, planned.changes);
    assert.deepEqual(await scopes(), ['prod web', 'prod web,a*']);
    const again = await plan(file);
    assert.deepEqual(again.changes, []);
    const pruned = await applied(fileOf({ prune: true, items: [entry({ namespaces: ['web', 'a*'] })] }));
    assert.deepEqual(
      pruned.changes.map(({ name, kind }: Record<string, string>) => [name, kind]),
      [[title, 'delete']],
    );
    assert.deepEqual(await scopes(), ['prod web,a*']);
  });

  it('An entry without namespaces never widens an assignment that has them', async () => {
    const file = fileOf([entry({ reason: 'whole' })]);
    const planned = await plan(file);
    const title = `cluster-operator to user ${place.dan.name} on cluster prod`;
    assert.deepEqual(
      planned.changes.map(({ name, kind }: Record<string, string>) => [name, kind]),
      [[title, 'create']],
    );
    const [gains] = planned.impact.users.map(({ gains: some }: { gains: { relation: string }[] }) => some);
    assert.deepEqual(
      gains.map(({ relation }: { relation: string }) => relation),
      ['can_connect'],
    );
    await applied(file);
    assert.deepEqual(await scopes(), ['prod all', 'prod web,a*']);
    await applied(fileOf({ prune: true, items: [entry({ namespaces: ['a*', 'web'] })] }));
    assert.deepEqual(await scopes(), ['prod web,a*']);
  });

  it('Who holds a prefix gives what it names, and neither more nor for longer', async () => {
    const { role, operator, dan: person, prod, org } = place;
    const editor = await role(
      'file-editor',
      ...['edit', 'view members', 'view teams', 'view roles', 'assign roles', 'edit roles'].map(
        (action) => `org_mgmt ${action}`,
      ),
      'robot_mgmt view robot accounts',
    );
    const given = [
      await assign(place, editor.id, dan()),
      await assign(
        place,
        operator.id,
        dan(),
        { type: 'cluster', id: prod.id },
        {
          namespaces: ['team-*'],
        },
      ),
    ];
    const asDan = atrium.as(person.name);
    const file = (more: object, rest: object = {}) => fileOf([entry({ to: { robot: 'deploy' }, ...more })], rest);
    const rejectedAs = async (body: object) => {
      const planned = await plan(body, asDan);
      assert.deepEqual(
        planned.refusals.map(({ section, reason }: Record<string, string>) => [section, reason]),
        [['assignments', 'escalation']],
        JSON.stringify([body, planned.refusals]),
      );
      const answer = await apply(body, asDan);
      assert.deepEqual([answer.status, answer.body.reason], [403, 'escalation'], answer.text);
    };
    for (const more of [{}, { namespaces: ['web', 'b'] }, { namespaces: ['t*'] }, { namespaces: ['team-a', 'b'] }]) {
      await rejectedAs(file(more));
    }
    const answer = await apply(file({ namespaces: ['team-a'] }), asDan);
    assert.equal(answer.status, 200, answer.text);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const short = await assign(
      place,
      operator.id,
      { type: 'robot_ac', id: place.robot },
      { type: 'cluster', id: prod.id },
      { namespaces: ['x', 'b'], expires_at: until },
    );
    const longer = { namespaces: ['x', 'b'], expires_at: null };
    await rejectedAs(file(longer));
    // Under another name of the role, it is the same assignment.
    const roles = (await exported()).roles.map((one: { name: string }) =>
      one.name === 'cluster-operator' ? { ...one, name: 'renamed', was: 'cluster-operator' } : one,
    );
    await rejectedAs(file({ ...longer, role: 'renamed' }, { roles }));
    for (const { id } of [short, ...given]) assert.equal((await place.call('DELETE', place.at(id))).status, 204);
    assert.equal((await place.call('GET', `/orgs/${org.name}/teams`)).status, 200);
  });

  it('A guardrail counts what a plan gives in namespaces', async () => {
    const { call, org, dan: person, staging } = place;
    const never = { users: [person.name], relation: 'can_connect', object: { type: 'cluster', id: staging.id } };
    const made = await call('POST', `/authz/guardrails?org=${org.name}`, { name: 'closed', never });
    assert.equal(made.status, 201, made.text);
    const file = fileOf([entry({ on: { cluster: 'staging' }, namespaces: ['web'] })]);
    const planned = await plan(file);
    assert.deepEqual(
      planned.refusals.map(({ reason }: Record<string, string>) => reason),
      ['guardrail_violated'],
    );
    assert.equal((await apply(file)).status, 409);
    // Of what is there in namespaces already, an end is no more than it was.
    const [present] = (await exported()).assignments.filter(({ namespaces }: Scoped) => namespaces?.includes('a*'));
    const ends = fileOf([{ ...present, expires_at: new Date(Date.now() + 3_600_000).toISOString() }]);
    const { refusals, impact } = await plan(ends);
    assert.deepEqual(refusals, []);
    for (const { gains, loses } of impact.users) assert.deepEqual([gains, loses], [[], []]);
  });
});

interface Scoped {
  readonly on: { readonly name: string };
  readonly namespaces?: readonly string[];
}
