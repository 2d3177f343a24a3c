import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { checkChain } from '../../../client/audit-chain.ts';
import { OCSF_NAMES, ocsfClassOf } from '../../../src/audit/ocsf-classes.ts';
import { AUDIT_ACTIONS } from '../../../src/changes/audit-actions.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assertRejected, clusterPermission, numbersOf } from '../../support/world/authz.ts';
import { openScene } from '../../support/world/expiry.ts';

interface Event {
  readonly class_uid: number;
  readonly activity_id: number;
  readonly [member: string]: unknown;
}

/** What each class of the published schema requires besides what every event has, and at least one of. */
const REQUIRED: Readonly<Record<number, { readonly all: readonly string[]; readonly oneOf?: readonly string[] }>> = {
  3001: { all: ['user'] },
  3002: { all: ['user'], oneOf: ['service', 'dst_endpoint'] },
  3004: { all: ['entity'] },
  3005: { all: ['user'] },
  3006: { all: ['group'] },
  6003: { all: ['actor', 'api', 'src_endpoint'] },
};
/** Of the published schema; 0 and 99 have all classes. */
const ACTIVITIES: Readonly<Record<number, readonly number[]>> = {
  3001: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
  3002: [1, 2, 3, 4, 5, 6, 7],
  3004: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13],
  3005: [1, 2, 3, 4],
  3006: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13],
  6003: [1, 2, 3, 4],
};

function assertValid(event: Event): void {
  const { class_uid: uid, activity_id: activity } = event;
  const { all, oneOf } = REQUIRED[uid] ?? assert.fail(`class ${uid}`);
  assert.ok(activity === 99 || ACTIVITIES[uid]?.includes(activity), `${uid} has no activity ${activity}`);
  assert.equal(event.type_uid, uid * 100 + activity);
  assert.equal(event.category_uid, Math.floor(uid / 1000));
  assert.equal(event.severity_id, 1);
  assert.ok(event.status_id === 1 || event.status_id === 2);
  assert.ok(Number.isSafeInteger(event.time));
  if (activity === 99) assert.equal(typeof event.activity_name, 'string', 'the name is required if it is another');
  for (const member of all) assert.equal(typeof event[member], 'object', `${uid} without ${member}`);
  if (oneOf) assert.ok(oneOf.some((member) => event[member] !== undefined));
  const { metadata } = event as unknown as { metadata: Record<string, unknown> };
  assert.equal(metadata.version, '1.8.0');
  assert.deepEqual(metadata.product, { name: 'Atrium', vendor_name: 'Atrium' });
  for (const part of ['uid', 'tenant_uid', 'log_name', 'original_time']) assert.equal(typeof metadata[part], 'string');
}

const eventsIn = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('Events of OCSF from the audit log', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('Every entry of the demo world is a valid event, with its line as a text that verifies', async () => {
    const { text, headers } = await atrium.as('root')('GET', '/admin/audit/export?format=ocsf');
    assert.equal(headers.get('content-type'), 'application/x-ndjson; charset=utf-8');
    const plain = await atrium.as('root')('GET', '/admin/audit/export');
    const events = eventsIn(text);
    for (const event of events) assertValid(event);
    const lines = events.map(({ unmapped }) => unmapped.entry).join('\n');
    assert.equal(`${lines}\n`, plain.text, 'what the plain export has');
    const acme = numbersOf(atrium).org('acme');
    const ofAcme = lines.split('\n').filter((line) => line.includes(`"organization_id":${acme},`));
    const { entries, firstBroken, lastHash } = await checkChain(ofAcme);
    assert.deepEqual([entries, firstBroken], [ofAcme.length, undefined]);
    const last = events.findLast(({ metadata }) => metadata.tenant_uid === String(acme));
    assert.equal(last.unmapped.hash, lastHash);
    assert.equal(last.unmapped.number, last.metadata.uid);
  });

  it('An event says who did what to whom in the words of its class', async () => {
    const { owner, other, org, call, put } = await openScene(atrium);
    await put(`/teams/${org.team('Owners')}/members/${other.name}`);
    assert.equal((await call('DELETE', `/teams/${org.team('Owners')}/members/${other.name}`)).status, 204);
    await put(`/teams/${org.team('Viewers')}/members/${other.name}`);
    const robot = await call('POST', `/orgs/${org.name}/robots`, { name: 'deployer' });
    assert.equal(robot.status, 201, robot.text);
    const permissions = [clusterPermission('view clusters')];
    const role = await call('POST', `/authz/roles?org=${org.name}`, { name: 'ops', permissions, teamIDs: [] });
    assert.equal(role.status, 201, role.text);
    const user = (await call('GET', `/users/${other.name}`)).body.id;
    for (const to of [
      { type: 'team', id: org.team('Viewers') },
      { type: 'user', id: user },
    ]) {
      const body = { role: { id: role.body.id }, to, on: { type: 'organization', name: org.name } };
      const made = await call('POST', `/authz/assignments?org=${org.name}`, body);
      assert.equal(made.status, 201, made.text);
    }
    const refused = await call('PUT', '/admin/users/root/password', { password: 'x' });
    assert.ok(refused.status >= 400);
    const { text } = await call('GET', `/orgs/${org.name}/audit/export?format=ocsf`);
    const shown = eventsIn(text).map((event) => {
      assertValid(event);
      assert.equal(event.actor.user.name, owner.name);
      assert.equal(event.actor.user.type_id, 1);
      const { type_uid: type, activity_name: activity, user, group, entity, privileges } = event;
      return [type, activity, group?.name ?? entity?.name, user?.name, privileges].map((one) => one ?? '');
    });
    assert.deepEqual(shown.slice(-7), [
      [300603, 'Add User', 'Owners', other.name, ''],
      [300604, 'Remove User', 'Owners', other.name, ''],
      [300603, 'Add User', 'Viewers', other.name, ''],
      [300401, 'Create', 'deployer', '', ''],
      [300401, 'Create', 'ops', '', ''],
      [300612, 'Assign Role', 'Viewers', '', ['ops']],
      [300503, 'Assign Role', '', other.name, ['ops']],
    ]);
  });

  it('What was denied is an event that failed, and robots are system accounts', async () => {
    const { org, call, other } = await openScene(atrium);
    const made = await call('POST', `/orgs/${org.name}/robots`, { name: 'bot' });
    const token = await call('POST', `/robots/${made.body.id}/tokens`, {
      ...{ name: 'self', scopes: ['write:organization'], can_rotate: true },
    });
    assert.equal(token.status, 201, token.text);
    const rotated = await atrium.call('POST', '/api/v1/user/token/rotate', undefined, {
      Authorization: `token ${token.body.sha1 ?? token.body.token}`,
    });
    assert.ok(rotated.status < 300, rotated.text);
    const denied = await atrium.call('DELETE', `/api/v1/orgs/${org.name}`, undefined, {
      Authorization: `token ${other.token}`,
    });
    assert.ok([403, 404].includes(denied.status), denied.text);
    const { text } = await call('GET', `/orgs/${org.name}/audit/export?format=ocsf`);
    const events = eventsIn(text);
    for (const event of events) assertValid(event);
    const failure = events.find(({ activity_name: name }) => name === 'access.denied');
    assert.deepEqual(
      [failure.type_uid, failure.status_id, failure.api.operation, failure.src_endpoint],
      [600399, 2, 'access.denied', { name: 'unknown' }],
    );
    const byRobot = events.find(({ actor }) => actor.user.name === 'bot');
    assert.equal(byRobot.actor.user.type_id, 3);
  });

  it('Every action of the catalogue has a class and an activity of it', () => {
    for (const action of Object.keys(AUDIT_ACTIONS)) {
      const { classUid, activity } = ocsfClassOf(action, {}, {});
      assert.ok(activity === 99 || OCSF_NAMES[classUid].activities[activity], action);
      assert.ok(activity === 99 || ACTIVITIES[classUid]?.includes(activity), action);
    }
    for (const [verb, activity] of Object.entries({ create: 1, update: 3, delete: 4 })) {
      assert.deepEqual(ocsfClassOf(`cluster.${verb}`, {}, {}), { classUid: 3004, activity });
    }
    assert.deepEqual(ocsfClassOf('user.update', { active: true }, { active: false }).activity, 5);
    assert.deepEqual(ocsfClassOf('user.update', { prohibitLogin: true }, { prohibitLogin: false }).activity, 2);
    assert.deepEqual(ocsfClassOf('user.update', { active: true }, { active: true }).classUid, 3004);
    const toTeam = { to: { type: 'team', id: 1, name: 'a' } };
    assert.deepEqual(ocsfClassOf('assignment.end', toTeam, {}), { classUid: 3006, activity: 13 });
  });

  for (const path of ['/orgs/acme/audit/export', '/user/audit/export', '/admin/audit/export']) {
    it(`GET ${path} rejects an unknown format`, () =>
      assertRejected(atrium, {
        ...{ who: path.startsWith('/admin') ? 'root' : 'ann', send: ['GET', `${path}?format=cef`] },
        ...{ status: 400, message: /^format must be/ },
      }));
  }

  it('The log of an account is exported as events, too', async () => {
    const { text } = await atrium.as('ann')('GET', '/user/audit/export?format=ocsf');
    for (const event of eventsIn(text)) assertValid(event);
  });
});
