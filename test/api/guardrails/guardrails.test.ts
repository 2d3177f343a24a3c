import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import { auditOf } from '../../support/checks/audit.ts';
import { type Answer, openTestServer, type TestServer } from '../../support/server/server.ts';
import { clusterPermission, makeHolder, numbersOf, orgPermission } from '../../support/world/authz.ts';
import { makeOrganization, makePerson } from '../../support/world/people.ts';

const PATH = '/authz/guardrails';
const JOIN = sql('test.guardedJoin', 'insert into team_member (team_id, account_id) values ($1, $2)');
const STATES = sql('test.guardrailStates', 'select 1 from guardrail_state where organization_id = $1');
const CONNECT = clusterPermission('connect to clusters');
const EDIT_ROLES = orgPermission('edit roles');
const VIEW_ROLES = orgPermission('view roles');

describe('Guardrails', () => {
  let atrium: TestServer;
  let id: ReturnType<typeof numbersOf>;
  before(async () => {
    atrium = await openTestServer();
    id = numbersOf(atrium);
  });
  after(() => atrium.close());

  /** A new organization of ann, so that no test meets the guardrails of another. */
  async function fresh() {
    const org = await makeOrganization(atrium, 'ann');
    const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
      atrium.as('ann')(method, `${path}${path.includes('?') ? '&' : '?'}org=${org.name}`, body, headers);
    const create = (body: object) => call('POST', PATH, body);
    const join = (team: string, login: string) => atrium.as('ann')('PUT', `/teams/${org.team(team)}/members/${login}`);
    const leave = (team: string, login: string) =>
      atrium.as('ann')('DELETE', `/teams/${org.team(team)}/members/${login}`);
    return { ...org, call, create, join, leave };
  }

  function assertViolated(answer: Answer, name: string, users: readonly string[]): void {
    assert.deepEqual([answer.status, answer.body.reason], [409, 'guardrail_violated'], answer.text);
    assert.equal(answer.body.guardrail.name, name);
    assert.deepEqual(
      answer.body.guardrail.violated_by.map((one: { user: { name: string } }) => one.user.name),
      users,
    );
  }

  it('A guardrail is returned with its sentence and state when created, read, listed or updated, and can be deleted', async () => {
    const draft = {
      name: 'prod is closed',
      never: { users: ['eve'], relation: 'can_connect', object: { type: 'cluster', id: id.cluster('prod') } },
    };
    const made = await atrium.as('ann')('POST', `${PATH}?org=acme`, draft);
    assert.equal(made.status, 201, made.text);
    const { created_at, updated_at, id: guardrailId, ...rest } = made.body;
    assert.equal(created_at, updated_at);
    assert.deepEqual(rest, {
      name: 'prod is closed',
      description: '',
      enforce: true,
      sentence: 'eve can never connect to prod',
      never: {
        users: [{ id: id.user('eve'), name: 'eve' }],
        relation: 'can_connect',
        object: { type: 'cluster', id: id.cluster('prod'), name: 'prod' },
      },
      state: { holds: true, violated_by: [], total: 0, vacuous: false },
    });
    const path = `${PATH}/${guardrailId}?org=acme`;
    const read = await atrium.as('cat')('GET', path);
    assert.deepEqual([read.status, read.body], [200, made.body]);
    assert.equal(read.headers.get('etag'), made.headers.get('etag'));
    assert.deepEqual((await atrium.as('cat')('GET', `${PATH}?org=acme`)).body, [made.body]);

    const changed = await atrium.as('ann')('PUT', path, { description: 'On purpose.' });
    assert.deepEqual([changed.status, changed.body.description], [200, 'On purpose.']);
    const stale = await atrium.as('ann')('PUT', path, { name: 'x' }, { 'If-Match': made.headers.get('etag') ?? '' });
    assert.equal(stale.status, 412);
    assert.equal((await atrium.as('ann')('DELETE', path)).status, 204);
    assert.equal((await atrium.as('ann')('GET', path)).body.reason, 'guardrail_not_found');
    assert.equal((await atrium.as('ann')('DELETE', path)).status, 404);
    const entries = await auditOf(atrium.instance.db, BigInt(id.org('acme')));
    const actions = entries.slice(-3).map(({ action }) => action);
    assert.deepEqual(actions, ['guardrail.create', 'guardrail.update', 'guardrail.delete']);
  });

  it('A change that would violate a guardrail is rejected as a whole, and the error names the guardrail and the users', async () => {
    const { create, join, call, team } = await fresh();
    assert.equal((await join('Viewers', 'eve')).status, 204);
    const made = await create({
      name: 'Viewers do not import',
      never: { team: 'Viewers', relation: 'can_import_clusters' },
    });
    assert.equal(made.status, 201, made.text);
    const role = { name: 'importer', permissions: [clusterPermission('import clusters')], teamIDs: [team('Viewers')] };
    const refused = await call('POST', '/authz/roles', role);
    assertViolated(refused, 'Viewers do not import', ['eve']);
    assert.match(refused.body.message, /members of the team Viewers can never import clusters into org\d+: eve would/);
    assert.deepEqual((await call('GET', '/authz/roles')).body, [], 'nothing was written');
    assertViolated(await join('Editors', 'eve'), 'Viewers do not import', ['eve']);
    assert.equal((await call('POST', '/authz/roles', { ...role, teamIDs: [] })).status, 201);
    assert.equal((await join('Viewers', 'bob')).status, 204);
  });

  it('A statement about a type covers objects that are created later', async () => {
    const { create, join, name } = await fresh();
    assert.equal(
      (await create({ name: 'no bob', never: { users: ['bob'], relation: 'can_view', object: { type: 'cluster' } } }))
        .status,
      201,
    );
    const imported = await atrium.as('ann')('POST', `/orgs/${name}/clusters`, { name: 'later', uid: randomUUID() });
    assert.ok(imported.status < 300, imported.text);
    assertViolated(await join('Viewers', 'bob'), 'no bob', ['bob']);
    const other = await fresh();
    assert.equal(
      (
        await other.create({
          name: 'no bob',
          never: { users: ['bob'], relation: 'can_view', object: { type: 'cluster' } },
        })
      ).status,
      201,
    );
    assert.equal((await other.join('Viewers', 'bob')).status, 204, 'there is no cluster yet');
    const late = await atrium.as('ann')('POST', `/orgs/${other.name}/clusters`, {
      name: 'later',
      uid: randomUUID(),
    });
    assertViolated(late, 'no bob', ['bob']);
  });

  it('A minimum of people is kept, and site administrators do not count', async () => {
    const { create, join, leave } = await fresh();
    const rule = { name: 'two editors of roles', at_least: { count: 2, relation: 'can_edit_roles' } };
    const early = await create(rule);
    assert.deepEqual([early.status, early.body.reason], [409, 'guardrail_violated']);
    assert.match(early.body.message, /at least 2 people can edit the roles of org\d+: only 1 person would be left/);
    assert.equal((await join('Owners', 'bob')).status, 204);
    assert.equal((await create(rule)).status, 201);
    assert.equal((await leave('Owners', 'bob')).body.reason, 'guardrail_violated');
    assert.equal((await join('Owners', 'cat')).status, 204);
    assert.equal((await leave('Owners', 'bob')).status, 204);
  });

  it('A maximum of people is kept', async () => {
    const { create, join } = await fresh();
    assert.equal((await create({ name: 'one owner', at_most: { count: 1, relation: 'can_delete' } })).status, 201);
    const refused = await join('Owners', 'bob');
    assertViolated(refused, 'one owner', ['ann', 'bob']);
  });

  it('What always holds cannot be taken away, also not by deleting a team, a role or the membership', async () => {
    const { create, join, leave, call, name } = await fresh();
    const team = await atrium.as('ann')('POST', `/orgs/${name}/teams`, { name: 'crew', permission: 'none' });
    assert.equal(team.status, 201, team.text);
    await atrium.as('ann')('PUT', `/teams/${team.body.id}/members/dan`);
    const role = await call('POST', '/authz/roles', {
      name: 'connect',
      permissions: [CONNECT],
      teamIDs: [team.body.id],
    });
    const always = { name: 'dan connects', always: { users: ['dan'], relation: 'connect_clusters' } };
    assert.equal((await create(always)).status, 201);
    const tries = [
      () => call('DELETE', `/authz/roles/${role.body.id}`),
      () => call('PUT', `/authz/roles/${role.body.id}`, { teamIDs: [] }),
      () => atrium.as('ann')('DELETE', `/teams/${team.body.id}`),
      () => atrium.as('ann')('DELETE', `/teams/${team.body.id}/members/dan`),
      () => atrium.as('ann')('DELETE', `/orgs/${name}/members/dan`),
    ];
    for (const attempt of tries) assertViolated(await attempt(), 'dan connects', ['dan']);
    assert.equal((await join('Viewers', 'dan')).status, 204);
    assert.equal((await call('DELETE', `/authz/roles/${role.body.id}`)).status, 204);
    assertViolated(await leave('Viewers', 'dan'), 'dan connects', ['dan']);
  });

  it('A guardrail that is only watched can be violated, is shown red, and cannot be enforced before it holds', async () => {
    const { create, call, join, leave } = await fresh();
    await join('Viewers', 'eve');
    const rule = { name: 'not eve', never: { users: ['eve'], relation: 'can_view_roles' } };
    assertViolated(await create(rule), 'not eve', ['eve']);
    const made = await create({ ...rule, enforce: false });
    assert.equal(made.status, 201, made.text);
    const red = {
      holds: false,
      violated_by: [{ user: { id: id.user('eve'), name: 'eve' } }],
      total: 1,
      vacuous: false,
    };
    assert.deepEqual(made.body.state, red);
    assert.deepEqual((await call('GET', `${PATH}/${made.body.id}`)).body.state, red);
    assertViolated(await call('PUT', `${PATH}/${made.body.id}`, { enforce: true }), 'not eve', ['eve']);
    assert.equal((await join('Editors', 'eve')).status, 204, 'nothing is enforced');
    await leave('Editors', 'eve');
    await leave('Viewers', 'eve');
    assert.equal((await call('GET', `${PATH}/${made.body.id}`)).body.state.holds, true);
    assert.equal((await call('PUT', `${PATH}/${made.body.id}`, { enforce: true })).status, 200);
    assertViolated(await join('Viewers', 'eve'), 'not eve', ['eve']);
  });

  it('A dry run says whether a guardrail would hold, and stores nothing', async () => {
    const { create, call, join } = await fresh();
    await join('Viewers', 'eve');
    const rule = { name: 'not eve', never: { users: ['eve'], relation: 'can_view_roles' } };
    const tried = await call('POST', `${PATH}?dry_run=true`, rule);
    assert.deepEqual([tried.status, tried.body.id, tried.body.state.holds], [200, 0, false]);
    assert.deepEqual((await call('GET', PATH)).body, []);
    const made = await create({ name: 'not bob', never: { users: ['bob'], relation: 'can_view_roles' } });
    const other = await call('PUT', `${PATH}/${made.body.id}?dry_run=true`, { never: rule.never });
    assert.deepEqual([other.status, other.body.state.total], [200, 1]);
    assert.equal((await call('GET', `${PATH}/${made.body.id}`)).body.sentence, made.body.sentence);
    assert.equal((await call('POST', `${PATH}?dry_run=true`, { ...rule, name: 'Not Bob' })).body.reason, 'name_taken');
  });

  it('Becoming a site administrator is rejected where a guardrail says that the user never may', async () => {
    const { create, join } = await fresh();
    const { name, id: userId } = await makePerson(atrium);
    await create({ name: 'stays out', never: { users: [name], relation: 'can_view_roles' } });
    const refused = await atrium.as('root')('PATCH', `/admin/users/${name}`, { admin: true });
    assertViolated(refused, 'stays out', [name]);
    assert.equal((await atrium.as('root')('GET', `/users/${name}`)).body.is_admin ?? false, false);
    assertViolated(await join('Viewers', name), 'stays out', [name]);
    assert.ok(userId > 0n);
  });

  it('Deleting a user is rejected if too few are left, and one that is named and gone violates nothing', async () => {
    const { create, join, call } = await fresh();
    const { name } = await makePerson(atrium);
    await join('Owners', name);
    const two = await create({ name: 'two', at_least: { count: 2, relation: 'can_delete' } });
    assert.equal(two.status, 201);
    const refused = await atrium.as('root')('DELETE', `/admin/users/${name}`);
    assert.equal(refused.body.reason, 'guardrail_violated', refused.text);
    assert.equal((await call('DELETE', `${PATH}/${two.body.id}`)).status, 204);
    const always = await create({ name: 'always', always: { users: [name], relation: 'can_delete' } });
    assert.equal((await atrium.as('root')('DELETE', `/admin/users/${name}`)).status, 204);
    const { state, sentence } = (await call('GET', `${PATH}/${always.body.id}`)).body;
    assert.deepEqual([state.holds, state.vacuous], [true, true]);
    assert.ok(sentence.startsWith(`${name} can always`), sentence);
  });

  it('A guardrail about a team or an object that was deleted says nothing any more', async () => {
    const { create, call, name } = await fresh();
    const cluster = await atrium.as('ann')('POST', `/orgs/${name}/clusters`, { name: 'short', uid: randomUUID() });
    const object = { type: 'cluster', name: 'short' };
    assert.equal((await create({ name: 'ann', always: { users: ['ann'], relation: 'can_edit', object } })).status, 201);
    assert.equal((await atrium.as('ann')('DELETE', `/clusters/${cluster.body.id}`)).status, 204);
    const [shown] = (await call('GET', PATH)).body;
    assert.deepEqual([shown.state.holds, shown.state.vacuous], [true, true]);
    assert.equal(shown.sentence, 'ann can always edit short');
  });

  it('Callers who may not see the members learn how many would violate a guardrail, but not who', async () => {
    const { create, team, name } = await fresh();
    const holder = await makeHolder(atrium, [EDIT_ROLES, VIEW_ROLES, CONNECT], name, 'ann');
    await atrium.as('ann')('PUT', `/teams/${team('Viewers')}/members/eve`);
    await create({ name: 'no connections', never: { users: ['eve', 'dan'], relation: 'can_import_clusters' } });
    const seen = (await atrium.as(holder.name)('GET', `${PATH}?org=${name}`)).body[0];
    assert.deepEqual(seen.never.users, [
      { id: 0, name: '(hidden)' },
      { id: 0, name: '(hidden)' },
    ]);
    assert.doesNotMatch(seen.sentence, /\beve\b|\bdan\b/);
    await create({ name: 'roles', at_most: { count: 50, relation: 'can_edit_roles' } });
    await create({ name: 'nobody connects', enforce: false, at_most: { count: 0, relation: 'can_connect_clusters' } });
    const red = (await atrium.as(holder.name)('GET', `${PATH}?org=${name}`)).body.find(
      (one: { name: string }) => one.name === 'nobody connects',
    );
    assert.deepEqual(
      red.state.violated_by.map((one: { user: { name: string } }) => one.user.name),
      [holder.name],
    );
    assert.ok(red.state.total > 1);
  });

  it('What has happened already is not rejected but shown red, and only what makes it worse is rejected then', async () => {
    const { create, call, join, leave, team, id: organizationId } = await fresh();
    const made = await create({ name: 'not eve', never: { users: ['eve', 'bob'], relation: 'can_view_roles' } });
    assert.equal(made.status, 201, made.text);
    // As a delivery of a marketplace writes it, or the end of a membership.
    await atrium.instance.revisions.write(
      async (query, touch) => {
        await query(JOIN, [team('Viewers'), id.user('eve')]);
        touch({ kind: 'team', id: BigInt(team('Viewers')), organizationId });
      },
      undefined,
      { isFact: true },
    );
    const { state } = (await call('GET', `${PATH}/${made.body.id}`)).body;
    assert.deepEqual([state.holds, state.violated_by[0]?.user.name], [false, 'eve']);
    assert.equal((await join('Viewers', 'cat')).status, 204, 'it is as it was');
    assertViolated(await join('Viewers', 'bob'), 'not eve', ['bob']);
    assert.equal((await leave('Viewers', 'eve')).status, 204);
    assert.equal((await call('GET', `${PATH}/${made.body.id}`)).body.state.holds, true);
    assertViolated(await join('Viewers', 'eve'), 'not eve', ['eve']);
  });

  it('An organization can be deleted although guardrails would keep its members', async () => {
    const { create, name, id: organizationId } = await fresh();
    await create({ name: 'ann stays', always: { users: ['ann'], relation: 'can_delete' } });
    await create({ name: 'red', enforce: false, at_most: { count: 0, relation: 'can_delete' } });
    assert.equal((await atrium.as('ann')('DELETE', `/orgs/${name}`)).status, 204);
    assert.deepEqual(await atrium.instance.db.query(STATES, [organizationId]), []);
  });
});
