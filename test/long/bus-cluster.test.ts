import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { connect, credsAuthenticator } from '@nats-io/transport-node';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { until } from '../support/checks/until.ts';
import { fileOf, inboxOf } from '../support/services/bus.ts';
import type { TestNats } from '../support/services/nats.ts';
import { openTestCluster, rejects, type TestCluster } from '../support/services/nats-cluster.ts';
import { lacks } from '../support/services/requirements.ts';
import { setActive } from '../support/world/people.ts';

const SERVERS = 3;
const KILLS = COUNTS.busKills;
const RESOURCES = 20;
const KNOWN_WITHIN_S = 20;

describe('A bus of three servers', { skip: lacks('nats-server') }, () => {
  let cluster: TestCluster;
  const users = (name: string) => cluster.atrium.world.users[name]?.id ?? 0n;
  const uid = () => cluster.atrium.world.clusters.prod?.uid ?? '';
  const credentials = async (name: string) => {
    const { status, body } = await cluster.atrium.as(name)('GET', '/user/bus/credentials');
    assert.equal(status, 200);
    return fileOf(body);
  };
  const history = () => cluster.atrium.as('root')('GET', `/user/bus/cluster-resource-history?cluster=${uid()}`);

  before(async () => {
    cluster = await openTestCluster(SERVERS);
    await until(async () => (await history()).status === 200);
  });
  after(() => cluster?.close());

  it('Each address of a bus is given to clients', async () => {
    const { body } = await cluster.atrium.as('ann')('GET', '/user/bus/credentials');
    const { servers } = cluster;
    assert.deepEqual(body.busEndpoints, [...servers.map(({ url }) => url), ...servers.map(({ wsUrl }) => wsUrl)]);
  });

  it(`Credentials, revocation and history continue while each server is killed, ${KILLS} times in all`, async () => {
    const load = startLoad();
    const dead = await credentials('bob');
    await until(async () => load.reported > 0);
    for (let kill = 0; kill < KILLS; kill++) {
      const lost = cluster.servers[kill % SERVERS] ?? assert.fail();
      const others = cluster.servers.filter((one) => one !== lost);
      await lost.kill();
      // Who is closed while a server is away is rejected by the others, and by that server when it is back.
      const name = `fan0${1 + (kill % 6)}`;
      const revoked = fileOf((await adminCredentials(name)).body);
      for (const server of others) assert.equal(await rejects(server, revoked), false);
      await setActive(cluster.atrium.instance, users(name), false);
      await untilRejected(others, revoked);
      const before = load.reported;
      await until(() => load.reported >= before + RESOURCES);
      await until(async () => (await history()).status === 200);
      await lost.restart();
      const back = performance.now();
      await untilRejected([lost], revoked);
      // By itself, NATS would ask the other servers after two minutes, and Atrium repeats everything after one.
      const seconds = (performance.now() - back) / 1000;
      assert.ok(seconds < KNOWN_WITHIN_S, `it accepted a revoked key for ${seconds.toFixed(1)} s`);
      await setActive(cluster.atrium.instance, users(name), true);
      assert.equal(await rejects(lost, revoked), true, 'a key that was revoked never comes back');
      assert.equal(await rejects(lost, dead), false, 'others keep theirs');
      progress(`kill ${kill + 1} of ${KILLS}: ${load.reported} reports, ${load.issued} credentials so far`);
    }
    await load.stop();
    assert.deepEqual(load.faults, []);
    assert.ok(load.issued > 0);
    // Nothing that the bus had acknowledged is missing.
    await until(async () => {
      const { status, body } = await history();
      if (status !== 200) return false;
      const newest = new Map<string, string>();
      for (const { key, values } of body.items) newest.set(key, values.at(-1).version);
      return [...load.versions].every(([key, version]) => Number(newest.get(key)) >= version);
    });

    async function adminCredentials(name: string) {
      const answer = await cluster.atrium.as('root')('GET', `/user/bus/user_credentials?user=${name}`);
      assert.equal(answer.status, 200);
      return answer;
    }
  });

  async function untilRejected(servers: readonly TestNats[], file: string): Promise<void> {
    for (const server of servers) await until(() => rejects(server, file));
  }

  /** A cluster's agent that reports its resources one after the other, and a user who fetches credentials. */
  function startLoad() {
    let isOver = false;
    const faults: string[] = [];
    const versions = new Map<string, number>();
    const load = { reported: 0, issued: 0, faults, versions, stop };
    const lives = Promise.all([report(), issue()]);
    return load;

    async function report(): Promise<void> {
      const connection = await connect({
        servers: cluster.servers.map(({ url }) => url),
        authenticator: credsAuthenticator(Buffer.from(await credentials('ann'))),
        inboxPrefix: inboxOf(cluster.atrium, 'ann'),
        maxReconnectAttempts: -1,
        reconnectTimeWait: 50,
      });
      const stream = jetstream(connection, { timeout: 2000 });
      for (let version = 1; !isOver; version++) {
        const name = `r${version % RESOURCES}`;
        const text = JSON.stringify({ version: String(version), timestamp: '2026-01-02T03:04:05Z' });
        try {
          // Only what is acknowledged counts. An agent repeats the others, and so does this loop.
          await stream.publish(`history.${uid()}.apps.deployments.${name}`, text);
          versions.set(`apps/deployments/${name}`, version);
          load.reported += 1;
        } catch {
          await pause(50);
        }
      }
      await connection.close();
    }

    async function issue(): Promise<void> {
      while (!isOver) {
        const { status } = await cluster.atrium.as('dan')('GET', '/user/bus/credentials');
        if (status === 200) load.issued += 1;
        else faults.push(`credentials: ${status}`);
        await pause(20);
      }
    }

    async function stop(): Promise<void> {
      isOver = true;
      await lives;
    }
  }
});
