import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { statusOf } from '../../../src/clusters/cluster.ts';
import { auditOf } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { createRobot } from '../../support/world/people.ts';

for (const driver of API_DRIVERS) {
  describe(`Heartbeats on ${driver}`, () => {
    let atrium: TestServer;
    let id: number;
    let robot: Record<string, string>;
    before(async () => {
      atrium = await openTestServer({ driver });
      const body = { name: 'beating', uid: crypto.randomUUID() };
      id = (await atrium.as('ann')('POST', '/orgs/acme/clusters', body)).body.id;
      robot = await robotOf('acme', 'ci');
    });
    after(() => atrium.close());

    async function robotOf(org: string, name: string, scopes = ['write:organization']) {
      const ownerId = atrium.world.orgs[org]?.id ?? 0n;
      const robotId = name === 'ci' ? atrium.world.robots.ci : await createRobot(atrium.instance, ownerId, name);
      const token = { accountId: ownerId, robotId: robotId ?? 0n, name: crypto.randomUUID(), scopes };
      return { Authorization: `token ${(await atrium.instance.identity.tokens.issue(token)).text}` };
    }
    const beat = (body: unknown = {}, cluster: number | bigint = id, headers = robot) =>
      atrium.as()('POST', `/clusters/${cluster}/heartbeat`, body, headers);
    const shown = async () => (await atrium.as('cat')('GET', `/clusters/${id}`)).body;
    const status = async () => (await shown()).status.response;
    const phases = async () => {
      const entries = await auditOf(atrium.instance.db, atrium.world.orgs.acme?.id ?? 0n);
      return entries
        .filter(({ action, object_id }) => action === 'cluster.phase' && object_id === BigInt(id))
        .map(({ before, after }) => `${JSON.parse(before ?? '').phase} ${JSON.parse(after ?? '').phase}`);
    };
    const silence = (seconds: number) =>
      atrium.instance.db.query(
        statement(`update cluster set heartbeat_at = now() - $2 * interval '1 second' where id = $1`),
        [id, seconds],
      );

    it(`A heartbeat without a body makes a registered cluster active on ${driver}`, async () => {
      assert.equal((await status()).phase, 'Registered');
      const answer = await atrium.as()('POST', `/clusters/${id}/heartbeat`, undefined, robot);
      assert.deepEqual([answer.status, answer.text], [204, '']);
      const { heartbeatAt, status: now } = await shown();
      assert.deepEqual(now.response, { phase: 'Active', reason: '', message: '' });
      assert.ok(Math.abs(Date.parse(heartbeatAt) - Date.now()) < 60_000);
      assert.deepEqual(await phases(), ['Registered Active']);
    });

    it(`A heartbeat updates the cluster status and leaves omitted fields unchanged on ${driver}`, async () => {
      const reason = 'MissingComponent';
      const body = { phase: 'NotReady', reason, message: 'no agent', nodeCount: 9, orchestratorVersion: 'v1.34.0' };
      assert.equal((await beat(body)).status, 204);
      assert.deepEqual(await status(), { phase: 'NotReady', reason, message: 'no agent' });
      await beat({ nodeCount: 10 });
      const { nodeCount, orchestratorVersion, status: now } = await shown();
      assert.deepEqual([nodeCount, orchestratorVersion, now.response.phase], [10, 'v1.34.0', 'NotReady']);
      assert.equal(now.response.message, 'no agent');
      await beat({ phase: 'NotReady' });
      assert.equal((await status()).message, '', 'a phase is said with its message, or without any');
      await beat({ phase: 'Active', message: 'x'.repeat(5000) });
      assert.equal((await status()).message.length, 1000);
    });

    it(`Heartbeats are audited only when the phase changes and never advance the revision on ${driver}`, async () => {
      await beat({ phase: 'Active' });
      const before = await phases();
      await atrium.instance.revisions.current();
      const revision = atrium.instance.revisions.latest;
      const etag = (await atrium.as('ann')('GET', `/clusters/${id}`)).headers.get('etag') ?? '';
      for (let time = 0; time < 20; time++) await beat(time % 2 ? {} : { phase: 'Active', nodeCount: time });
      assert.deepEqual(await phases(), before);
      await Promise.all(Array.from({ length: 8 }, () => beat({ phase: 'Inactive' })));
      assert.deepEqual(await phases(), [...before, 'Active Inactive'], 'once, however many say it');
      await atrium.instance.revisions.current();
      assert.equal(atrium.instance.revisions.latest, revision);
      // The fields that an administrator edits did not change.
      const edit = await atrium.as('ann')('PATCH', `/clusters/${id}`, { project: 'p' }, { 'If-Match': etag });
      assert.equal(edit.status, 200);
      const entries = await auditOf(atrium.instance.db, atrium.world.orgs.acme?.id ?? 0n);
      const last = entries.findLast(({ action }) => action === 'cluster.phase');
      assert.equal(last?.actor_name, 'ci');
    });

    it(`A silent cluster becomes NotConnected, then Lost, and recovers with the next heartbeat on ${driver}`, async () => {
      await beat({ phase: 'NotReady', reason: 'AuthIssue' });
      const before = await phases();
      await silence(110);
      assert.equal((await status()).phase, 'NotReady');
      await silence(125);
      const silent = await status();
      assert.deepEqual([silent.phase, silent.reason], ['NotConnected', 'Unknown']);
      assert.match(silent.message, /^no heartbeat since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      const listed = await atrium.as('cat')('GET', '/user/clusters?all=true');
      assert.equal(listed.body.find((one: { id: number }) => one.id === id).status.response.phase, 'NotConnected');
      await beat();
      assert.equal((await status()).phase, 'NotReady', 'what was said last');
      await silence(90_000);
      assert.equal((await status()).phase, 'Lost');
      await Promise.all([beat({ phase: 'Active' }), beat({ phase: 'Active' }), beat()]);
      assert.equal((await status()).phase, 'Active');
      const added = (await phases()).slice(before.length);
      assert.deepEqual([added[0], added.at(-1)?.split(' ')[1]], ['NotConnected NotReady', 'Active']);
      assert.equal(added.filter((line) => line.startsWith('Lost')).length, 1);
    });

    it(`A heartbeat after the clock was set back counts from then on, not from the future, on ${driver}`, async () => {
      const isNow = async () => Math.abs(Date.parse((await shown()).heartbeatAt) - Date.now()) < 60_000;
      for (const body of [{}, { phase: 'NotReady' }, { phase: 'Active' }]) {
        await silence(-3600);
        assert.equal(await isNow(), false);
        assert.equal((await beat(body)).status, 204);
        assert.equal(await isNow(), true);
      }
    });

    it(`Heartbeats are accepted only from callers who may edit the cluster and robots of its owner on ${driver}`, async () => {
      for (const who of ['ann', 'bob', 'root'])
        assert.equal((await atrium.as(who)('POST', `/clusters/${id}/heartbeat`, {})).status, 204, who);
      assert.equal((await atrium.as('cat')('POST', `/clusters/${id}/heartbeat`, {})).status, 403);
      assert.equal((await atrium.as('eve')('POST', `/clusters/${id}/heartbeat`, {})).status, 404);
      const missing = await beat({}, 999_999);
      const foreign = await robotOf('globex', 'spy', ['all']);
      for (const cluster of [id, atrium.world.clusters.laptop?.id ?? 0n]) {
        const answer = await beat({}, cluster, foreign);
        assert.deepEqual([answer.status, answer.body], [404, missing.body]);
      }
      const narrow = await beat({}, id, await robotOf('acme', 'ci', ['read:organization', 'write:user']));
      assert.equal(narrow.status, 403);
      assert.match(narrow.body.message, /required=\[write:organization\]/);
    });

    it(`An invalid heartbeat is rejected and changes nothing on ${driver}`, async () => {
      const before = await shown();
      const table: readonly [unknown, RegExp][] = [
        [{ phase: 'Sleepy' }, /^phase must be one of Active, Inactive/],
        [{ phase: null }, /^phase must be string/],
        [{ nodeCount: -1 }, /^nodeCount must be >= 0/],
        [{ nodeCount: '3' }, /^nodeCount must be integer/],
        [{ message: 7 }, /^message must be string/],
        [[], /object/],
      ];
      for (const [body, message] of table) {
        const answer = await beat(body);
        assert.equal(answer.status, 422, answer.text);
        assert.match(answer.body.message, message);
      }
      assert.equal((await atrium.as()('POST', '/clusters/x/heartbeat', {}, robot)).status, 400);
      assert.deepEqual({ ...(await shown()), age: '' }, { ...before, age: '' });
    });
  });
}

describe('Cluster status over time', () => {
  const now = new Date('2030-01-01T00:00:00Z');
  const table: readonly [said: string, silentSeconds: number | undefined, shown: string][] = [
    ['Registered', undefined, 'Registered'],
    ['Active', undefined, 'Active'],
    ['Active', -30, 'Active'],
    ['Active', 120, 'Active'],
    ['Active', 121, 'NotConnected'],
    ['NotReady', 121, 'NotConnected'],
    ['NotReady', 86_401, 'Lost'],
    ['NotConnected', 3600, 'NotConnected'],
    ['NotConnected', 86_401, 'Lost'],
    ['Inactive', 1_000_000, 'Inactive'],
    ['NotImported', 1_000_000, 'NotImported'],
  ];
  for (const [phase, seconds, shown] of table) {
    it(`Phase ${phase} is shown as ${shown} ${seconds === undefined ? 'without a heartbeat' : `${seconds} s after the last heartbeat`}`, () => {
      const heartbeatAt = seconds === undefined ? null : new Date(now.getTime() - seconds * 1000);
      assert.equal(statusOf({ phase, reason: '', message: '', heartbeatAt }, now).phase, shown);
    });
  }
});
