import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace, type Place } from '../../support/world/assignments.ts';
import { setActive } from '../../support/world/people.ts';
import { makeRobot } from '../../support/world/robots.ts';
import { tokenCalls } from '../../support/world/tokens.ts';

describe('/authz/forward', () => {
  let atrium: TestServer;
  let place: Place;
  before(async () => {
    atrium = await openTestServer({ env: { RATE_LIMIT: '100' } });
    place = await openPlace(atrium);
    const dan = { type: 'user', id: Number(place.dan.id) };
    await assign(place, place.operator.id, dan, { type: 'cluster', id: place.prod.id });
  });
  after(() => atrium.close());

  const path = (object: string, relation = 'can_connect', more = '') =>
    `/authz/forward?org=${place.org.name}&relation=${relation}&object=${object}${more}`;
  const asDan = (url: string, method = 'GET', body?: unknown, headers?: Record<string, string>) =>
    atrium.as(place.dan.name)(method, url, body, headers);
  const names = (answer: Answer) => [...answer.headers.keys()].filter((name) => name.startsWith('x-atrium-'));
  const refused = (answer: Answer, status: number) => {
    assert.equal(answer.status, status, answer.text);
    assert.deepEqual(names(answer), []);
    assert.equal(answer.headers.get('vary'), 'Authorization, Cookie');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  };

  it('A yes is 204 with the user, their ID and the reason, for every method, and no body is read', async () => {
    const { dan, prod, org } = place;
    const query = `org=${org.name}&relation=can_connect`;
    const { sentence } = (await asDan(`/authz/objects/cluster/${prod.id}/explain?${query}`)).body;
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const body = method === 'POST' || method === 'PUT' ? 'x'.repeat(2 * 1024 * 1024) : undefined;
      const answer = await asDan(path(`cluster:${prod.id}`), method, body);
      assert.equal(answer.status, 204, `${method}: ${answer.text}`);
      assert.equal(answer.headers.get('x-atrium-user'), dan.name);
      assert.equal(answer.headers.get('x-atrium-user-id'), String(dan.id));
      assert.equal(decodeURIComponent(answer.headers.get('x-atrium-reason') ?? ''), sentence);
      assert.equal(answer.headers.get('vary'), 'Authorization, Cookie');
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    }
    for (const object of ['cluster:prod', `cluster:${org.name}/prod`]) {
      assert.equal((await asDan(path(object, 'connect'))).status, 204, object);
    }
    assert.equal((await asDan(path('organization', 'view'))).status, 204);
  });

  it('A no about what the caller sees has the sentence, and whether it can be asked for', async () => {
    const no = await asDan(path('cluster:prod', 'edit'));
    refused(no, 403);
    assert.match(no.body.message, new RegExp(`^${place.dan.name} cannot edit prod`));
    assert.deepEqual([no.body.reason, no.body.relation, no.body.requestable], ['missing_relation', 'can_edit', true]);
    assert.match(no.headers.get('content-type') ?? '', /^application\/json/);
  });

  it('Hidden and unknown objects are refused alike, and so are organizations', async () => {
    const hidden = await asDan(path(`cluster:${place.staging.id}`));
    refused(hidden, 403);
    for (const object of ['cluster:staging', 'cluster:999999', 'cluster:nothing', 'team:999999', 'cluster:1%00']) {
      const answer = await asDan(path(object));
      if (object !== 'team:999999' && object !== 'cluster:1%00') {
        refused(answer, 403);
        assert.equal(answer.text, hidden.text, object);
      } else assert.ok([400, 403].includes(answer.status));
    }
    const [other, none] = [
      await asDan(path('organization', 'view').replace(place.org.name, 'globex')),
      await asDan(path('organization', 'view').replace(place.org.name, 'no-such-organization')),
    ];
    refused(other, 403);
    assert.deepEqual([none.status, none.body], [other.status, other.body]);
  });

  it('What an operator mistyped is 400', async () => {
    const wrong = [
      '/authz/forward',
      `/authz/forward?org=${place.org.name}`,
      `/authz/forward?org=${place.org.name}&relation=can_view`,
      `/authz/forward?relation=can_view&object=organization`,
      path('cluster'),
      path('cluster:'),
      path('nonsense:1'),
      path('cluster:prod', 'fly'),
      path('cluster:prod', 'owner'),
      path('cluster:prod', 'connect', '&relation=view'),
      path('organization', 'view', '&namespace=web'),
      path('cluster:prod', 'connect', '&namespace=Not%20One'),
    ];
    for (const url of wrong) refused(await asDan(url), 400);
  });

  it('Without a credential, or with a wrong one, it is 401; a token in the query is none', async () => {
    const url = path('cluster:prod');
    refused(await atrium.as()('GET', url), 401);
    refused(await atrium.as()('GET', url, undefined, { Authorization: 'token nonsense' }), 401);
    refused(await atrium.as()('GET', `${url}&token=${place.dan.token}`), 401);
    refused(await atrium.as()('GET', url, undefined, { 'X-Atrium-User': place.dan.name }), 401);
  });

  it('Nobody is asked about in the name of another: sudo is refused, whoever sends it', async () => {
    const root = atrium.as('root');
    for (const answer of [
      await root('GET', path('cluster:prod', 'connect', `&sudo=${place.dan.name}`)),
      await root('GET', path('cluster:prod'), undefined, { Sudo: place.dan.name }),
      await asDan(path('cluster:prod', 'connect', '&sudo=nobody-here')),
      await asDan(path('cluster:prod'), 'GET', undefined, { Sudo: '' }),
    ]) {
      refused(answer, 403);
      assert.equal(answer.body.reason, 'sudo_forbidden');
    }
  });

  it('A session passes without a CSRF token, whatever the method', async () => {
    const session = await atrium.as()('POST', '/user/signin', { token: place.dan.token });
    const cookie = session.headers.getSetCookie().find((one) => one.startsWith('atrium_session='));
    assert.ok(cookie, session.text);
    const headers = { Cookie: cookie.split(';')[0] ?? '' };
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await atrium.as()(method, path('cluster:prod'), undefined, headers);
      assert.deepEqual([answer.status, answer.headers.get('x-atrium-user')], [204, place.dan.name], answer.text);
    }
  });

  it('A robot is named with its organization, and scopes and limits of a token count', async () => {
    const { org, owner, prod, staging } = place;
    const robot = await makeRobot(atrium, 'caller', { org: org.name, owner: owner.name, scopes: ['read:authz'] });
    await assign(place, place.operator.id, { type: 'robot_ac', id: robot.id }, { type: 'cluster', id: prod.id });
    const yes = await robot.call('GET', path('cluster:prod'));
    assert.deepEqual([yes.status, yes.headers.get('x-atrium-user')], [204, `${org.name}/caller`], yes.text);
    assert.equal(yes.headers.get('x-atrium-user-id'), String(robot.id));
    const { make, withToken } = tokenCalls(atrium);
    const narrow = await make(owner.name, { name: 'narrow', scopes: ['read:organization'] });
    refused(await withToken(narrow.sha1)('GET', path('cluster:prod')), 403);
    const limits = { objects: [{ type: 'cluster', id: prod.id }] };
    const limited = await make(owner.name, { name: 'limited', scopes: ['read:authz'], limits });
    assert.equal((await withToken(limited.sha1)('GET', path(`cluster:${prod.id}`))).status, 204);
    refused(await withToken(limited.sha1)('GET', path(`cluster:${staging.id}`)), 403);
  });

  it('The parameters can be in the path, with whatever Envoy appends', async () => {
    const base = `/authz/forward/${place.org.name}/can_connect/cluster:${place.prod.id}`;
    for (const url of [base, `${base}/`, `${base}/some/path?relation=can_edit&sudo`, `${base}//x/%00/..%2f`]) {
      const answer = await asDan(url, 'POST', { any: 'thing' });
      if (url.includes('sudo')) refused(answer, 403);
      else assert.equal(answer.status, 204, `${url}: ${answer.text}`);
    }
    const preferred = await asDan(base, 'GET', undefined, { Prefer: 'status=200' });
    assert.deepEqual([preferred.status, preferred.text], [200, '']);
    refused(await asDan(`/authz/forward/${place.org.name}/can_edit/cluster:${place.prod.id}/x`), 403);
    refused(await asDan(`/authz/forward/globex/can_view/organization/x`), 403);
    refused(await asDan(`/authz/forward/${place.org.name}/fly/cluster:1/x`), 400);
  });

  it('A reason with any letters is one line of printable ASCII', async () => {
    const role = await place.role('Größe % “x”', 'cluster_mgmt reconfigure clusters');
    const on = { type: 'cluster', id: place.prod.id };
    const made = await assign(place, role.id, { type: 'user', id: Number(place.dan.id) }, on);
    const answer = await asDan(path('cluster:prod', 'edit'));
    const reason = answer.headers.get('x-atrium-reason') ?? '';
    assert.match(reason, /^[\x20-\x7e]{1,1000}$/);
    assert.ok(decodeURIComponent(reason).includes('Größe % “x”'), reason);
    await place.call('DELETE', place.at(made.id));
  });

  it("Callers without a credential use up nobody's allowance, and callers with one only their own", async () => {
    for (let request = 0; request < 130; request++) {
      assert.equal((await atrium.as()('GET', path('cluster:prod'))).status, 401);
    }
    assert.equal((await asDan(path('cluster:prod'))).status, 204);
  });

  it('Deactivated users are refused', async () => {
    await setActive(atrium.instance, place.dan.id, false);
    refused(await asDan(path('cluster:prod')), 403);
    await setActive(atrium.instance, place.dan.id, true);
    assert.equal((await asDan(path('cluster:prod'))).status, 204);
  });
});
