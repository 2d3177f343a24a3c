import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace, type Place, rejected } from '../../support/world/assignments.ts';
import { allowedTo } from '../../support/world/authz.ts';
import { inHours } from '../../support/world/expiry.ts';

describe('Assignments', () => {
  let atrium: TestServer;
  let place: Place;
  before(async () => {
    atrium = await openTestServer();
    place = await openPlace(atrium);
  });
  after(() => atrium.close());

  const on = (type: string, id: number) => allowedTo(atrium, place.dan.name, type, id, place.org.name);

  it('A role on one cluster counts there, and nowhere else, and is shown with what it gives', async () => {
    const { call, path, at, dan, prod, staging, operator, owner, org } = place;
    assert.deepEqual(await on('cluster', prod.id), []);
    const until = inHours(4);
    const body = {
      role: { name: 'Cluster-Operator' },
      to: { type: 'user', name: dan.name },
      on: { type: 'cluster', name: 'prod' },
      reason: 'on call',
      expires_at: until,
    };
    const made = await call('POST', path, body);
    assert.equal(made.status, 201, made.text);
    const { id, created_at, ...rest } = made.body;
    assert.deepEqual(rest, {
      role: { id: operator.id, name: 'cluster-operator' },
      to: { type: 'user', id: Number(dan.id), name: dan.name },
      on: { type: 'cluster', id: prod.id, name: 'prod' },
      effective: [
        { namespace: 'cluster_mgmt', action: 'view clusters' },
        { namespace: 'cluster_mgmt', action: 'connect to clusters' },
      ],
      without_effect: [{ namespace: 'org_mgmt', action: 'view members' }],
      reason: 'on call',
      expires_at: until,
      request_id: null,
      created_by: { type: 'user', id: Number(owner.id), name: owner.name },
    });
    assert.match(created_at, /Z$/);
    assert.deepEqual(await on('cluster', prod.id), ['can_view', 'can_connect']);
    assert.deepEqual(await on('cluster', staging.id), []);
    assert.deepEqual(await on('organization', Number(org.id)), ['can_view', 'can_leave']);
    const read = await call('GET', at(id));
    assert.deepEqual([read.status, read.body], [200, made.body]);
    assert.equal(read.headers.get('etag'), made.headers.get('etag'));

    await rejected(call, ['POST', path, body], 409, 'already_assigned');

    const patched = await call(
      'PATCH',
      at(id),
      { expires_at: null, reason: 'for good' },
      {
        'If-Match': read.headers.get('etag') ?? '',
      },
    );
    assert.deepEqual([patched.status, patched.body.expires_at, patched.body.reason], [200, null, 'for good']);
    assert.notEqual(patched.headers.get('etag'), read.headers.get('etag'));
    const stale = await call('PATCH', at(id), { reason: 'again' }, { 'If-Match': read.headers.get('etag') ?? '' });
    assert.equal(stale.status, 412);
    assert.equal((await call('DELETE', at(id))).status, 204);
    assert.deepEqual(await on('cluster', prod.id), []);
    await rejected(call, ['GET', at(id)], 404, 'assignment_not_found');

    const log = (await auditOf(atrium.instance.db, org.id)).filter(({ action }) => action.startsWith('assignment.'));
    assert.deepEqual(
      log.map(({ action, object_type, object_id }) => [action, object_type, Number(object_id)]),
      ['create', 'update', 'delete'].map((verb) => [`assignment.${verb}`, 'assignment', id]),
    );
    const after = JSON.parse(log[0]?.after ?? '{}');
    assert.deepEqual(after.on, { type: 'cluster', id: String(prod.id), name: 'prod' });
    assert.deepEqual(after.to, { type: 'user', id: String(dan.id), name: dan.name });
  });

  it('A role can be assigned to a team, a user or a robot, on every kind of object', async () => {
    const { call, org, crew, robot, dan, role, path } = place;
    const all = await role(
      'all',
      'cluster_mgmt remove clusters',
      'cluster_mgmt reconfigure clusters',
      'contract_mgmt edit contracts',
      'robot_mgmt delete robot accounts',
      'org_mgmt manage team members',
      'org_mgmt view teams',
    );
    const contract = await call('POST', `/orgs/${org.name}/contracts`, { name: 'basic' });
    assert.equal(contract.status, 201, contract.text);
    const user = { type: 'user', id: Number(dan.id) };
    const owners = org.team('Owners');
    const rows: [object, object | undefined, string[], string, number, string[]][] = [
      [
        user,
        { type: 'cluster', id: place.prod.id },
        ['reconfigure clusters', 'remove clusters'],
        'cluster',
        place.prod.id,
        ['can_view', 'can_edit', 'can_remove'],
      ],
      [
        user,
        { type: 'contract', id: contract.body.id },
        ['edit contracts'],
        'contract',
        contract.body.id,
        ['can_view', 'can_edit'],
      ],
      [
        user,
        { type: 'robot_ac', name: 'deploy' },
        ['delete robot accounts'],
        'robot_ac',
        robot,
        ['can_view', 'can_delete'],
      ],
      [
        user,
        { type: 'team', name: 'viewers' },
        ['view teams', 'manage team members'],
        'team',
        org.team('Viewers'),
        ['can_view', 'can_add_member', 'can_remove_member'],
      ],
      [{ type: 'team', id: crew }, { type: 'team', id: owners }, ['view teams'], 'team', owners, ['can_view']],
      [
        { type: 'team', name: 'CREW' },
        { type: 'cluster_set', name: 'eu' },
        ['reconfigure clusters', 'remove clusters'],
        'cluster',
        place.prod.id,
        ['can_view', 'can_edit', 'can_remove'],
      ],
    ];
    for (const [to, where, effective, type, id, held] of rows) {
      const before = await on(type, id);
      const made = await assign(place, all.id, to, where);
      assert.deepEqual(
        made.effective.map(({ action }: { action: string }) => action),
        effective,
      );
      assert.equal(made.effective.length + made.without_effect.length, 6);
      assert.deepEqual(await on(type, id), held, `${type} ${JSON.stringify(where)}`);
      assert.equal((await call('DELETE', place.at(made.id))).status, 204);
      assert.deepEqual(await on(type, id), before);
    }
    const toRobot = await assign(
      place,
      all.id,
      { type: 'robot_ac', id: robot },
      { type: 'cluster_set', name: 'never used' },
    );
    assert.deepEqual(toRobot.on, { type: 'cluster_set', id: null, name: 'never used', clusters: 0 });
    assert.deepEqual(toRobot.to, { type: 'robot_ac', id: robot, name: 'deploy' });
    const eu = await assign(place, all.id, user, { type: 'cluster_set', name: 'eu' });
    assert.equal(eu.on.clusters, 1);
    for (const id of [toRobot.id, eu.id]) await call('DELETE', place.at(id));

    const whole = await assign(place, all.id, user);
    assert.deepEqual(whole.on, { type: 'organization', id: Number(org.id), name: org.name });
    assert.deepEqual([whole.effective.length, whole.without_effect], [6, []]);
    assert.ok((await on('organization', Number(org.id))).includes('can_manage_team_members'));
    const principals = await call('GET', `/authz/roles/${all.id}/principals?org=${org.name}`);
    assert.deepEqual(
      principals.body.map(({ type, name }: { type: string; name: string }) => [type, name]),
      [['user', dan.name]],
    );
    await call('DELETE', place.at(whole.id));
    assert.equal((await call('GET', path)).headers.get('x-total-count'), '0');
  });

  it('On the Owners team only the permission to view teams counts, also if the role changes later', async () => {
    const { call, org, dan, role } = place;
    const owners = org.team('Owners');
    const mixed = await role('mixed', 'org_mgmt view teams', 'org_mgmt edit teams');
    const made = await assign(place, mixed.id, { type: 'user', id: Number(dan.id) }, { type: 'team', id: owners });
    assert.deepEqual(await on('team', owners), ['can_view']);
    const permissions = [{ namespace: 'org_mgmt', action: 'edit teams' }];
    assert.equal((await call('PUT', `/authz/roles/${mixed.id}?org=${org.name}`, { permissions })).status, 200);
    assert.deepEqual(await on('team', owners), []);
    assert.deepEqual((await call('GET', place.at(made.id))).body.effective, []);
    await call('DELETE', place.at(made.id));
  });

  it('Teams of a role are assignments on the organization, whichever call made them', async () => {
    const { call, org, crew, operator, path, at } = place;
    assert.equal((await call('PUT', `/teams/${crew}/roles/${operator.id}`)).status, 204);
    const [row] = (await call('GET', path)).body;
    assert.deepEqual(
      [row.role.id, row.to, row.on.type, row.reason, row.created_by, row.expires_at],
      [operator.id, { type: 'team', id: crew, name: 'crew' }, 'organization', '', null, null],
    );
    const roleOf = async () => (await call('GET', `/authz/roles/${operator.id}?org=${org.name}`)).body;
    const until = inHours(5);
    assert.equal((await call('PATCH', at(row.id), { expires_at: until })).status, 200);
    assert.deepEqual((await roleOf()).team_expiries, [{ team_id: crew, expires_at: until }]);
    assert.equal((await call('DELETE', at(row.id))).status, 204);
    assert.deepEqual((await roleOf()).team_ids, []);
    assert.deepEqual((await call('GET', `/teams/${crew}`)).body.role_ids ?? [], []);

    const before = (await call('GET', `/authz/roles/${operator.id}?org=${org.name}`)).headers.get('etag');
    const made = await assign(place, operator.id, { type: 'team', id: crew });
    assert.deepEqual((await roleOf()).team_ids, [crew]);
    assert.notEqual((await call('GET', `/authz/roles/${operator.id}?org=${org.name}`)).headers.get('etag'), before);
    await rejected(
      call,
      ['POST', path, { role: { id: operator.id }, to: { type: 'team', id: crew } }],
      409,
      'already_assigned',
    );
    // On an object it is another assignment.
    const other = await assign(place, operator.id, { type: 'team', id: crew }, { type: 'cluster', id: place.prod.id });
    assert.deepEqual((await roleOf()).team_ids, [crew]);
    assert.equal((await call('DELETE', `/teams/${crew}/roles/${operator.id}`)).status, 204);
    await rejected(call, ['GET', at(made.id)], 404, 'assignment_not_found');
    assert.equal((await call('GET', at(other.id))).status, 200);
    await call('DELETE', at(other.id));
  });

  it('What reaches an object is listed with what is assigned on itself first, then on its set, then on the organization', async () => {
    const other = await openPlace(atrium);
    const { call, dan, crew, robot, prod, operator, role, path } = other;
    const viewer = await role('viewer', 'cluster_mgmt view clusters');
    const user = { type: 'user', id: Number(dan.id) };
    const onCluster = { type: 'cluster', id: prod.id };
    const made = [
      await assign(other, viewer.id, { type: 'robot_ac', id: robot }),
      await assign(other, operator.id, { type: 'team', id: crew }, { type: 'cluster_set', name: 'eu' }),
      await assign(other, viewer.id, user, onCluster),
      await assign(other, viewer.id, user),
      await assign(other, operator.id, user, onCluster),
    ].map(({ id }) => id);
    const pages = [1, 2, 3].map((page) => call('GET', `${path}&reaching=cluster:prod&limit=2&page=${page}`));
    const listed = (await Promise.all(pages)).flatMap(({ body }) => body.map(({ id }: { id: number }) => id));
    assert.deepEqual(
      listed,
      [2, 4, 1, 0, 3].map((index) => made[index]),
    );
  });

  it('The list is filtered by role, to, on and end, and paged', async () => {
    const { call, dan, crew, robot, prod, operator, role, path } = place;
    const viewer = await role('viewer', 'cluster_mgmt view clusters');
    const soon = inHours(2);
    const user = { type: 'user', id: Number(dan.id) };
    const ids = [
      await assign(place, operator.id, user, { type: 'cluster', id: prod.id }, { expires_at: soon }),
      await assign(place, operator.id, { type: 'team', id: crew }, { type: 'cluster_set', name: 'eu' }),
      await assign(place, viewer.id, { type: 'robot_ac', id: robot }),
      await assign(place, viewer.id, user, { type: 'cluster', id: prod.id }),
    ].map(({ id }) => id as number);
    const filters: [string, number[]][] = [
      ['', [0, 1, 2, 3]],
      [`&role=${viewer.id}`, [2, 3]],
      ['&role=VIEWER', [2, 3]],
      [`&to=user:${dan.id}`, [0, 3]],
      [`&to=user:${dan.name}`, [0, 3]],
      ['&to=robot:deploy', [2]],
      ['&to=robot_ac:deploy', [2]],
      ['&to=team:crew', [1]],
      ['&on=cluster:prod', [0, 3]],
      [`&on=cluster:${prod.id}`, [0, 3]],
      ['&on=cluster_set:eu', [1]],
      ['&on=organization', [2]],
      [`&on=organization:${place.org.name}`, [2]],
      ['&on=organization:acme', []],
      ['&reaching=cluster:prod', [0, 3, 1, 2]],
      ['&reaching=cluster:staging', [2]],
      ['&reaching=cluster_set:eu', [1, 2]],
      ['&reaching=organization', [2]],
      ['&reaching=cluster:nothing', []],
      [`&reaching=cluster:prod&to=user:${dan.id}&role=viewer`, [3]],
      [`&expires_before=${inHours(3)}`, [0]],
      [`&expires_before=${soon}`, []],
      ['&on=cluster:nothing&role=viewer', []],
      ['&to=user:nobody', []],
      ['&role=nothing', []],
      [`&to=user:${dan.id}&role=viewer`, [3]],
    ];
    for (const [filter, expected] of filters) {
      const answer = await call('GET', path + filter);
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(
        answer.body.map(({ id }: { id: number }) => id),
        expected.map((index) => ids[index]),
        filter,
      );
      assert.equal(answer.headers.get('x-total-count'), String(expected.length));
    }
    const page = await call('GET', `${path}&limit=3&page=2`);
    assert.deepEqual([page.body.length, page.headers.get('x-total-count')], [1, '4']);
    for (const wrong of ['to=dan', 'to=cluster:1', 'on=user:1', 'on=cluster', 'expires_before=soon', 'role=']) {
      const answer = await call('GET', `${path}&${wrong}`);
      assert.equal(answer.status, 400, wrong);
    }
    for (const id of ids) await call('DELETE', place.at(id));
  });

  it('A key makes an assignment once', async () => {
    const { call, dan, operator, path, at } = place;
    const body = { role: { id: operator.id }, to: { type: 'user', id: Number(dan.id) } };
    const headers = { 'Idempotency-Key': 'once' };
    const [one, two] = [await call('POST', path, body, headers), await call('POST', path, body, headers)];
    assert.deepEqual([one.status, two.status, two.text], [201, 201, one.text]);
    assert.equal(two.headers.get('idempotency-replayed'), 'true');
    await call('DELETE', at(one.body.id));
  });
});
