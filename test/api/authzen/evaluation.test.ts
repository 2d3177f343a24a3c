import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace, type Place } from '../../support/world/assignments.ts';
import { authzenPoint, question } from '../../support/world/authzen.ts';
import { createCluster, makeOrganization, makePerson, setActive } from '../../support/world/people.ts';
import { makeRobot } from '../../support/world/robots.ts';
import { tokenCalls } from '../../support/world/tokens.ts';

describe('POST /access/v1/{org}/evaluation', () => {
  let atrium: TestServer;
  let place: Place;
  let point: ReturnType<typeof authzenPoint>;
  before(async () => {
    atrium = await openTestServer();
    place = await openPlace(atrium);
    point = authzenPoint(atrium, place.org.name);
    const crew = { type: 'user', id: Number(place.dan.id) };
    await assign(place, place.operator.id, crew, { type: 'cluster', id: place.prod.id });
  });
  after(() => atrium.close());

  const owner = (body: object, path = 'evaluation') => point.as(place.owner.name)(path, body);
  const dan = (body: object, path = 'evaluation') => point.as(place.dan.name)(path, body);
  const decision = async (body: object, path?: string) => {
    const answer = await owner(body, path);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };

  it('A yes and a no have the sentence of explain, whether the question names IDs or names, with prefix or without', async () => {
    const { dan: user, prod, staging, org } = place;
    const why = async (id: number) => {
      const query = `org=${org.name}&relation=can_connect&user=${user.name}`;
      return (await place.call('GET', `/authz/objects/cluster/${id}/explain?${query}`)).body.sentence;
    };
    const yes = { decision: true, context: { reason_user: await why(prod.id) } };
    for (const body of [
      question(user.name, 'can_connect', prod.id),
      question(user.name, 'connect', prod.id),
      question(String(user.id), 'connect', { type: 'cluster', id: 'prod' }),
      question(user.name.toUpperCase(), 'connect', { type: 'cluster', id: `${org.name}/prod` }),
      question(user.name, 'connect', prod.id, { context: { ip: '10.0.0.1', at: '2020-01-01T00:00:00Z' } }),
    ]) {
      assert.deepEqual(await decision(body), yes, JSON.stringify(body));
    }
    const no = await decision(question(user.name, 'connect', staging.id));
    assert.equal(no.decision, false);
    assert.equal(no.context.reason_user, await why(staging.id));
  });

  it('What does not exist and what the caller may not see is one and the same no', async () => {
    const { dan: user, staging } = place;
    const other = await makeOrganization(atrium, (await makePerson(atrium)).name);
    const away = await createCluster(atrium.instance, { ownerId: other.id, name: 'away', uid: randomUUID() });
    const asked: [string, string, object][] = [
      [user.name, 'connect', { type: 'cluster', id: String(staging.id) }],
      [user.name, 'connect', { type: 'cluster', id: 'staging' }],
      [user.name, 'connect', { type: 'cluster', id: String(away) }],
      [user.name, 'connect', { type: 'cluster', id: '99999999999999999999999' }],
      [user.name, 'connect', { type: 'cluster', id: 'nowhere' }],
      [user.name, 'connect', { type: 'nonsense', id: '1' }],
      [user.name, 'owner', { type: 'organization', id: place.org.name }],
      [user.name, 'fly', { type: 'cluster', id: '1' }],
      [user.name, 'view', { type: 'organization', id: other.name }],
    ];
    for (const [who, action, resource] of asked) {
      const answer = await dan(question(who, action, resource));
      assert.deepEqual([answer.status, answer.text], [200, '{"decision":false}'], JSON.stringify(resource));
    }
    for (const subject of [
      { type: 'user', id: 'nobody-here' },
      { type: 'robot_ac', id: 'nothing' },
      { type: 'service', id: 'x' },
    ]) {
      const answer = await owner({ ...question('', 'view', place.prod.id), subject });
      assert.deepEqual([answer.status, answer.text], [200, '{"decision":false}'], JSON.stringify(subject));
    }
  });

  it('Only callers who may view members can ask about others, and about robots only whoever may view them', async () => {
    const stranger = await makePerson(atrium);
    const plain = await atrium.instance.features.users.create({ name: 'plainx', email: 'plainx@example.com' });
    const { text } = await atrium.instance.identity.tokens.issue({ accountId: plain, name: 't', scopes: ['all'] });
    await place.call('PUT', `/teams/${place.crew}/members/plainx`);
    const asked = question(place.dan.name, 'connect', place.prod.id);
    const rejected = await point.withToken(text)('evaluation', asked);
    assert.deepEqual([rejected.status, rejected.body.reason], [403, 'missing_relation']);
    const unknown = await point.withToken(text)('evaluation', question('nobody-here', 'connect', place.prod.id));
    assert.deepEqual([unknown.status, unknown.body.reason], [403, 'missing_relation']);
    const batch = await point.withToken(text)('evaluations', {
      evaluations: [asked, question('plainx', 'view', { type: 'organization', id: place.org.name })],
    });
    assert.equal(batch.status, 200, batch.text);
    const [other, own] = batch.body.evaluations;
    assert.deepEqual([other.decision, other.context.error.status, own.decision], [false, 403, true]);
    const robot = { ...asked, subject: { type: 'robot_ac', id: 'deploy' } };
    assert.equal((await point.withToken(text)('evaluation', robot)).text, '{"decision":false}');
    for (const who of [stranger.name]) {
      const answer = await point.as(who)('evaluation', question(who, 'view', place.prod.id));
      assert.deepEqual([answer.status, answer.body.reason], [403, 'forbidden']);
      const nowhere = await authzenPoint(atrium, 'nowhere-at-all').as(who)('evaluation', asked);
      assert.deepEqual([nowhere.status, nowhere.body], [403, answer.body]);
    }
  });

  it('A robot that may view members and clusters is the gateway of all, and is asked about as acme/deploy', async () => {
    const { org, owner: boss, prod } = place;
    const robot = await makeRobot(atrium, 'gateway', { org: org.name, owner: boss.name, scopes: ['read:authz'] });
    const viewer = await place.role('gate', 'org_mgmt view members', 'cluster_mgmt view clusters');
    await assign(place, viewer.id, { type: 'robot_ac', id: robot.id });
    const ask = (body: object) => point.withToken(robot.text)('evaluation', body);
    assert.equal((await ask(question(place.dan.name, 'connect', prod.id))).body.decision, true);
    for (const id of ['gateway', `${org.name}/gateway`, String(robot.id)]) {
      const body = { ...question('', 'view', prod.id), subject: { type: 'robot_ac', id } };
      assert.equal((await ask(body)).body.decision, true, id);
      assert.equal((await owner(body)).body.decision, true, id);
    }
    const user = { ...question(String(robot.id), 'view', prod.id) };
    assert.equal((await ask(user)).body.context?.reason_user?.includes('gateway') ?? false, false);
  });

  it('A repeated question has the same answer, until a change, which counts in the very next one', async () => {
    const { dan: user, staging, operator } = place;
    const asker = await makePerson(atrium);
    await place.call('PUT', `/teams/${place.crew}/members/${asker.name}`);
    const viewer = await place.role('asking', 'org_mgmt view members', 'cluster_mgmt view clusters');
    const mayAsk = await assign(place, viewer.id, { type: 'user', id: Number(asker.id) });
    const asked = question(user.name, 'connect', staging.id);
    const repeated = async () => {
      const answers = [];
      for (let count = 0; count < 4; count++) answers.push(await point.as(asker.name)('evaluation', asked));
      const [first] = answers;
      for (const { status, body, headers } of answers) {
        assert.equal(status, first?.status);
        assert.equal(headers.get('content-type'), first?.headers.get('content-type'));
        assert.equal(body.decision, first?.body.decision);
        assert.equal(body.context?.reason_user, first?.body.context?.reason_user);
      }
      return first?.body;
    };
    for (let round = 0; round < 3; round++) {
      const no = await repeated();
      assert.deepEqual([no.decision, typeof no.context.reason_user], [false, 'string']);
      const given = await assign(
        place,
        operator.id,
        { type: 'user', id: Number(user.id) },
        { type: 'cluster', id: staging.id },
      );
      const yes = await repeated();
      assert.equal(yes.decision, true);
      assert.notEqual(yes.context.reason_user, no.context.reason_user);
      await place.call('DELETE', place.at(given.id));
    }
    await repeated();
    await place.call('DELETE', place.at(mayAsk.id));
    const rejected = await point.as(asker.name)('evaluation', asked);
    assert.deepEqual([rejected.status, rejected.body.reason], [403, 'missing_relation']);
  });

  it('Deactivated users and those who may not sign in hold nothing (Z7)', async () => {
    const { dan: user, prod } = place;
    await setActive(atrium.instance, user.id, false);
    assert.deepEqual(await decision(question(user.name, 'connect', prod.id)), { decision: false });
    const found = await owner({ ...question('', 'connect', prod.id), subject: { type: 'user' } }, 'search/subject');
    assert.equal(found.status, 200, found.text);
    assert.ok(!found.body.results.some(({ id }: { id: string }) => id === user.name), found.text);
    await setActive(atrium.instance, user.id, true);
    assert.equal((await decision(question(user.name, 'connect', prod.id))).decision, true);
  });

  it('Digits are an ID; if they are also the login of another user, there is no decision (Z4)', async () => {
    const { dan: user, prod } = place;
    const digits = String(user.id);
    const twin = await atrium.instance.features.users.create({ name: digits, email: 'twin@example.com' });
    const answer = await decision(question(digits, 'connect', prod.id));
    assert.deepEqual([answer.decision, answer.context.error.status], [false, 409]);
    const own = String(twin);
    assert.equal((await decision(question(own, 'connect', prod.id))).decision, false);
    assert.equal((await decision(question(user.name, 'connect', prod.id))).decision, true);
  });

  it('A namespace in the context narrows the question; nothing else there or in properties counts', async () => {
    const looker = await makePerson(atrium);
    await place.call('PUT', `/teams/${place.crew}/members/${looker.name}`);
    const to = { type: 'user', id: Number(looker.id) };
    await assign(place, place.operator.id, to, { type: 'cluster', id: place.prod.id }, { namespaces: ['web'] });
    const may = async (context?: object) =>
      (await decision(question(looker.name, 'connect', place.prod.id, context && { context }))).decision;
    assert.deepEqual(
      [await may(), await may({ namespace: 'web' }), await may({ namespace: 'shop' })],
      [false, true, false],
    );
    for (const namespace of [5, '', 'Web', null, ['web']]) {
      const answer = await decision(question(looker.name, 'connect', place.prod.id, { context: { namespace } }));
      assert.deepEqual([answer.decision, answer.context.error.status], [false, 400], JSON.stringify(namespace));
    }
    const properties = { is_admin: true, role: 'owner', namespace: 'web' };
    const body = question(looker.name, 'connect', place.prod.id) as { subject: object; resource: object };
    const more = { ...body, subject: { ...body.subject, properties }, resource: { ...body.resource, properties } };
    assert.equal((await decision(more)).decision, false);
  });

  it('?at asks about a past moment, and only there', async () => {
    const late = await makePerson(atrium);
    await place.call('PUT', `/teams/${place.crew}/members/${late.name}`);
    const before = new Date();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const to = { type: 'user', id: Number(late.id) };
    await assign(place, place.operator.id, to, { type: 'cluster', id: place.prod.id });
    const ask = question(late.name, 'connect', place.prod.id);
    assert.equal((await decision(ask)).decision, true);
    const then = await owner(ask, `evaluation?at=${before.toISOString()}`);
    assert.equal(then.body.decision, false, then.text);
    assert.equal(then.headers.get('x-as-of'), before.toISOString());
    const denied = await dan(ask, `evaluation?at=${before.toISOString()}`);
    assert.deepEqual([denied.status, denied.body.reason], [403, 'missing_relation']);
  });

  it('Only ?at is a parameter, and it is given once', async () => {
    const ask = question(place.dan.name, 'connect', place.prod.id);
    const at = `at=${new Date().toISOString()}`;
    for (const query of [`${at}&${at}`, 'at=', 'at[]=x', 'as_of=2026-11-18', 'namespace=web']) {
      for (const path of ['evaluation', 'evaluations', 'search/subject', 'search/resource', 'search/action']) {
        const { status, body, text } = await owner(
          { ...ask, ...(path === 'evaluations' && { evaluations: [{}] }) },
          `${path}?${query}`,
        );
        assert.deepEqual([status, body.reason], [400, 'invalid_request'], `${path}?${query}: ${text}`);
      }
    }
    const denied = await owner(ask, 'requests?at=x');
    assert.deepEqual([denied.status, denied.body.reason], [400, 'invalid_request'], denied.text);
  });

  it('A limited token gets answers within its limits only', async () => {
    const { prod, staging, owner: boss, org } = place;
    const limited = await tokenCalls(atrium).make(boss.name, {
      ...{ name: 'narrow', scopes: ['read:authz'], limits: { objects: [{ type: 'cluster', id: prod.id }] } },
    });
    const ask = (body: object) => point.withToken(limited.sha1)('evaluation', body);
    assert.deepEqual((await ask(question(boss.name, 'connect', prod.id))).body, { decision: true });
    assert.deepEqual((await ask(question(boss.name, 'connect', staging.id))).body, { decision: false });
    assert.deepEqual((await ask(question(boss.name, 'view', { type: 'organization', id: org.name }))).body, {
      decision: false,
    });
  });
});
