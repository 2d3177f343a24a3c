import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { assign, openPlace, type Place } from '../../support/world/assignments.ts';
import { allowedTo } from '../../support/world/authz.ts';
import { addMember, makePerson } from '../../support/world/people.ts';
import { itemOf, reviewsOf } from '../../support/world/reviews.ts';

describe('Access reviews', () => {
  let atrium: TestServer;
  let place: Place;
  before(async () => {
    atrium = await openTestServer();
    place = await openPlace(atrium);
  });
  after(() => atrium.close());

  it('A review can ask about one namespace of a cluster', async () => {
    const own = await openPlace(atrium);
    const { org, call, operator, cluster, crew } = own;
    const reviews = reviewsOf(org.name);
    const shared = await cluster('shared', { clusterSetName: 'shared' });
    const [gus, hal, ida] = [await makePerson(atrium), await makePerson(atrium), await makePerson(atrium)];
    for (const { id } of [gus, hal, ida]) await addMember(atrium.instance, BigInt(crew), id);
    const on = { type: 'cluster', id: shared.id };
    const to = ({ id }: { id: bigint }) => ({ type: 'user', id: Number(id) });
    await assign(own, operator.id, to(gus), on, { namespaces: ['shop'] });
    await assign(own, operator.id, to(hal), { type: 'cluster_set', name: 'shared' }, { namespaces: ['sh*'] });
    await assign(own, operator.id, to(ida), on, { namespaces: ['web'] });
    const ask = (question: object) =>
      call('POST', reviews.path(), { question: { kind: 'access', relation: 'connect', ...question } });
    const started = await ask({ object: { type: 'cluster', name: 'shared' }, namespace: 'shop' });
    assert.equal(started.status, 201, started.text);
    assert.equal(started.body.about, 'who can connect to shared in the namespace shop');
    assert.equal(started.body.question.namespace, 'shop');
    const items = await reviews.items(call, started.body.id);
    const names = items.map(({ principal }) => principal.name);
    assert.deepEqual(
      [gus, hal, ida].map(({ name }) => names.includes(name)),
      [true, true, false],
    );
    const item = itemOf(items, gus.name);
    assert.equal(item.sentence, `${gus.name} has the role cluster-operator on shared in shop`);
    const ended = await call('POST', reviews.path(`/${started.body.id}/items/${item.id}/end`));
    assert.deepEqual([ended.status, ended.body.state], [200, 'ended'], ended.text);

    for (const question of [
      { object: { type: 'cluster', name: 'shared' }, namespace: 'Shop!' },
      { object: { type: 'organization' }, namespace: 'shop', relation: 'can_view' },
    ]) {
      const rejected = await ask(question);
      assert.deepEqual([rejected.status, rejected.body.errors?.[0].field], [422, 'question.namespace'], rejected.text);
    }
  });

  it('A review of a question lists what gives it, reviewers keep or end it, and the record is in the audit log', async () => {
    const { call, org, owner, dan, crew, prod, operator, robot } = place;
    const reviews = reviewsOf(org.name);
    const [eve, fay] = [await makePerson(atrium), await makePerson(atrium)];
    await addMember(atrium.instance, BigInt(crew), eve.id);
    await addMember(atrium.instance, BigInt(crew), fay.id);
    const onProd = { type: 'cluster', id: prod.id };
    const direct = await assign(place, operator.id, { type: 'user', id: Number(dan.id) }, onProd);
    const ofCrew = await assign(place, operator.id, { type: 'team', id: crew }, onProd);
    await assign(place, operator.id, { type: 'robot_ac', id: robot }, onProd);
    const reviewers = [owner.name, eve.name];
    const question = { kind: 'access', relation: 'connect', object: { type: 'cluster', name: 'prod' } };
    const started = await call('POST', reviews.path(), { name: 'Quarter', question, reviewers });
    assert.equal(started.status, 201, started.text);
    const { id, counts, about, state, undecided, left_out } = started.body;
    // The site administrator of the demo world is in no team, so nothing of theirs can be ended here.
    assert.deepEqual([about, state, undecided, left_out], ['who can connect to prod', 'open', 'keep', 1]);
    assert.equal(counts.open, 6);

    const items = await reviews.items(call, id);
    const ofDan = itemOf(items, dan.name, 'assignment');
    assert.equal(ofDan.sentence, `${dan.name} has the role cluster-operator on prod`);
    const ofEve = itemOf(items, eve.name);
    assert.equal(ofEve.sentence, `${eve.name} is in the team crew, which has the role cluster-operator on prod`);
    assert.equal(itemOf(items, owner.name).sentence, `${owner.name} is in the team Owners`);
    assert.deepEqual(itemOf(items, 'deploy').principal, { type: 'robot_ac', id: robot, name: 'deploy' });

    const at = (item: number, verb = '') => reviews.path(`/${id}/items/${item}${verb}`);
    const fayItem = itemOf(items, fay.name);
    const shown = await call('GET', at(fayItem.id));
    assert.equal(shown.status, 200, shown.text);
    assert.equal(shown.body.cannot_end, null);
    assert.deepEqual(
      shown.body.impact.users.map(({ user }: { user: { name: string } }) => user.name),
      [fay.name],
    );
    const lost = shown.body.impact.users[0].loses.map(
      (one: { object: { name: string }; relation: string }) => `${one.object.name} ${one.relation}`,
    );
    assert.ok(lost.includes('prod can_connect'), JSON.stringify(lost));

    const kept = await call('POST', at(ofDan.id, '/keep'), { comment: 'still on call' });
    assert.deepEqual(
      [kept.status, kept.body.state, kept.body.comment, kept.body.decided_by.name],
      [200, 'kept', 'still on call', owner.name],
    );
    const ended = await call('POST', at(fayItem.id, '/end'));
    assert.deepEqual([ended.status, ended.body.state, ended.body.present], [200, 'ended', false], ended.text);
    assert.deepEqual(await allowedTo(atrium, fay.name, 'cluster', prod.id, org.name), []);
    const again = await call('POST', at(fayItem.id, '/end'));
    assert.deepEqual([again.status, again.body.reason], [409, 'already_decided']);

    // What was kept can still be ended, and what has ended otherwise is marked.
    assert.equal((await call('DELETE', place.at(direct.id))).status, 204);
    const gone = await call('POST', at(ofDan.id, '/end'));
    assert.deepEqual([gone.status, gone.body.state], [200, 'gone']);

    const closed = await call('POST', reviews.path(`/${id}/close`));
    assert.equal(closed.status, 200, closed.text);
    assert.deepEqual(closed.body.counts, { open: 0, kept: 4, ended: 1, gone: 1, rejected: 0 });
    assert.equal(closed.body.closed_by.name, owner.name);
    const record = await call('GET', reviews.path(`/${id}/record`));
    const sha256 = createHash('sha256').update(record.text).digest('hex');
    assert.deepEqual([closed.body.record.sha256, closed.body.record.verified], [sha256, true]);
    const told = JSON.parse(record.text);
    assert.equal(told.items.length, 6);
    assert.equal(told.audit.start.hash, closed.body.record.start.hash);

    const log = await auditOf(atrium.instance.db, org.id);
    const ours = log.filter(({ object_type }) => object_type === 'review');
    assert.deepEqual(
      ours.map(({ action }) => action),
      ['review.start', 'review.keep', 'review.end', 'review.end', 'review.close'],
    );
    assert.equal(JSON.parse(ours.at(-1)?.after ?? '{}').sha256, sha256);
    const left = log.filter(({ action }) => action === 'team.remove_member');
    assert.equal(left.length, 1);
    const verified = await call('GET', `/orgs/${org.name}/audit/verify`);
    assert.deepEqual([verified.status, verified.body.ok ?? verified.body.valid ?? true], [200, true], verified.text);

    const csv = await call('GET', reviews.path(`/${id}/csv`));
    assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/);
    const rows = csv.text.trim().split('\r\n');
    assert.equal(rows.length, 7);
    assert.ok(rows.some((row) => row.includes(fay.name) && row.includes('ended')));
    assert.equal((await call('DELETE', place.at(ofCrew.id))).status, 204);
  });

  it('A review of a team lists its members and its assignments, and ends them', async () => {
    const { call, org, operator, staging, crew, dan } = place;
    const reviews = reviewsOf(org.name);
    const made = await assign(place, operator.id, { type: 'team', id: crew }, { type: 'cluster', id: staging.id });
    const { id } = await reviews.start(call, { kind: 'team', team: { name: 'crew' } });
    const items = await reviews.items(call, id);
    assert.deepEqual([...new Set(items.map(({ kind }) => kind))].sort(), ['assignment', 'membership']);
    const ofTeam = itemOf(items, 'crew');
    assert.equal(ofTeam.sentence, 'the team crew has the role cluster-operator on staging');
    assert.ok((await allowedTo(atrium, dan.name, 'cluster', staging.id, org.name)).includes('can_connect'));
    const ended = await call('POST', reviews.path(`/${id}/items/${ofTeam.id}/end`));
    assert.deepEqual([ended.status, ended.body.state], [200, 'ended'], ended.text);
    assert.deepEqual(await allowedTo(atrium, dan.name, 'cluster', staging.id, org.name), []);
    assert.equal((await call('GET', place.at(made.id))).status, 404);
  });

  it('A review of old tokens of robots revokes them', async () => {
    const { call, org, robot } = place;
    const reviews = reviewsOf(org.name);
    const token = (await call('POST', `/robots/${robot}/tokens`, { name: 'old', scopes: ['read:organization'] })).body;
    const fresh = await reviews.start(call, { kind: 'robot_tokens', days: 90 });
    assert.equal(fresh.counts.open, 0);
    const older = statement(`update token set created_at = now() - interval '91 days' where id = ${token.id}`);
    await atrium.instance.db.query(older);
    const { id } = await reviews.start(call, { kind: 'robot_tokens', days: 90 });
    const [item] = await reviews.items(call, id);
    assert.match(item?.sentence ?? '', /^the robot deploy has the token old, created on .*, never used$/);
    const ended = await call('POST', reviews.path(`/${id}/items/${item?.id}/end`));
    assert.deepEqual([ended.status, ended.body.state], [200, 'ended'], ended.text);
    const tokens = await call('GET', `/robots/${robot}/tokens`);
    assert.deepEqual(tokens.body, []);
  });

  it('Reviewers see their own reviews, and nobody else sees any but owners', async () => {
    const { call, org, dan } = place;
    const reviews = reviewsOf(org.name);
    const { id } = await reviews.start(call, { kind: 'team', team: { name: 'Owners' } }, { reviewers: [dan.name] });
    const asDan = atrium.as(dan.name);
    const mine = await asDan('GET', reviews.path());
    assert.deepEqual(
      mine.body.map((one: { id: number }) => one.id),
      [id],
    );
    assert.equal((await asDan('GET', reviews.path(`/${id}`))).status, 200);
    const eve = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(org.team('Viewers')), eve.id);
    const asEve = atrium.as(eve.name);
    assert.deepEqual((await asEve('GET', reviews.path())).body, []);
    for (const rest of ['', '/record', '/csv']) {
      const hidden = await asEve('GET', reviews.path(`/${id}${rest}`));
      assert.deepEqual([hidden.status, hidden.body.reason], [404, 'review_not_found']);
    }
    const all = await call('GET', reviews.path());
    assert.ok(Number(all.headers.get('x-total-count')) > 1);
    assert.equal(all.body[0].id, id);
  });
});
