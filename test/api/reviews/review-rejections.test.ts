import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, openPlace, type Place, rejected } from '../../support/world/assignments.ts';
import { addMember, makeOrganization, makePerson } from '../../support/world/people.ts';
import { itemOf, reviewsOf } from '../../support/world/reviews.ts';

describe('What access reviews reject', () => {
  let atrium: TestServer;
  let place: Place;
  before(async () => {
    atrium = await openTestServer();
    place = await openPlace(atrium);
  });
  after(() => atrium.close());

  it('A review names what there is in the organization, members as reviewers, and a time to come', async () => {
    const { call, org, dan } = place;
    const { path } = reviewsOf(org.name);
    const stranger = await makePerson(atrium);
    const question = { kind: 'team', team: { name: 'crew' } };
    const bodies: [object, number, string][] = [
      [{ question: { kind: 'team', team: { name: 'nothing' } } }, 404, 'team_not_found'],
      [{ question: { kind: 'team' } }, 422, 'validation_failed'],
      [{ question: { kind: 'people' } }, 422, 'validation_failed'],
      [{ question: { kind: 'robot_tokens' } }, 422, 'validation_failed'],
      [{ question: { kind: 'unused', days: 366 } }, 422, 'validation_failed'],
      [{ question: { kind: 'unused', days: 90 } }, 422, 'not_tracked_yet'],
      [
        { question: { kind: 'access', relation: 'fly', object: { type: 'cluster', name: 'prod' } } },
        422,
        'unknown_relation',
      ],
      [
        { question: { kind: 'access', relation: 'connect', object: { type: 'cluster', name: 'no' } } },
        404,
        'not_found',
      ],
      [{ question: { kind: 'access', relation: 'view', object: { type: 'token', id: 1 } } }, 422, 'validation_failed'],
      [{ question, reviewers: [stranger.name] }, 422, 'not_a_member'],
      [{ question, reviewers: ['nobody-like-this'] }, 422, 'not_a_member'],
      [{ question, reviewers: Array.from({ length: 21 }, () => dan.name) }, 422, 'validation_failed'],
      [{ question, due_at: '2020-01-01T00:00:00Z' }, 422, 'validation_failed'],
      [{ question, due_at: '2090-01-01T00:00:00Z' }, 422, 'validation_failed'],
      [{ question, undecided: 'perhaps' }, 422, 'validation_failed'],
      [{ question, name: 'x'.repeat(101) }, 422, 'validation_failed'],
    ];
    for (const [body, status, reason] of bodies) await rejected(call, ['POST', path(), body], status, reason);
  });

  it('Only owners start and close reviews', async () => {
    const { call, org } = place;
    const reviews = reviewsOf(org.name);
    const editor = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(org.team('Editors')), editor.id);
    const question = { kind: 'team', team: { name: 'crew' } };
    const { id } = await reviews.start(call, question, { reviewers: [editor.name] });
    const asEditor = atrium.as(editor.name);
    await rejected(asEditor, ['POST', reviews.path(), { question }], 403, 'missing_relation');
    await rejected(asEditor, ['POST', reviews.path(`/${id}/close`)], 403, 'missing_relation');
    const stranger = await makePerson(atrium);
    const foreign = await makeOrganization(atrium, stranger.name);
    const elsewhere = reviewsOf(foreign.name);
    await rejected(atrium.as(stranger.name), ['GET', elsewhere.path(`/${id}`)], 404, 'review_not_found');
    await rejected(atrium.as(stranger.name), ['POST', elsewhere.path(`/${id}/close`)], 404, 'review_not_found');
  });

  it('Reviewers decide, never about themselves or a team of theirs, and end only what they could end otherwise', async () => {
    const { call, org, dan, operator, crew, prod } = place;
    const reviews = reviewsOf(org.name);
    await assign(place, operator.id, { type: 'team', id: crew }, { type: 'cluster', id: prod.id });
    const [eve, admin] = [await makePerson(atrium), await makePerson(atrium)];
    await addMember(atrium.instance, BigInt(crew), eve.id);
    await addMember(atrium.instance, BigInt(org.team('Viewers')), admin.id);
    const question = { kind: 'team', team: { name: 'crew' } };
    const { id } = await reviews.start(call, question, { reviewers: [dan.name, admin.name] });
    const items = await reviews.items(call, id);
    const at = (item: { readonly id: number }, verb: string) => reviews.path(`/${id}/items/${item.id}${verb}`);
    const [ofDan, ofEve, ofCrew] = [itemOf(items, dan.name), itemOf(items, eve.name), itemOf(items, 'crew')];
    const asDan = atrium.as(dan.name);
    await rejected(asDan, ['POST', at(ofDan, '/keep')], 403, 'own_access');
    await rejected(asDan, ['POST', at(ofCrew, '/end')], 403, 'own_access');
    await rejected(call, ['POST', at(ofEve, '/keep')], 403, 'not_a_reviewer');
    await rejected(asDan, ['POST', at(ofEve, '/end')], 403, 'missing_relation');
    await rejected(atrium.as(admin.name), ['POST', at(ofCrew, '/end')], 403, 'missing_relation');
    const shown = await asDan('GET', at(ofEve, ''));
    assert.deepEqual([shown.body.impact, shown.body.cannot_end.reason], [null, 'missing_relation']);
    await rejected(asDan, ['POST', at({ id: 999_999 }, '/keep')], 404, 'review_item_not_found');
    await rejected(asDan, ['POST', at(ofEve, '/keep'), { comment: 'x'.repeat(1001) }], 422, 'validation_failed');
    assert.equal((await asDan('POST', at(ofEve, '/keep'))).status, 200);
  });

  it('A guardrail, and the last owner, keep access that a reviewer wants to end, and the item stays open', async () => {
    const { org, operator, prod } = await openPlace(atrium);
    const owner = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(org.team('Owners')), owner.id);
    const call = atrium.as(owner.name);
    const reviews = reviewsOf(org.name);
    const paths = { call, path: `/authz/assignments?org=${org.name}` };
    const [fay] = [await makePerson(atrium)];
    await addMember(atrium.instance, BigInt(org.team('Viewers')), fay.id);
    await assign(paths, operator.id, { type: 'user', id: Number(fay.id) }, { type: 'cluster', id: prod.id });
    const always = { users: [fay.name], relation: 'can_connect', object: { type: 'cluster', id: prod.id } };
    const made = await call('POST', `/authz/guardrails?org=${org.name}`, { name: 'on call', always });
    assert.equal(made.status, 201, made.text);
    // As a viewer, fay connects to every cluster anyway, so the assignment alone is not enough.
    const { id } = await reviews.start(call, { kind: 'access', ...always, users: undefined });
    const items = await reviews.items(call, id);
    const membership = itemOf(items, fay.name, 'membership');
    const assignment = itemOf(items, fay.name, 'assignment');
    const end = (item: { readonly id: number }) => reviews.path(`/${id}/items/${item.id}/end`);
    assert.equal((await call('POST', end(assignment))).status, 200);
    await rejected(call, ['POST', end(membership)], 409, 'guardrail_violated');
    const shown = await call('GET', reviews.path(`/${id}/items/${membership.id}`));
    assert.deepEqual([shown.body.state, shown.body.cannot_end.reason], ['open', 'guardrail_violated']);

    const others = items.filter(({ principal }) => ![owner.name, fay.name].includes(principal.name));
    assert.equal(others.length, 1);
    assert.equal((await call('POST', end(others[0] ?? { id: 0 }))).status, 200);
    const again = await reviews.start(call, { kind: 'team', team: { name: 'Owners' } });
    const [mine] = await reviews.items(call, again.id);
    const asRoot = atrium.as('root');
    await rejected(asRoot, ['POST', reviews.path(`/${again.id}/items/${mine?.id}/end`)], 409, 'last_owner');
  });

  it('A closed review decides nothing more, and an open one has no record', async () => {
    const { call, org } = place;
    const reviews = reviewsOf(org.name);
    const { id } = await reviews.start(call, { kind: 'team', team: { name: 'crew' } });
    await rejected(call, ['GET', reviews.path(`/${id}/record`)], 409, 'review_open');
    const [item] = await reviews.items(call, id);
    const read = await call('GET', reviews.path(`/${id}`));
    const etag = read.headers.get('etag') ?? '';
    assert.equal((await call('POST', reviews.path(`/${id}/items/${item?.id}/keep`))).status, 200);
    const stale = await call('POST', reviews.path(`/${id}/close`), undefined, { 'If-Match': etag });
    assert.deepEqual([stale.status, stale.body.reason], [412, 'precondition_failed']);
    assert.equal((await call('POST', reviews.path(`/${id}/close`))).status, 200);
    await rejected(call, ['POST', reviews.path(`/${id}/close`)], 409, 'review_closed');
    await rejected(call, ['POST', reviews.path(`/${id}/items/${item?.id}/end`)], 409, 'review_closed');
  });
});
