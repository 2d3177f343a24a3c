import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { rejected } from '../../support/world/assignments.ts';
import { addMember } from '../../support/world/people.ts';
import { openRequestPlace } from '../../support/world/requests.ts';

describe('How many access requests there are, and for how long', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ env: { LIMIT_OPEN_REQUESTS_PER_ORGANIZATION: '2' } });
  });
  after(() => atrium.close());

  const run = (text: string, values: readonly unknown[] = []) =>
    atrium.instance.db.query(statement(text), values) as Promise<Record<string, unknown>[]>;
  const count = async (id: bigint) =>
    (await run('select count(*)::integer as n from access_request where organization_id = $1', [id]))[0]?.n;

  it('An organization has a limit of open requests, which decided ones do not count for', async () => {
    const { ask, as, dan, cat, requests, connect, request } = await openRequestPlace(atrium);
    const [one] = [await ask(), await ask({ namespaces: ['a'] })];
    const body = { ...connect, for: 'PT1H', reason: 'x' };
    const full = await rejected(as(cat.name), ['POST', requests, body], 422, 'limit_reached');
    assert.match(full.message, /LIMIT_OPEN_REQUESTS_PER_ORGANIZATION/);
    const same = await as(dan.name)('POST', requests, body, { 'Idempotency-Key': 'the-same-again' });
    assert.deepEqual([same.status, same.body.id], [200, one.id]);
    assert.equal((await as(dan.name)('POST', request(one.id, 'cancel'))).status, 200);
    const repeated = await as(dan.name)('POST', requests, body, { 'Idempotency-Key': 'the-same-again' });
    assert.deepEqual([repeated.status, repeated.text], [200, same.text]);
    assert.equal((await as(cat.name)('POST', requests, body)).status, 201);
  });

  it('A user makes at most sixty requests in an hour', async () => {
    const { ask, as, dan, requests, request, connect } = await openRequestPlace(atrium);
    const { id } = await ask();
    assert.equal((await as(dan.name)('POST', request(id, 'cancel'))).status, 200);
    const columns = `organization_id, state, by_type, by_id, relation, object_type, object_id, object_name, role_id, team_id,
      change_name, reason, approvals, created_at, closes_at, closed_at, effects, digest`;
    await run(
      `insert into access_request (id, ${columns}) select id + n, ${columns} from access_request, generate_series(1, 59) n
        where id = $1`,
      [BigInt(id.slice('req_'.length))],
    );
    const answer = await as(dan.name)('POST', requests, { ...connect, for: 'PT1H', reason: 'x' });
    assert.equal(answer.status, 429, answer.text);
    assert.ok(Number(answer.headers.get('retry-after')) > 3000);
    await run(`update access_request set created_at = created_at - interval '61 minutes' where by_id = $1`, [dan.id]);
    assert.equal((await as(dan.name)('POST', requests, { ...connect, for: 'PT1H', reason: 'x' })).status, 201);
  });

  it('The first denial closes a request that needs several approvals', async () => {
    const { ask, rules, approve, as, lead, owner, request } = await openRequestPlace(atrium);
    await rules({ name: 'two', approvals: 2 });
    const made = await ask();
    assert.equal((await approve(made.id, lead.name)).body.state, 'open');
    const denied = await as(owner.name)('POST', request(made.id, 'deny'));
    assert.deepEqual([denied.status, denied.body.state, denied.body.decisions.length], [200, 'denied', 2], denied.text);
  });

  it('Deleting a user fails their open requests, and deleting the organization removes all of them', async () => {
    const { ask, as, dan, cat, owner, org, crew, call, request } = await openRequestPlace(atrium);
    await addMember(atrium.instance, BigInt(crew), cat.id);
    const made = await ask({}, cat.name);
    const gone = await atrium.as('root')('DELETE', `/admin/users/${cat.name}`);
    assert.ok(gone.status < 300, gone.text);
    const failed = await as(owner.name)('GET', request(made.id));
    assert.deepEqual([failed.status, failed.body.state, failed.body.by.name], [200, 'failed', ''], failed.text);
    await ask({}, dan.name);
    assert.equal((await call('DELETE', `/orgs/${org.name}`)).status, 204);
    assert.equal(await count(org.id), 0);
  });

  it('Requests that were closed more than 400 days ago are removed, and no others', async () => {
    const { ask, as, dan, rules, org, request } = await openRequestPlace(atrium);
    const close = async (id: string, verb: string) =>
      assert.equal((await as(dan.name)('POST', request(id, verb))).status, 200);
    const [old, young] = [await ask(), await ask({ namespaces: ['a'] })];
    for (const { id } of [old, young]) await close(id, 'cancel');
    await rules({ name: 'emergency', match: { roles: ['cluster-operator'] }, break_glass: true });
    const glass = await ask({ break_glass: true, for: 'PT1H' });
    await close(glass.id, 'end');
    const open = await ask({ namespaces: ['b'] });
    const age = `update access_request set created_at = created_at - $2 * interval '1 day',
      closed_at = closed_at - $2 * interval '1 day' where id = $1`;
    const days: readonly (readonly [{ readonly id: string }, number])[] = [
      [old, 401],
      [young, 399],
      [glass, 401],
      [open, 401],
    ];
    for (const [{ id }, number] of days) await run(age, [BigInt(id.slice('req_'.length)), number]);
    await atrium.instance.features.sweepRequests();
    const left = await run('select id from access_request where organization_id = $1 order by id', [org.id]);
    const kept = [young, glass, open].map(({ id }) => id).sort();
    assert.deepEqual(left.map(({ id }) => `req_${id}`).sort(), kept);
  });
});
