import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assertRejected, makeHolder, numbersOf, orgPermission } from '../../support/world/authz.ts';

const CLUSTER = ['can_view', 'can_edit', 'can_remove', 'can_connect', 'can_view_orchestratorconfig'];
/** Everything; what viewers hold; what operators hold. */
const [ALL, VIEW, OPERATE] = [31, 1 + 8 + 16, 1 + 8];

describe('A matrix, and the access of one person', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const matrix = (who: string | undefined, body: object, query = 'org=acme', headers: Record<string, string> = {}) =>
    atrium.as(who)('POST', `/authz/matrix?${query}`, body, headers);
  const access = (who: string | undefined, user: string, query = '') =>
    atrium.as(who)('GET', `/authz/users/${user}/access?org=acme&${query}`);

  it('A matrix has a row for each member and a column for each object that the caller may see', async () => {
    const { status, body, text } = await matrix('ann', { type: 'cluster' });
    assert.equal(status, 200, text);
    const { user, cluster } = numbersOf(atrium);
    assert.deepEqual(Object.keys(body), ['type', 'at', 'relations', 'users', 'objects', 'cells']);
    assert.deepEqual(
      body.users,
      ['ann', 'bob', 'cat', 'dan'].map((name) => ({ id: user(name), name })),
    );
    assert.deepEqual(
      body.objects,
      ['prod', 'staging'].map((name) => ({ id: cluster(name), name })),
    );
    assert.deepEqual([body.type, body.relations], ['cluster', CLUSTER]);
    assert.deepEqual(body.cells, [
      [ALL, ALL],
      [ALL, ALL],
      [VIEW, VIEW],
      [OPERATE, OPERATE],
    ]);
    assert.match(body.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  it('People, objects and relations can be chosen, and each is listed once, in a fixed order', async () => {
    const { user, cluster, team } = numbersOf(atrium);
    const chosen = await matrix('ann', {
      type: 'cluster',
      ids: [cluster('staging'), cluster('staging'), cluster('laptop'), cluster('globex'), 999_999],
      users: ['eve', 'DAN', 'dan', 'root'],
      relations: ['can_connect', 'can_view'],
    });
    const { users, objects, relations, cells } = chosen.body;
    const named = ['root', 'dan', 'eve'].sort((one, other) => user(one) - user(other));
    assert.deepEqual(
      users.map(({ name }: { name: string }) => name),
      named,
    );
    assert.deepEqual(objects, [{ id: cluster('staging'), name: 'staging' }]);
    assert.deepEqual(relations, ['can_view', 'can_connect']);
    assert.deepEqual(
      cells,
      named.map((name) => [name === 'eve' ? 0 : 3]),
    );
    const ofTeam = await matrix('cat', { type: 'cluster', all: true, team: team('operators') });
    assert.deepEqual(ofTeam.body.users, [{ id: user('dan'), name: 'dan' }]);
    const nobody = await matrix('ann', { type: 'cluster', users: [], ids: [] });
    assert.deepEqual([nobody.body.users, nobody.body.objects, nobody.body.cells], [[], [], []]);
    const whole = await matrix('ann', { type: 'organization', users: ['ann'] });
    assert.ok(whole.body.relations.length > 32 && whole.body.cells[0][0] > 2 ** 32, whole.text);
  });

  it('Differences only name the people and objects that differ', async () => {
    const { body } = await matrix('ann', { type: 'cluster', differences: true });
    assert.deepEqual(
      body.users.map(({ name }: { name: string }) => name),
      ['cat', 'dan'],
    );
    assert.deepEqual(body.left_out, { users: 2, objects: 0, common: [ALL, ALL] });
    const alike = await matrix('ann', { type: 'cluster', users: ['ann', 'bob'], differences: true });
    assert.deepEqual([alike.body.users, alike.body.objects, alike.body.left_out.objects], [[], [], 2]);
  });

  it('A matrix can be downloaded as CSV', async () => {
    const body = { type: 'cluster', users: ['cat', 'dan'], relations: ['can_view', 'can_edit', 'can_connect'] };
    const expected = 'user,prod,staging\r\ncat,can_view can_connect,can_view can_connect\r\n';
    for (const [query, headers] of [
      ['org=acme&format=csv', {}],
      ['org=acme', { Accept: 'text/csv' }],
    ] as const) {
      const { text, headers: got } = await matrix('ann', body, query, headers);
      assert.ok(text.startsWith(expected), text);
      assert.equal(got.get('content-type'), 'text/csv; charset=utf-8');
      assert.equal(got.get('content-disposition'), 'attachment; filename="acme-cluster-access.csv"');
    }
    const { headers } = await matrix('ann', body, 'org=acme&format=json', { Accept: 'text/csv' });
    assert.match(headers.get('content-type') ?? '', /json/);
  });

  it('Objects, teams and roles that the caller may not see are absent from both answers', async () => {
    const { team, role } = numbersOf(atrium);
    const { name, teamId } = await makeHolder(atrium, [orgPermission('view members')]);
    const seen = await matrix(name, { type: 'cluster' });
    assert.deepEqual([seen.body.objects, seen.body.cells.flat()], [[], []]);
    assert.deepEqual(
      (await matrix(name, { type: 'team' })).body.objects.map(({ id }: { id: number }) => id),
      [teamId],
    );
    const { body, text } = await access(name, 'dan');
    assert.deepEqual(
      [body.teams, body.roles, body.types.map(({ total }: { total: number }) => total)],
      [[], [], [0, 0, 0, 0, 0]],
    );
    const connect = body.permissions.find(({ relation }: { relation: string }) => relation === 'can_connect_clusters');
    assert.deepEqual(connect, { relation: 'can_connect_clusters', via: [] });
    assert.ok(!/operator/.test(text), text);
    await assertRejected(atrium, {
      who: name,
      send: ['POST', '/authz/matrix?org=acme', { type: 'cluster', team: team('operators') }],
      status: 400,
      message: `team does not exist: ${team('operators')}`,
    });
    assert.ok(role('cluster-operator') > 0);
  });

  it('The access of a person names teams, roles, permissions and objects, each with the reason', async () => {
    const { user, team, role, cluster } = numbersOf(atrium);
    const { status, body, headers, text } = await access('ann', 'dan');
    assert.equal(status, 200, text);
    const operators = { id: team('operators'), name: 'operators' };
    const byRole = { kind: 'role', id: role('cluster-operator'), name: 'cluster-operator' };
    const byTeam = { kind: 'team', ...operators };
    assert.deepEqual(body.user, { id: user('dan'), name: 'dan' });
    assert.deepEqual(body.teams, [operators]);
    assert.deepEqual(body.roles, [{ id: byRole.id, name: byRole.name, via: [byTeam] }]);
    assert.deepEqual(body.permissions, [
      { relation: 'can_view', via: [byTeam] },
      { relation: 'can_leave', via: [byTeam] },
      { relation: 'can_view_clusters', via: [byRole] },
      { relation: 'can_connect_clusters', via: [byRole] },
    ]);
    const types = Object.fromEntries(body.types.map(({ type, ...rest }: { type: string }) => [type, rest]));
    assert.deepEqual(Object.keys(types), ['team', 'cluster', 'contract', 'robot_ac', 'token']);
    assert.deepEqual(types.cluster, {
      total: 2,
      groups: [
        {
          relations: ['can_view', 'can_connect'],
          via: [{ ...byRole, relations: ['can_view', 'can_connect'] }],
          count: 2,
          objects: ['prod', 'staging'].map((name) => ({ id: cluster(name), name })),
        },
      ],
    });
    assert.deepEqual(types.team, {
      total: 1,
      groups: [
        { relations: ['can_view'], via: [{ ...byTeam, relations: ['can_view'] }], count: 1, objects: [operators] },
      ],
    });
    assert.equal(headers.get('x-total-count'), '2');
  });

  it('What a person owns themselves is only in their own answer, and administrators have a reason of their own', async () => {
    const { user, cluster } = numbersOf(atrium);
    const own = (await access('ann', 'ann', 'type=cluster')).body.types[0];
    assert.deepEqual([own.type, own.total], ['cluster', 3]);
    assert.deepEqual(own.groups[0], {
      relations: CLUSTER,
      via: [{ kind: 'owner', id: user('ann'), name: 'ann', relations: CLUSTER }],
      count: 1,
      objects: [{ id: cluster('laptop'), name: 'laptop' }],
    });
    assert.equal((await access('bob', 'ann', 'type=cluster')).body.types[0].total, 2);
    const { body } = await access('ann', 'root');
    assert.deepEqual(body.permissions[0], { relation: 'can_view', via: [{ kind: 'platform', id: 0, name: 'atrium' }] });
    assert.deepEqual((await access('ann', 'eve')).body.permissions, []);
    assert.equal((await access('dan', 'dan')).status, 200);
    assert.deepEqual((await access('dan', 'dan', 'type=organization')).body.types[0].type, 'organization');
    // An organization that the caller is not in is like one that does not exist.
    assert.equal((await access('eve', 'eve')).status, 403);
  });

  it('Pages of the access cut the list of objects, and a group keeps its whole count', async () => {
    const first = await access('ann', 'ann', 'type=cluster&limit=2');
    const second = await access('ann', 'ann', 'type=cluster&limit=2&page=2');
    const names = ({ body }: typeof first) =>
      body.types[0].groups.map(({ count, objects }: { count: number; objects: { name: string }[] }) => [
        count,
        ...objects.map(({ name }) => name),
      ]);
    assert.deepEqual(names(first), [
      [1, 'laptop'],
      [2, 'prod'],
    ]);
    assert.deepEqual(names(second), [[2, 'staging']]);
    assert.equal(second.headers.get('x-total-count'), '3');
    assert.match(first.headers.get('link') ?? '', /rel="next"/);
    assert.deepEqual(names(await access('ann', 'ann', 'type=cluster&page=9')), []);
  });

  it('A write changes the next answer of both calls', async () => {
    const { team } = numbersOf(atrium);
    await atrium.as('ann')('PUT', `/teams/${team('Editors')}/members/dan`);
    assert.deepEqual((await matrix('ann', { type: 'cluster', users: ['dan'] })).body.cells, [[ALL, ALL]]);
    assert.equal((await access('dan', 'dan')).body.teams.length, 2);
    await atrium.as('ann')('DELETE', `/teams/${team('Editors')}/members/dan`);
    assert.deepEqual((await matrix('ann', { type: 'cluster', users: ['dan'] })).body.cells, [[OPERATE, OPERATE]]);
    assert.equal((await access('dan', 'dan')).body.teams.length, 1);
  });

  it('Questions that make no sense or are not allowed are rejected', async () => {
    const { team, cluster } = numbersOf(atrium);
    const { ids } = { ids: Array.from({ length: 10_001 }, (_, at) => at + 1) };
    for (const [who, body, status, reason] of [
      ['ann', {}, 422, 'validation_failed'],
      ['ann', { type: 'thing' }, 400, 'invalid_request'],
      ['ann', { type: 'user' }, 400, 'invalid_request'],
      ['ann', { type: 'cluster', relations: ['can_fly'] }, 400, 'unknown_relation'],
      ['ann', { type: 'cluster', relations: ['owner'] }, 400, 'unknown_relation'],
      ['ann', { type: 'cluster', users: ['nobody'] }, 400, 'user_not_found'],
      ['ann', { type: 'cluster', users: ['acme'] }, 400, 'user_not_found'],
      ['ann', { type: 'cluster', users: ['é'] }, 400, 'user_not_found'],
      ['ann', { type: 'cluster', team: 999_999 }, 400, 'team_not_found'],
      ['ann', { type: 'cluster', team: team('traders', 'globex') }, 400, 'team_not_found'],
      ['ann', { type: 'cluster', team: team('operators'), users: ['bob'] }, 422, 'validation_failed'],
      ['ann', { type: 'cluster', ids: [cluster('prod')], all: true }, 422, 'validation_failed'],
      ['ann', { type: 'cluster', ids: [0] }, 400, 'invalid_request'],
      ['ann', { type: 'cluster', ids: ['prod'] }, 422, 'validation_failed'],
      ['ann', { type: 'cluster', ids }, 422, 'validation_failed'],
      ['dan', { type: 'cluster' }, 403, 'missing_relation'],
      ['eve', { type: 'cluster' }, 403, 'forbidden'],
      [undefined, { type: 'cluster' }, 401, 'unauthenticated'],
    ] as const) {
      const { status: got, body: answer } = await matrix(who, body);
      assert.deepEqual([got, answer.reason], [status, reason], `${who} ${JSON.stringify(body).slice(0, 80)}`);
    }
    assert.equal((await matrix('ann', { type: 'cluster' }, 'org=acme&format=pdf')).status, 400);
    for (const [who, user, query, status, reason] of [
      ['ann', 'nobody', '', 404, 'user_not_found'],
      ['ann', 'acme', '', 404, 'user_not_found'],
      ['ann', 'dan', 'type=thing', 400, 'invalid_request'],
      ['ann', 'dan', 'type=user', 400, 'invalid_request'],
      ['dan', 'ann', '', 403, 'missing_relation'],
      ['dan', 'nobody', '', 403, 'missing_relation'],
      ['eve', 'ann', '', 403, 'forbidden'],
      [undefined, 'ann', '', 401, 'unauthenticated'],
    ] as const) {
      const { status: got, body: answer } = await access(who, user, query);
      assert.deepEqual([got, answer.reason], [status, reason], `${who} ${user} ${query}`);
    }
    assert.equal((await atrium.as('ann')('GET', '/authz/users/dan/access')).status, 400);
  });
});
