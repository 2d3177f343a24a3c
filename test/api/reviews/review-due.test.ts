import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openTestServer } from '../../support/server/server.ts';
import { assign, openPlace } from '../../support/world/assignments.ts';
import { allowedTo } from '../../support/world/authz.ts';
import { addMember, makePerson, removeMember } from '../../support/world/people.ts';
import { backdate, itemOf, makeDue, reviewsOf } from '../../support/world/reviews.ts';

it('What is undecided at the due date ends or stays, as the review says, and what cannot end says why', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const place = await openPlace(atrium);
  const { call, org, crew, dan, operator, prod } = place;
  const reviews = reviewsOf(org.name);
  const eve = await makePerson(atrium);
  await addMember(atrium.instance, BigInt(crew), eve.id);
  const onProd = { type: 'cluster', id: prod.id };
  await assign(place, operator.id, { type: 'team', id: crew }, onProd);
  const always = { users: [eve.name], relation: 'can_connect', object: onProd };
  assert.equal((await call('POST', `/authz/guardrails?org=${org.name}`, { name: 'on call', always })).status, 201);

  const kept = await reviews.start(call, { kind: 'team', team: { name: 'crew' } }, { undecided: 'keep' });
  const ended = await reviews.start(call, { kind: 'team', team: { name: 'crew' } }, { undecided: 'end' });
  await atrium.instance.features.reviews.settleDue();
  assert.equal((await call('GET', reviews.path(`/${ended.id}`))).body.state, 'open');

  await makeDue(atrium, kept.id);
  await Promise.all([atrium.instance.features.reviews.settleDue(), atrium.instance.features.reviews.settleDue()]);
  const first = await call('GET', reviews.path(`/${kept.id}`));
  assert.deepEqual([first.body.state, first.body.closed_by, first.body.counts.kept], ['closed', null, 3]);
  assert.ok((await allowedTo(atrium, dan.name, 'cluster', prod.id, org.name)).includes('can_connect'));

  await makeDue(atrium, ended.id);
  await Promise.all([atrium.instance.features.reviews.settleDue(), atrium.instance.features.reviews.settleDue()]);
  const second = await call('GET', reviews.path(`/${ended.id}`));
  assert.deepEqual(second.body.counts, { open: 0, kept: 0, ended: 1, gone: 0, rejected: 2 });
  assert.equal(second.body.record.verified, true);
  assert.deepEqual(await allowedTo(atrium, dan.name, 'cluster', prod.id, org.name), []);
  const items = await reviews.items(call, ended.id);
  for (const name of [eve.name, 'crew']) {
    const { state, present, rejection } = itemOf(items, name);
    assert.deepEqual([state, present, rejection?.reason], ['rejected', true, 'guardrail_violated'], name);
  }
});

it('A review ends nothing with rights that whoever started it does not have any more', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const { org, crew, dan, call } = await openPlace(atrium);
  const reviews = reviewsOf(org.name);
  const boss = await makePerson(atrium);
  await addMember(atrium.instance, BigInt(org.team('Owners')), boss.id);
  const { id } = await reviews.start(atrium.as(boss.name), { kind: 'team', team: { id: crew } }, { undecided: 'end' });
  await removeMember(atrium.instance, BigInt(org.team('Owners')), boss.id);
  await makeDue(atrium, id);
  await atrium.instance.features.reviews.settleDue();
  const item = itemOf(await reviews.items(call, id), dan.name);
  assert.deepEqual([item.state, item.present, item.rejection?.reason], ['rejected', true, 'missing_relation']);
});

it('A review of unused access ends nothing that was used after it was started', async (t) => {
  const atrium = await openTestServer();
  t.after(() => atrium.close());
  const place = await openPlace(atrium);
  const { call, org, dan, operator, prod, staging } = place;
  const reviews = reviewsOf(org.name);
  const to = { type: 'user', id: Number(dan.id) };
  await assign(place, operator.id, to, { type: 'cluster', id: prod.id });
  await assign(place, operator.id, to, { type: 'cluster', id: staging.id });
  await backdate(atrium, org.id, 100);
  const { id } = await reviews.start(call, { kind: 'unused', days: 90 }, { undecided: 'end' });
  const before = await reviews.items(call, id);
  assert.equal(before.filter(({ kind, principal }) => kind === 'assignment' && principal.name === dan.name).length, 2);
  assert.match(before[0]?.sentence ?? '', /, never used as far as is known$/);
  await allowedTo(atrium, dan.name, 'cluster', prod.id, org.name);
  await makeDue(atrium, id);
  await atrium.instance.features.reviews.settleDue();
  const after = await reviews.items(call, id);
  const outcomes = after
    .filter(({ kind, principal }) => kind === 'assignment' && principal.name === dan.name)
    .map(({ state, rejection }) => [state, rejection?.reason]);
  assert.deepEqual(outcomes, [
    ['rejected', 'used_meanwhile'],
    ['ended', undefined],
  ]);
  assert.ok((await allowedTo(atrium, dan.name, 'cluster', prod.id, org.name)).includes('can_connect'));
});
