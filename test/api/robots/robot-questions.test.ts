import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { makeHolder, orgPermission } from '../../support/world/authz.ts';
import { makeRobot, type TestRobot } from '../../support/world/robots.ts';

describe('Questions about robots', () => {
  let atrium: TestServer;
  let deploy: TestRobot;
  let acme: number;
  let memberViewer: string;
  before(async () => {
    atrium = await openTestServer();
    deploy = await makeRobot(atrium, 'deploy');
    acme = Number(atrium.world.orgs.acme?.id);
    memberViewer = (await makeHolder(atrium, [orgPermission('view members')])).name;
  });
  after(() => atrium.close());
  const ann = () => atrium.as('ann');
  const onAcme = () => `/authz/objects/organization/${acme}`;

  it('A robot explains to itself what it may do and what it may not', async () => {
    for (const user of ['', '&user=robot:deploy', `&user=robot:${deploy.id}`, '&user=robot_ac:deploy']) {
      const yes = await deploy.call('GET', `${onAcme()}/explain?org=acme&relation=can_view${user}`);
      assert.equal(yes.status, 200, yes.text);
      const { allowed, userID, userType, sentence } = yes.body;
      assert.deepEqual([allowed, userID, userType], [true, deploy.id, 'robot_ac']);
      assert.equal(
        sentence,
        'deploy can view acme because deploy is a robot account of acme, and robot accounts of acme can view it',
      );
    }
    const no = await deploy.call('GET', `${onAcme()}/explain?org=acme&relation=can_edit&remedies=true`);
    assert.deepEqual([no.status, no.body.allowed, no.body.remedies], [200, false, []]);
    assert.match(no.body.remedies_note, /No change of the teams and roles that you may see would let deploy do this/);
    const prod = Number(atrium.world.clusters.prod?.id);
    const hidden = await deploy.call('GET', `/authz/objects/cluster/${prod}/explain?org=acme&relation=can_view`);
    assert.deepEqual([hidden.status, hidden.body.allowed, hidden.body.found], [200, false, false]);
    const others = await deploy.call('GET', `${onAcme()}/explain?org=acme&relation=can_view&user=ann`);
    assert.deepEqual([others.status, others.body.reason], [403, 'missing_relation']);
    const another = await deploy.call('GET', `${onAcme()}/explain?org=acme&relation=can_view&user=robot:ci`);
    assert.deepEqual([another.status, another.body.reason], [404, 'robot_not_found']);
  });

  it('Who may view a robot may ask about it, and for all others it does not exist', async () => {
    const path = `${onAcme()}/explain?org=acme&relation=can_view&user=`;
    const seen = await ann()('GET', `${path}robot:deploy`);
    assert.deepEqual(
      [seen.status, seen.body.allowed, seen.body.userID, seen.body.userType],
      [200, true, deploy.id, 'robot_ac'],
    );
    for (const [caller, user] of [
      [memberViewer, 'robot:deploy'],
      ['dan', 'robot:deploy'],
      ['ann', 'robot:nobody'],
      ['ann', 'robot:DEPLOY'],
      ['ann', 'robot:999999'],
      ['ann', 'robot:'],
    ] as const) {
      const answer = await atrium.as(caller)('GET', `${path}${user}`);
      const reason = user === 'robot:' ? 'user_not_found' : 'robot_not_found';
      assert.deepEqual([answer.status, answer.body.reason], [404, reason], `${caller} ${user}`);
    }
    const theirs = await makeRobot(atrium, 'theirs', { org: 'globex', owner: 'eve' });
    for (const user of ['robot:theirs', `robot:${theirs.id}`]) {
      assert.equal((await ann()('GET', `${path}${user}`)).status, 404, user);
    }
  });

  it('Principals list the robots after the users, and count them', async () => {
    const all = await ann()('GET', `${onAcme()}/principals?org=acme&relation=can_view&limit=50`);
    assert.equal(all.status, 200, all.text);
    const types = all.body.map(({ type }: { type: string }) => type);
    assert.equal(types.lastIndexOf('user'), types.indexOf('robot_ac') - 1);
    assert.deepEqual(all.body.at(-1), { type: 'robot_ac', id: deploy.id, name: 'deploy' });
    assert.equal(all.headers.get('x-total-count'), String(all.body.length));
    const page = await ann()(
      'GET',
      `${onAcme()}/principals?org=acme&relation=can_view&limit=1&page=${all.body.length}`,
    );
    assert.deepEqual(page.body, all.body.slice(-1));
    const more = await ann()(
      'GET',
      `${onAcme()}/principals?org=acme&relation=can_view&limit=50&also=can_edit&reason=true`,
    );
    assert.deepEqual(more.body.at(-1).also, []);
    const hidden = await atrium.as(memberViewer)('GET', `${onAcme()}/principals?org=acme&relation=can_view&limit=50`);
    assert.ok(!hidden.body.some(({ type }: { type: string }) => type === 'robot_ac'));
    assert.equal(hidden.headers.get('x-total-count'), String(hidden.body.length));
    const edit = await ann()('GET', `${onAcme()}/principals?org=acme&relation=can_edit&limit=50`);
    assert.ok(!edit.body.some(({ type }: { type: string }) => type === 'robot_ac'));
  });

  it('Checks are about robots, too', async () => {
    const organization = { type: 'organization' };
    const ask = async (call: TestRobot['call'], ...users: (string | undefined)[]) => {
      const checks = users.map((user) => ({ user, relation: 'can_view', object: organization }));
      const answer = await call('POST', '/authz/check?org=acme', { checks });
      assert.equal(answer.status, 200, answer.text);
      return answer.body.results;
    };
    assert.deepEqual(await ask(deploy.call, undefined, 'robot:deploy', `robot:${deploy.id}`), [
      { allowed: true },
      { allowed: true },
      { allowed: true },
    ]);
    const [mine, unknown, person] = await ask(ann(), 'robot:deploy', 'robot:nobody', 'ann');
    assert.deepEqual([mine.allowed, unknown.allowed, person.allowed], [true, false, true]);
    const [other] = await ask(deploy.call, 'robot:ci');
    assert.deepEqual([other.allowed, Object.keys(other).length], [false, 2], 'hidden from the robot');
    const about = { checks: [{ user: 'ann', relation: 'can_view', object: organization }] };
    assert.equal((await deploy.call('POST', '/authz/check?org=acme', about)).status, 403);
  });

  it('Everything that a robot holds can be shown', async () => {
    for (const call of [ann(), deploy.call]) {
      const answer = await call('GET', '/authz/users/robot:deploy/access?org=acme');
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.body.user, { type: 'robot_ac', id: deploy.id, name: 'deploy' });
      assert.deepEqual(
        answer.body.permissions.map(({ relation }: { relation: string }) => relation),
        ['can_view'],
      );
      assert.ok(answer.body.types.every(({ total }: { total: number }) => total === 0));
    }
    for (const [caller, status] of [
      [memberViewer, 404],
      ['dan', 404],
    ] as const) {
      assert.equal((await atrium.as(caller)('GET', '/authz/users/robot:deploy/access?org=acme')).status, status);
    }
    assert.equal((await deploy.call('GET', '/authz/users/ann/access?org=acme')).status, 403);
  });

  it('Objects of a robot are listed', async () => {
    const path = '/authz/objects/organization?org=acme&relation=can_view';
    const expected = [{ type: 'organization', id: acme, name: 'acme' }];
    assert.deepEqual((await deploy.call('GET', path)).body, expected);
    assert.deepEqual((await ann()('GET', `${path}&user=robot:deploy`)).body, expected);
    assert.deepEqual(
      (await ann()('GET', '/authz/objects/cluster?org=acme&relation=can_view&user=robot:deploy')).body,
      [],
    );
  });

  it('A matrix shows robots if they are named or asked for, after the people', async () => {
    const ask = async (body: object, caller = 'ann') => {
      const answer = await atrium.as(caller)('POST', '/authz/matrix?org=acme', { type: 'organization', ...body });
      return { ...answer, users: answer.body?.users, cells: answer.body?.cells };
    };
    const robot = { type: 'robot_ac', id: deploy.id, name: 'deploy' };
    const isRobot = ({ type }: { type?: string }) => type === 'robot_ac';
    assert.ok(!(await ask({})).users.some(isRobot));
    const named = await ask({
      users: ['robot:deploy', 'ann', `robot:${deploy.id}`],
      relations: ['can_view', 'can_edit'],
    });
    assert.deepEqual(named.users, [{ id: Number(atrium.world.users.ann?.id), name: 'ann' }, robot], named.text);
    assert.deepEqual(named.cells, [[3], [1]]);
    const all = await ask({ robots: true });
    assert.deepEqual(all.users.filter(isRobot).at(-1), robot);
    assert.equal(all.users.findIndex(isRobot), all.users.length - all.users.filter(isRobot).length);
    const both = await ask({ robots: true, users: ['robot:deploy'] });
    assert.equal(both.users.filter(({ id }: { id: number }) => id === deploy.id).length, 1);
    assert.ok(!(await ask({ robots: true }, memberViewer)).users.some(isRobot));
    for (const [caller, user] of [
      ['ann', 'robot:nobody'],
      [memberViewer, 'robot:deploy'],
    ] as const) {
      const rejected = await ask({ users: [user] }, caller);
      assert.deepEqual([rejected.status, rejected.body.reason], [400, 'robot_not_found'], user);
    }
    const csv = await ann()('POST', '/authz/matrix?org=acme&format=csv', {
      type: 'organization',
      users: ['robot:deploy'],
    });
    assert.match(csv.text, /\r\nrobot:deploy,can_view\r\n$/);
  });

  it('Questions about the past know robots, also those that are deleted', async () => {
    const gone = await makeRobot(atrium, 'gone');
    const at = new Date().toISOString();
    assert.equal((await ann()('DELETE', `/robots/${gone.id}`)).status, 204);
    const ask = (call: TestRobot['call'], user: string) =>
      call('GET', `${onAcme()}/explain?org=acme&relation=can_view&at=${at}&user=${user}`);
    for (const user of ['robot:gone', `robot:${gone.id}`, 'robot:deploy']) {
      const answer = await ask(ann(), user);
      assert.deepEqual([answer.status, answer.body.allowed], [200, true], answer.text);
      assert.equal(answer.body.allowed_now, user === 'robot:deploy');
    }
    assert.equal((await ask(atrium.as('cat'), 'robot:deploy')).body.reason, 'missing_relation');
    const access = await ann()('GET', `/authz/users/robot:gone/access?org=acme&at=${at}`);
    assert.deepEqual([access.status, access.body.user.name], [200, 'gone'], access.text);
  });

  it('Robots are members of nothing', async () => {
    const team = atrium.world.orgs.acme?.teams.Viewers;
    for (const [method, path] of [
      ['PUT', `/teams/${team}/members/robot:deploy`],
      ['DELETE', `/teams/${team}/members/robot:deploy`],
      ['GET', `/teams/${team}/members/robot:deploy`],
      ['PUT', '/orgs/acme/members/robot:deploy'],
      ['GET', '/orgs/acme/members/robot:deploy'],
      ['GET', '/users/robot:deploy'],
    ] as const) {
      const answer = await ann()(method, path, method === 'PUT' ? {} : undefined);
      assert.equal(answer.status, 404, `${method} ${path}: ${answer.text}`);
    }
    const members = await ann()('GET', '/orgs/acme/members?limit=50');
    assert.ok(!members.body.some(({ login }: { login: string }) => login.includes('deploy')));
  });
});
