import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { until } from '../support/checks/until.ts';
import { openWire, type Wire } from '../support/faults/wire.ts';
import { type ServerProcess, startServer } from '../support/server/process.ts';
import { JUDGE, openTestServer, TEST_KEY } from '../support/server/server.ts';
import { onServer } from '../support/services/postgres.ts';
import { lacks } from '../support/services/requirements.ts';
import { makeHolder } from '../support/world/authz.ts';
import { CLUSTER_PERMISSIONS, ROLE_STATES } from '../support/world/role-states.ts';

const PAIRS = Number(process.env.TEST_PAIRS ?? COUNTS.stalePairs);
const FAULTS = Number(process.env.TEST_FAULTS ?? COUNTS.staleFaults);
const REPLICAS = 3;
const HOLDERS = 8;
const MAX_TRIES = 2000;
const RETRY_MS = 25;
const FAULT_MS = 300;

interface Replica {
  readonly wire: Wire;
  readonly agent: Agent;
  server: ServerProcess;
  /** Undefined while it is being started again. */
  url: string | undefined;
}

interface Reply {
  /** 0 if the connection was lost. */
  readonly status: number;
  readonly text: string;
}

describe('Revoked permissions during faults', { skip: lacks('postgresql') }, () => {
  it(`None of ${REPLICAS} replicas grants what was revoked, in ${PAIRS} pairs during ${FAULTS} faults, with seed ${SEED}`, async (t) => {
    const random = createRandom();
    const atrium = await openTestServer({ driver: 'postgres' });
    const databaseUrl = atrium.instance.config.DATABASE_URL ?? '';
    const holders: (Awaited<ReturnType<typeof makeHolder>> & { readonly org: string })[] = [];
    for (let count = 0; count < HOLDERS; count++) {
      const org = count % 4 === 3 ? 'globex' : 'acme';
      holders.push({ ...(await makeHolder(atrium, [], org)), org });
    }
    const { world } = atrium;
    await atrium.close();
    const replicas: Replica[] = [];
    for (let count = 0; count < REPLICAS; count++) {
      const wire = await openWire(new URL(databaseUrl));
      t.after(() => wire.cut());
      const server = start(wire);
      const agent = new Agent({ keepAlive: true });
      replicas.push({ wire, agent, server, url: await server.listening() });
    }
    const stale: string[] = [];
    const did: Record<string, number> = { terminate: 0, reset: 0, kill: 0, stop: 0 };
    let pairs = 0;
    let retried = 0;
    let isOver = false;
    const breaking = breakThings();
    await Promise.all(holders.map((holder, index) => (index % 2 === 0 ? live(holder) : liveAssigned(holder))));
    isOver = true;
    await breaking;
    for (const { server, agent } of replicas) {
      agent.destroy();
      server.kill('SIGKILL');
      await server.ended;
    }
    progress(`${pairs} pairs, ${stale.length} stale, ${retried} requests repeated, faults: ${JSON.stringify(did)}`);
    assert.deepEqual(stale.slice(0, 10), []);
    assert.ok(pairs >= PAIRS, `${pairs} pairs`);
    assert.equal(
      Object.values(did).reduce((sum, count) => sum + count),
      FAULTS,
    );
    assert.ok(retried > 0, 'no request noticed any fault');

    /** The role of one holder goes through its states. Each change is acknowledged before anybody is asked. */
    async function live({ name, org, roleId, teamId }: (typeof holders)[number]): Promise<void> {
      const owner = world.users[org === 'acme' ? 'ann' : 'eve']?.token ?? '';
      const token = world.users[name]?.token ?? '';
      const cluster = world.clusters[org === 'acme' ? 'prod' : 'globex']?.id;
      const question = `/api/v1/authz/objects/cluster/${cluster}/allowed-permissions?org=${org}`;
      for (let step = 0; step * HOLDERS < PAIRS; step++) {
        const state = ROLE_STATES[step % ROLE_STATES.length] ?? ROLE_STATES[0];
        const body = { permissions: state.permissions, teamIDs: state.isGiven ? [teamId] : [] };
        const writer = await write(`/api/v1/authz/roles/${roleId}?org=${org}`, owner, body);
        const said = await ask(question, token, writer);
        pairs += 1;
        if (said !== state.allowed) stale.push(`step ${step} of ${name}: "${said}", not "${state.allowed}"`);
        if (pairs % 2000 === 0) progress(`${pairs} of ${PAIRS} pairs, faults: ${JSON.stringify(did)}`);
      }
    }

    /** The same with a role on one cluster, which is assigned to the holder and taken away in turn. */
    async function liveAssigned({ name, org, roleId, teamId }: (typeof holders)[number]): Promise<void> {
      const owner = world.users[org === 'acme' ? 'ann' : 'eve']?.token ?? '';
      const token = world.users[name]?.token ?? '';
      const id = Number(world.clusters[org === 'acme' ? 'prod' : 'globex']?.id);
      const question = `/api/v1/authz/objects/cluster/${id}/allowed-permissions?org=${org}`;
      const permissions = [CLUSTER_PERMISSIONS.EDIT];
      await write(`/api/v1/authz/roles/${roleId}?org=${org}`, owner, { permissions, teamIDs: [] });
      const all = `/api/v1/authz/assignments?org=${org}`;
      for (let step = 0; step * HOLDERS < PAIRS; step++) {
        // To the user, and to the user's team.
        const to = step % 4 < 2 ? { type: 'user', name } : { type: 'team', id: teamId };
        const isGiven = step % 2 === 0;
        const writer = isGiven
          ? await acknowledged(
              ['POST', all, { role: { id: roleId }, to, on: { type: 'cluster', id } }],
              owner,
              [201, 409],
            )
          : await acknowledged(['DELETE', await pathOf(all, roleId, owner, org)], owner, [204, 404]);
        const said = await ask(question, token, writer);
        pairs += 1;
        const due = isGiven ? 'can_view,can_edit' : '';
        if (said !== due) stale.push(`step ${step} of ${name}, assigned: "${said}", not "${due}"`);
        if (pairs % 2000 === 0) progress(`${pairs} of ${PAIRS} pairs, faults: ${JSON.stringify(did)}`);
      }
    }

    /** Where the only assignment of a role is. */
    async function pathOf(all: string, role: number, owner: string, org: string): Promise<string> {
      for (let count = 0; count < MAX_TRIES; count++) {
        const { status, text } = await send(random.pick(replicas), 'GET', `${all}&role=${role}`, owner);
        if (status === 200) return `/api/v1/authz/assignments/${JSON.parse(text)[0]?.id}?org=${org}`;
        assert.ok(status === 0 || status >= 500, `${status}: ${text}`);
        await again();
      }
      return assert.fail('no replica listed an assignment');
    }

    /** Until one replica acknowledges it. Repeating it is harmless: it says what the role is to be. */
    async function write(path: string, token: string, body: object): Promise<Replica> {
      return await acknowledged(['PUT', path, body], token, [200]);
    }

    async function acknowledged(
      [method, path, body]: readonly [method: string, path: string, body?: object],
      token: string,
      done: readonly number[],
    ): Promise<Replica> {
      for (let count = 0; count < MAX_TRIES; count++) {
        const replica = random.pick(replicas);
        const { status, text } = await send(replica, method, path, token, body && JSON.stringify(body));
        if (done.includes(status)) return replica;
        assert.ok(status === 0 || status >= 500, `${status}: ${text}`);
        await again();
      }
      return assert.fail('no replica accepted a change');
    }

    /** The first answer of a replica other than the one that wrote. An error is not an answer. */
    async function ask(path: string, token: string, writer: Replica): Promise<string> {
      const others = replicas.filter((one) => one !== writer);
      for (let count = 0; count < MAX_TRIES; count++) {
        const { status, text } = await send(random.pick(others), 'GET', path, token);
        if (status === 200) return JSON.parse(text).allowedPermissions.join();
        if (status !== 0 && status < 500) return `${status}`;
        await again();
      }
      return assert.fail('no replica answered');
    }

    async function again(): Promise<void> {
      retried += 1;
      await pause(RETRY_MS);
    }

    function start(wire: Wire): ServerProcess {
      const env = { DATABASE_URL: wire.url, ATRIUM_KEY: TEST_KEY, LOG_LEVEL: 'error', RATE_LIMIT: '0', ...JUDGE };
      return startServer({ env });
    }

    /** One fault after the other, spread over all pairs. */
    async function breakThings(): Promise<void> {
      const kinds = { terminate, reset, kill, stop };
      const database = new URL(databaseUrl).pathname.slice(1);
      for (let count = 0; count < FAULTS; count++) {
        await until(() => isOver || pairs >= ((count + 0.5) * PAIRS) / FAULTS);
        const [name, run] = Object.entries(kinds)[count % 4] ?? assert.fail();
        await run();
        did[name] = (did[name] ?? 0) + 1;
      }

      function backends(what: string): Promise<{ pid: number }[]> {
        const of = `datname = '${database}' and pid <> pg_backend_pid() and backend_type = 'client backend'`;
        return onServer(databaseUrl, `select ${what} from pg_stat_activity where ${of} order by pid`);
      }

      async function terminate(): Promise<void> {
        await backends('pg_terminate_backend(pid), pid');
      }

      async function stop(): Promise<void> {
        const { pid } = random.pick(await backends('pid'));
        process.kill(pid, 'SIGSTOP');
        await pause(FAULT_MS);
        process.kill(pid, 'SIGCONT');
      }

      async function reset(): Promise<void> {
        const { wire } = random.pick(replicas);
        await wire.cut();
        await pause(FAULT_MS);
        await wire.mend();
      }

      async function kill(): Promise<void> {
        const replica = random.pick(replicas);
        replica.url = undefined;
        replica.server.kill('SIGKILL');
        await replica.server.ended;
        replica.server = start(replica.wire);
        replica.url = await replica.server.listening();
      }
    }
  });
});

function send({ url, agent }: Replica, method: string, path: string, token: string, body = ''): Promise<Reply> {
  if (url === undefined) return Promise.resolve({ status: 0, text: '' });
  const headers = {
    Authorization: `token ${token}`,
    ...(body !== '' && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve) => {
    const lost = () => resolve({ status: 0, text: '' });
    const sent = request(`${url}${path}`, { agent, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text })).once('error', lost);
    });
    sent.once('error', lost).end(body);
  });
}
