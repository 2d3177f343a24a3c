import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { authzenPoint, question } from '../../support/world/authzen.ts';
import { openRequestPlace, type RequestPlace } from '../../support/world/requests.ts';

const TYPE = 'urn:openid:authzen:access-request:error:';

describe('The access request profile of AuthZEN', () => {
  let atrium: TestServer;
  let place: RequestPlace;
  let point: ReturnType<typeof authzenPoint>;
  before(async () => {
    atrium = await openTestServer();
    place = await openRequestPlace(atrium);
    point = authzenPoint(atrium, place.org.name);
  });
  after(() => atrium.close());

  const dan = (path: string, body?: unknown, headers?: Record<string, string>, method?: string) =>
    point.as(place.dan.name)(path, body, headers, method);
  const connect = () => question(place.dan.name, 'connect', place.prod.id);
  const denied = async (body = connect()) => (await dan('evaluation', body)).body;
  const wish = async (more: object = {}, body = connect()) => {
    const { evaluation_id, access_request } = (await denied(body)).context;
    const context = { business_justification: 'INC-1' };
    return { ...body, context, denial: { evaluation_id, expires_at: access_request.expires_at }, ...more };
  };

  it('A denial that can be asked about says where and until when; one that cannot does not', async () => {
    const { context, decision } = await denied();
    assert.equal(decision, false);
    const { evaluation_id: id, evaluated_at: at, access_request: request, reason } = context;
    assert.match(id, /^eval_[\w.-]+$/);
    assert.equal(reason, 'approval_required');
    assert.equal(request.endpoint, `${atrium.url}/access/v1/${place.org.name}/requests`);
    const form = `/orgs/${place.org.name}/requests/new?object=cluster:${place.prod.id}&relation=can_connect`;
    assert.equal(request.form_url, `${atrium.url}${form}`);
    const minutes = (Date.parse(request.expires_at) - Date.parse(at)) / 60_000;
    assert.ok(minutes > 9 && minutes <= 10, request.expires_at);
    const closed = await denied(question(place.dan.name, 'delete', { type: 'organization', id: place.org.name }));
    assert.deepEqual([closed.decision, closed.context.access_request], [false, undefined]);
    assert.equal((await denied(question(place.dan.name, 'view', place.staging.id))).context, undefined);
  });

  it('A request is approved here, the task says so, and the evaluation is then true', async () => {
    const made = await dan('requests', await wish());
    assert.equal(made.status, 202, made.text);
    const { task } = made.body;
    assert.deepEqual([task.status, task.progress.total_steps], ['pending', 1]);
    assert.equal(made.headers.get('location'), task.status_endpoint);
    const path = `requests/${task.id}`;
    const pending = await dan(path, undefined, undefined, 'GET');
    assert.equal(pending.headers.get('retry-after'), '5');
    assert.deepEqual(pending.body, made.body);
    const same = await dan('requests', await wish());
    assert.equal(same.body.task.id, task.id);

    const approved = await place.approve(task.id);
    assert.equal(approved.status, 200, approved.text);
    const done = await dan(path, undefined, undefined, 'GET');
    assert.equal(done.body.task.status, 'approved');
    const { mode, approval } = done.body.result;
    assert.deepEqual([mode, approval.id, approval.state], ['reevaluate', task.id, 'active']);
    const hours = (Date.parse(approval.approved_until) - Date.now()) / 3_600_000;
    assert.ok(hours > 3.9 && hours <= 4, approval.approved_until);
    assert.equal((await denied()).decision, true);

    const late = await dan(`${path}/cancel`, {});
    assert.deepEqual([late.status, late.body.type], [409, `${TYPE}invalid_task_state`]);
    assert.match(late.headers.get('content-type') ?? '', /^application\/problem\+json/);
    assert.equal((await place.as(place.dan.name)('POST', place.request(task.id, 'end'))).status, 200);
    const ended = await dan(path, undefined, undefined, 'GET');
    assert.deepEqual([ended.body.task.status, ended.body.result.approval.state], ['approved', 'ended']);
    assert.equal((await denied()).decision, false);
  });

  it('A pending request can be cancelled once', async () => {
    const made = await dan('requests', await wish());
    const cancelled = await dan(`requests/${made.body.task.id}/cancel`, { reason: 'done' });
    assert.deepEqual([cancelled.status, cancelled.body.task.status], [200, 'cancelled'], cancelled.text);
    const again = await dan(`requests/${made.body.task.id}/cancel`, {});
    assert.deepEqual([again.status, again.body.type], [409, `${TYPE}invalid_task_state`]);
  });

  it('Where a rule needs no approval, the answer is the result', async () => {
    await place.rules({ name: 'free', match: { relations: ['can_connect'] }, approvals: 0, allow: true });
    const until = new Date(Date.now() + 1_800_000).toISOString().replace(/\.\d+/, '');
    const made = await dan('requests', await wish({ requested_access: { requested_until: until } }));
    assert.equal(made.status, 201, made.text);
    assert.deepEqual([made.body.task.status, made.body.result.approval.approved_until], ['approved', until]);
    await place.as(place.dan.name)('POST', place.request(made.body.task.id, 'end'));
    await place.rules();
  });

  it('An Idempotency-Key makes one request, and is good for one body', async () => {
    const headers = { 'Idempotency-Key': 'profile-1' };
    const body = await wish();
    const [first, second] = [await dan('requests', body, headers), await dan('requests', body, headers)];
    assert.deepEqual([second.status, second.body], [first.status, first.body]);
    assert.equal(second.headers.get('location'), first.headers.get('location'));
    const other = await dan('requests', { ...body, context: { business_justification: 'INC-2' } }, headers);
    assert.deepEqual([other.status, other.body.type], [409, `${TYPE}duplicate_request`]);
    await dan(`requests/${first.body.task.id}/cancel`, {});
  });

  it('What is wrong is a problem as the profile names it', async () => {
    const good = await wish();
    const { denial, ...bare } = good;
    const elsewhere = await wish({}, question(place.dan.name, 'edit', place.prod.id));
    const cases: [object, number, string, string?][] = [
      [{ ...good, denial: {} }, 400, 'invalid_denial_binding'],
      [{ ...good, denial: { evaluation_id: `${denial.evaluation_id}x` } }, 400, 'invalid_denial_binding'],
      [{ ...good, denial: elsewhere.denial }, 400, 'invalid_denial_binding'],
      [{ ...good, context: { namespace: 'web' } }, 400, 'invalid_denial_binding'],
      [bare, 400, ''],
      [{ ...good, context: {} }, 400, ''],
      [{ ...good, items: [] }, 400, ''],
      [{ ...good, requested_access: { requested_until: '2099-01-01T00:00:00Z' } }, 400, 'not_requestable'],
      [{ ...good, requested_access: { emergency: true } }, 400, 'not_requestable'],
    ];
    for (const [body, status, type] of cases) {
      const answer = await dan('requests', body);
      const wanted = type === '' ? 'about:blank' : `${TYPE}${type}`;
      assert.deepEqual([answer.status, answer.body.type, answer.body.status], [status, wanted, status], answer.text);
    }
    const other = { ...good, subject: { type: 'user', id: place.cat.name } };
    const rejected = await point.as(place.owner.name)('requests', other);
    assert.deepEqual([rejected.status, rejected.body.reason], [403, 'not_for_others']);
    for (const id of ['req_1', 'nonsense']) {
      const unknown = await dan(`requests/${id}`, undefined, undefined, 'GET');
      assert.deepEqual([unknown.status, unknown.body.type], [404, `${TYPE}unknown_task`]);
    }
    const none = await point.as()('requests', good);
    assert.deepEqual([none.status, none.body.type], [401, 'about:blank']);
  });

  it('A denial that is older than ten minutes must be evaluated again', async (t) => {
    const body = await wish();
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 11 * 60_000 });
    const answer = await dan('requests', body);
    t.mock.timers.reset();
    assert.deepEqual([answer.status, answer.body.type], [410, `${TYPE}expired_denial`], answer.text);
  });
});
