import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assign, rejected } from '../../support/world/assignments.ts';
import { createTeam } from '../../support/world/people.ts';
import { openRequestPlace, type RequestPlace } from '../../support/world/requests.ts';
import { ENTERPRISE, newScimToken, patch, type ScimCall, scimCaller } from '../../support/world/scim.ts';

describe('Requests that the manager approves', () => {
  let atrium: TestServer | undefined;
  let place: RequestPlace;
  let scim: ScimCall;
  const server = async () => (atrium ??= await openTestServer());
  beforeEach(async () => {
    place = await openRequestPlace(await server());
    scim = scimCaller(await server(), await newScimToken(await server(), place.org.name, place.owner.name));
    await place.rules({ name: 'managers', approvers: 'manager' });
  });
  after(() => atrium?.close());

  const setManager = async (value: string | undefined, of = place.dan.id) => {
    const path = `${ENTERPRISE}:manager`;
    const change = value === undefined ? { op: 'Remove', path } : { op: 'Add', path, value };
    const answer = await scim('PATCH', `/Users/${of}`, patch(change));
    assert.equal(answer.status, 200, answer.text);
  };
  const asked = (name = place.dan.name) =>
    [place.as(name), ['POST', place.requests, { ...place.connect, for: 'PT1H', reason: 'INC-1' }]] as const;
  const cannotAsk = async (message: RegExp) => {
    const [as, request] = asked();
    const body = await rejected(as, [...request], 422, 'not_requestable');
    assert.match(body.message, message);
  };

  it('The rule is shown and audited as it was written, and a team called manager is a team', async () => {
    const { as, owner, org } = place;
    await createTeam((await server()).instance, { organizationId: org.id, name: 'manager', permission: 'none' });
    const path = `/orgs/${org.name}/request_rules`;
    const both = [
      { name: 'by the manager', match: {}, longest: 'P7D', approvals: 1, allow: true, approvers: 'manager' },
      { name: 'by the team', match: {}, longest: 'P7D', approvals: 1, allow: true, approvers: { team: 'manager' } },
    ];
    await place.rules(...both);
    assert.deepEqual((await as(owner.name)('GET', path)).body, both);
    const log = await auditOf((await server()).instance.db, org.id);
    const [entry] = log.filter(({ action }) => action === 'request_rules.update').slice(-1);
    const told = JSON.parse(entry?.after ?? '{}').rules.map(({ approvers }: { approvers: unknown }) => approvers);
    assert.deepEqual(told, ['manager', { team: 'manager' }]);
  });

  it('Only the manager of the requester decides, although others could make the change', async () => {
    const { ask, as, owner, lead, dan, approve, request } = place;
    await setManager(String(lead.id));
    const made = await ask();
    assert.deepEqual([made.approvers_count, made.approvals_needed], [1, 1]);
    await rejected(
      as(owner.name),
      ['POST', request(made.id, 'approve'), { digest: made.digest }],
      403,
      'not_an_approver',
    );
    await rejected(as(owner.name), ['POST', request(made.id, 'deny'), {}], 403, 'not_an_approver');
    await rejected(as(dan.name), ['POST', request(made.id, 'approve'), { digest: made.digest }], 403, 'own_request');
    const waiting = await as(lead.name)('GET', '/user/requests?for_me=true');
    assert.deepEqual(
      waiting.body.map(({ id }: { id: string }) => id),
      [made.id],
    );
    const done = await approve(made.id, lead.name);
    assert.deepEqual([done.status, done.body.state], [200, 'approved'], done.text);
  });

  it('Without a manager who is a member and could make the change, nothing can be requested', async () => {
    const { dan, cat, robot, as, requests, connect, org, owner } = place;
    await cannotAsk(/needs 1 approval of your manager, and no member/);
    await setManager(String(cat.id));
    await cannotAsk(/no member who could give it is known as your manager/);
    await setManager(String(dan.id));
    await cannotAsk(/no member/);
    const outside = (await (await server()).as('root')('GET', '/users/eve')).body;
    await setManager(String(outside.id));
    await cannotAsk(/no member/);
    const root = (await (await server()).as('root')('GET', '/user')).body;
    await setManager(String(root.id));
    await cannotAsk(/no member/);
    const token = await as(owner.name)('POST', `/robots/${robot}/tokens`, { name: 'ask', scopes: ['all'] });
    assert.equal(token.status, 201, token.text);
    await assign(place, place.looker.id, { type: 'robot_ac', id: robot }, { type: 'cluster', id: place.prod.id });
    const headers = { Authorization: `Bearer ${token.body.sha1}` };
    const answer = await (await server()).call(
      'POST',
      `/api/v1${requests}`,
      { ...connect, for: 'PT1H', reason: 'INC-1' },
      headers,
    );
    assert.deepEqual([answer.status, answer.body.reason], [422, 'not_requestable'], `${org.name} ${answer.text}`);
  });

  it('A new manager decides about what is open, the former one does not, and without one nobody does', async () => {
    const { ask, as, owner, lead, approve, request } = place;
    await setManager(String(lead.id));
    const made = await ask();
    await setManager(String(owner.id));
    const digest = { digest: made.digest };
    await rejected(as(lead.name), ['POST', request(made.id, 'approve'), digest], 404, 'request_not_found');
    await setManager(undefined);
    await rejected(as(owner.name), ['POST', request(made.id, 'approve'), digest], 403, 'not_an_approver');
    await setManager(String(owner.id));
    const done = await approve(made.id, owner.name);
    assert.deepEqual([done.status, done.body.state], [200, 'approved'], done.text);
  });

  it('A manager who leaves the company decides nothing, and two approvals are more than one manager can give', async () => {
    const { ask, as, owner, lead, request, rules } = place;
    await setManager(String(lead.id));
    const made = await ask();
    const off = await scim('PATCH', `/Users/${lead.id}`, patch({ op: 'Replace', path: 'active', value: 'False' }));
    assert.equal(off.status, 200, off.text);
    const gone = await as(lead.name)('POST', request(made.id, 'approve'), { digest: made.digest });
    assert.ok([401, 403, 404].includes(gone.status), gone.text);
    assert.equal((await as(owner.name)('GET', request(made.id))).body.approvers_count, 0);
    await cancelled(made.id);
    await setManager(String(owner.id));
    await rules({ name: 'two', approvers: 'manager', approvals: 2 });
    await cannotAsk(/needs 2 approvals of your manager, and you have only one/);
  });

  const cancelled = async (id: string) => {
    const answer = await place.as(place.dan.name)('POST', place.request(id, 'cancel'));
    assert.equal(answer.status, 200, answer.text);
  };
});
