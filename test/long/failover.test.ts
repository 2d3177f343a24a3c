import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { until } from '../support/checks/until.ts';
import { openWire, type Wire } from '../support/faults/wire.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { type ServerProcess, startServer } from '../support/server/process.ts';
import { openTestServer, TEST_KEY } from '../support/server/server.ts';
import { freePort } from '../support/services/ports.ts';
import { onServer, startPostgres, type TestPostgres } from '../support/services/postgres.ts';
import { lacks } from '../support/services/requirements.ts';
import { makeHolder } from '../support/world/authz.ts';
import { CLUSTER_PERMISSIONS, ROLE_STATES } from '../support/world/role-states.ts';

const PAIRS = COUNTS.failoverPairs;
const FAILOVERS = COUNTS.failovers;
const WRITES = COUNTS.replicatedWrites;
const MAX_TRIES = 4000;
const RETRY_MS = 20;
/** So many commits at least are lost in each failover, after servers have read them. */
const LOST = 20n;

interface Reply {
  /** 0 if the connection was lost. */
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
}

const agent = new Agent({ keepAlive: true });

describe('Failovers', { skip: lacks('postgresql') }, () => {
  it(`No answer is stale in ${PAIRS} pairs during ${FAILOVERS} failovers to a standby that lacks commits`, async () => {
    let primary = await startPostgres();
    let standby = await startPostgres({ standbyOf: primary.url });
    const { pathname } = new URL(await primary.createDatabase());
    const inDatabase = (server: TestPostgres) => new URL(pathname, server.url);
    const wires: Wire[] = [];
    for (let count = 0; count < 3; count++) wires.push(await openWire(inDatabase(primary)));
    const [own, ...others] = wires;
    const env = { ATRIUM_KEY: TEST_KEY, LOG_LEVEL: 'error', RATE_LIMIT: '0' };
    const atrium = await openTestServer({ driver: 'postgres', env: { ...env, DATABASE_URL: own?.url ?? '' } });
    const roleHolders = [await makeHolder(atrium, []), await makeHolder(atrium, []), await makeHolder(atrium, [])];
    const memberHolders = [
      await makeHolder(atrium, [CLUSTER_PERMISSIONS.EDIT]),
      await makeHolder(atrium, [CLUSTER_PERMISSIONS.EDIT]),
    ];
    const servers: ServerProcess[] = others.map((wire) => startServer({ env: { ...env, DATABASE_URL: wire.url } }));
    const urls = await Promise.all(servers.map((server) => server.listening()));
    const { world } = atrium;
    const owner = world.users.ann?.token ?? '';
    const cluster = world.clusters.prod?.id;
    const question = `/api/v1/authz/objects/cluster/${cluster}/allowed-permissions?org=acme`;

    /** Odd while PostgreSQL is being replaced. A pair counts only if all of it happened on one primary. */
    let epoch = 0;
    let pairs = 0;
    let discarded = 0;
    let repeated = 0;
    let issued = 0;
    let isOver = false;
    const stale: string[] = [];
    const lost: bigint[] = [];
    const firstAnswers: number[] = [];

    const loops = [
      ...roleHolders.map((holder, at) => live(at, (step) => changeRole(holder, step))),
      ...memberHolders.map((holder, at) => live(at, (step) => changeMember(holder, step))),
      ...['bob', 'cat'].map((name, at) => live(at, (step) => revokeToken(name, step))),
    ];
    const failing = failOver();
    await Promise.all(loops);
    isOver = true;
    await failing;
    for (const server of servers) {
      server.kill('SIGKILL');
      await server.ended;
    }
    await atrium.close();
    for (const wire of wires) await wire.cut();
    await primary.stop();
    await standby.stop();
    const [median = 0, slowest = 0] = [0.5, 1].map(
      (part) => sorted(firstAnswers)[Math.ceil(firstAnswers.length * part) - 1],
    );
    progress(
      `${pairs} pairs, ${stale.length} stale, ${discarded} discarded, ${repeated} requests repeated, ` +
        `${lost.length} failovers lost ${lost.reduce((sum, count) => sum + count, 0n)} revisions; ` +
        `first answer after the crash of the primary: median ${median.toFixed(2)} s, slowest ${slowest.toFixed(2)} s`,
    );
    assert.deepEqual(stale.slice(0, 10), []);
    assert.ok(pairs >= PAIRS, `${pairs} pairs`);
    assert.equal(lost.length, FAILOVERS);
    assert.ok(lost.every((count) => count >= LOST));

    /** Returns what is wrong with the answer to one question, after one acknowledged change. */
    type Pair = (step: number) => Promise<string | undefined>;

    async function live(turn: number, pair: Pair): Promise<void> {
      for (let step = turn; pairs < PAIRS; step++) {
        const before = epoch;
        const fault = await pair(step);
        if (before !== epoch || before % 2 === 1) {
          discarded += 1;
          // Once more on the new primary: only an acknowledged change of its own history counts.
          step -= 1;
          continue;
        }
        pairs += 1;
        if (fault !== undefined) stale.push(`epoch ${epoch}: ${fault}`);
        if (pairs % 2000 === 0) progress(`${pairs} of ${PAIRS} pairs, ${lost.length} failovers`);
      }
    }

    async function changeRole({ name, roleId, teamId }: (typeof roleHolders)[number], step: number) {
      const { permissions, isGiven, allowed } = ROLE_STATES[step % ROLE_STATES.length] ?? ROLE_STATES[0];
      const body = { permissions, teamIDs: isGiven ? [teamId] : [] };
      await acknowledged(step, 'PUT', `/api/v1/authz/roles/${roleId}?org=acme`, owner, body);
      const said = await answerOf(step + 1, world.users[name]?.token ?? '');
      return said === allowed ? undefined : `role of ${name}: "${said}", not "${allowed}"`;
    }

    async function changeMember({ name, teamId }: (typeof memberHolders)[number], step: number) {
      const method = step % 2 === 0 ? 'DELETE' : 'PUT';
      await acknowledged(step, method, `/api/v1/teams/${teamId}/members/${name}`, owner);
      const said = await answerOf(step + 1, world.users[name]?.token ?? '');
      const allowed = method === 'PUT' ? 'can_view,can_edit' : '';
      return said === allowed ? undefined : `membership of ${name}: "${said}", not "${allowed}"`;
    }

    async function revokeToken(name: string, step: number, tries = 0): Promise<string | undefined> {
      assert.ok(tries < MAX_TRIES, 'no token could be issued and revoked');
      const before = epoch;
      issued += 1;
      const { tokens } = atrium.instance.identity;
      const accountId = world.users[name]?.id ?? 0n;
      try {
        const { id, text } = await tokens.issue({
          accountId,
          name: `${name} ${issued}`,
          scopes: ['all'],
        });
        const fresh = await ask(step, '/api/v1/user', text);
        if (fresh.status !== 200 && before === epoch) return `new token of ${name}: ${fresh.status}`;
        await tokens.revoke(id);
        const { status } = await ask(step, '/api/v1/user', text, unusedAddress());
        return status === 401 ? undefined : `revoked token of ${name}: ${status}`;
      } catch (error) {
        // The pair is not complete, so it cannot count.
        repeated += 1;
        await pause(RETRY_MS);
        if (before === epoch) return await revokeToken(name, step, tries + 1);
        return String(error);
      }
    }

    /** Until one server acknowledges it. Repeating it is harmless: it says what is to be. */
    async function acknowledged(
      from: number,
      method: string,
      path: string,
      token: string,
      body?: object,
    ): Promise<void> {
      for (let count = 0; count < MAX_TRIES; count++) {
        const { status, text } = await send(urls[(from + count) % urls.length], method, path, token, body);
        if (status < 300 && status > 0) return;
        // A member who was added in the lost history is none in the new one.
        if (status === 404 && method === 'DELETE') return;
        assert.ok(status === 0 || status === 503, `${method} ${path}: ${status} ${text}`);
        repeated += 1;
        await pause(RETRY_MS);
      }
      assert.fail('no server accepted a change');
    }

    /** The first answer of that server. An error is not an answer. */
    async function ask(at: number, path: string, token: string, from?: string): Promise<Reply> {
      for (let count = 0; count < MAX_TRIES; count++) {
        const reply = await send(urls[at % urls.length], 'GET', path, token, undefined, from);
        if (reply.status !== 0 && reply.status !== 503) return reply;
        if (reply.status === 503) assert.ok(reply.retryAfter, 'a 503 says when to try again');
        repeated += 1;
        await pause(RETRY_MS);
      }
      return assert.fail('no server answered');
    }

    async function answerOf(at: number, token: string): Promise<string> {
      const { status, text } = await ask(at, question, token);
      return status === 200 ? JSON.parse(text).allowedPermissions.join() : String(status);
    }

    async function failOver(): Promise<void> {
      for (let count = 0; count < FAILOVERS && !isOver; count++) {
        await until(() => isOver || pairs >= (count * PAIRS) / FAILOVERS);
        const read = async (server: TestPostgres) => {
          const [row] = await onServer<{ value: string }>(inDatabase(server).href, 'select value from revision');
          return BigInt(row?.value ?? 0);
        };
        await stopFollowing(standby);
        const kept = await read(standby);
        const target = pairs + 60;
        await until(async () => isOver || (pairs >= target && (await read(primary)) >= kept + LOST));
        if (isOver) return;
        lost.push((await read(primary)) - kept);
        epoch += 1;
        const began = performance.now();
        await primary.crash();
        for (const wire of wires) wire.leadTo(inDatabase(standby));
        // Meanwhile, it only reads. Whoever asks is told to try again.
        assert.equal((await send(urls[0], 'GET', question, owner)).status, 503);
        await onServer(standby.url, 'select pg_promote()');
        epoch += 1;
        const answered = await ask(1, question, owner);
        assert.equal(answered.status, 200, answered.text);
        firstAnswers.push((performance.now() - began) / 1000);
        await primary.stop();
        primary = standby;
        standby = await startPostgres({ standbyOf: primary.url });
      }
    }
  });

  it(`None of ${WRITES} writes that were acknowledged with synchronous replication is lost`, async (t) => {
    const { primary, standby, url, wire } = await openPair(t, { synchronous_standby_names: '*' });
    const limit = { LIMIT_ROLES_PER_ORGANIZATION: '10000' };
    const env = { ATRIUM_KEY: TEST_KEY, RATE_LIMIT: '0', DATABASE_TIMEOUT_MS: '2000', ...limit };
    const atrium = await openTestServer({ driver: 'postgres', env: { ...env, DATABASE_URL: wire.url } });
    const acknowledged: string[] = [];
    let next = 0;
    let crashing: Promise<void> | undefined;
    const writer = async () => {
      for (;;) {
        const name = `replicated ${++next}`;
        const { status, text } = await atrium.as('ann')('POST', '/authz/roles?org=acme', { name, permissions: [] });
        if (status === 201) acknowledged.push(name);
        else assert.equal(status, 503, text);
        if (acknowledged.length >= WRITES) crashing ??= primary.crash();
        if (status === 503 && crashing) return;
      }
    };
    await Promise.all(Array.from({ length: 8 }, writer));
    await crashing;
    wire.leadTo(new URL(new URL(url).pathname, standby.url));
    // It would wait for a standby of its own.
    await onServer(standby.url, `alter system set synchronous_standby_names = ''`);
    await onServer(standby.url, 'select pg_promote()');
    const there = await onServer<{ name: string }>(
      new URL(new URL(url).pathname, standby.url).href,
      `select name from role where name like 'replicated %'`,
    );
    const names = new Set(there.map(({ name }) => name));
    assert.deepEqual(
      acknowledged.filter((name) => !names.has(name)),
      [],
    );
    progress(`${acknowledged.length} acknowledged, ${names.size} there`);
    await until(async () => (await atrium.as('ann')('GET', '/user')).status === 200);
    await atrium.close();
  });

  it('A commit that no standby confirmed is not acknowledged', async (t) => {
    const { standby, wire } = await openPair(t, { synchronous_standby_names: '*' });
    const env = { ATRIUM_KEY: TEST_KEY, DATABASE_TIMEOUT_MS: '1000', DATABASE_URL: wire.url };
    const atrium = await openTestServer({ driver: 'postgres', env });
    await stopFollowing(standby);
    const answer = await atrium.as('ann')('POST', '/authz/roles?org=acme', { name: 'unconfirmed', permissions: [] });
    assert.equal(answer.status, 503, answer.text);
    assert.equal(answer.body.reason, 'outcome_unknown');
    assert.ok(answer.headers.get('retry-after'));
    await atrium.close();
  });

  it('Among several hosts, servers find the primary, also after a failover', async (t) => {
    const { primary, standby, url } = await openPair(t);
    const [one, two] = [new URL(url), new URL(standby.url)];
    // The standby comes first.
    const hosts = `${two.host},${one.host}`;
    const databaseUrl = `postgres://atrium@${hosts}${one.pathname}?target_session_attrs=read-write`;
    const env = { ATRIUM_KEY: TEST_KEY, DATABASE_URL: databaseUrl };
    const atrium = await openTestServer({ driver: 'postgres', env });
    assert.equal((await atrium.as('ann')('GET', '/user')).status, 200);
    await primary.crash();
    await onServer(standby.url, 'select pg_promote()');
    await until(async () => (await atrium.as('ann')('GET', '/user')).status === 200);
    const made = await atrium.as('ann')('POST', '/authz/roles?org=acme', { name: 'afterwards', permissions: [] });
    assert.equal(made.status, 201, made.text);
    await atrium.close();
  });

  it('A server whose database is a standby is not ready, answers 503, and recovers by itself', async (t) => {
    const { primary, standby, url, wire } = await openPair(t);
    const atrium = await openTestServer({ driver: 'postgres', env: { ATRIUM_KEY: TEST_KEY, DATABASE_URL: wire.url } });
    const adminPort = await freePort();
    const env = { ATRIUM_KEY: TEST_KEY, DATABASE_URL: wire.url, ADMIN_PORT: String(adminPort) };
    const server = startServer({ env: { ...env, DATA_DIR: temporaryFolder() } });
    const base = await server.listening();
    const token = atrium.world.users.ann?.token ?? '';
    const isReady = async () => (await fetch(`http://127.0.0.1:${adminPort}/readyz`)).status === 200;
    await until(isReady);
    await primary.crash();
    wire.leadTo(new URL(new URL(url).pathname, standby.url));
    await until(async () => !(await isReady()));
    for (const [method, path, body] of [
      ['GET', '/api/v1/user', undefined],
      ['POST', '/api/v1/authz/roles?org=acme', { name: 'refused', permissions: [] }],
    ] as const) {
      const { status, retryAfter, text } = await send(base, method, path, token, body);
      assert.equal(status, 503, `${method} ${path}: ${text}`);
      assert.equal(retryAfter, '1');
    }
    assert.equal(await isReady(), false);
    await onServer(standby.url, 'select pg_promote()');
    await until(isReady);
    await until(async () => (await send(base, 'GET', '/api/v1/user', token)).status === 200);
    server.kill('SIGKILL');
    await server.ended;
    await atrium.close();
  });
});

async function openPair(t: TestContext, settings: Record<string, string> = {}) {
  const primary = await startPostgres();
  const standby = await startPostgres({ standbyOf: primary.url });
  const url = await primary.createDatabase();
  const wire = await openWire(new URL(url));
  t.after(async () => {
    await wire.cut();
    await primary.stop();
    await standby.stop();
  });
  await until(async () => (await onServer(primary.url, 'select 1 from pg_stat_replication')).length > 0);
  for (const [name, value] of Object.entries(settings)) {
    await onServer(primary.url, `alter system set ${name} = '${value}'`);
  }
  await onServer(primary.url, 'select pg_reload_conf()');
  return { primary, standby, url, wire };
}

/** From now on, the standby receives no commits. */
async function stopFollowing(standby: TestPostgres): Promise<void> {
  await onServer(standby.url, `alter system set primary_conninfo = ''`);
  await onServer(standby.url, 'select pg_reload_conf()');
  await until(async () => (await onServer(standby.url, 'select 1 from pg_stat_wal_receiver')).length === 0);
}

function sorted(numbers: readonly number[]): number[] {
  return [...numbers].sort((a, b) => a - b);
}

let addresses = 0;

/** An address of this machine. Whoever sends many revoked tokens from the same one is braked. */
function unusedAddress(): string {
  addresses += 1;
  return `127.1.${(addresses >> 8) & 255}.${addresses & 255}`;
}

function send(
  base: string | undefined,
  method: string,
  path: string,
  token: string,
  body?: object,
  from?: string,
): Promise<Reply> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = {
    Authorization: `token ${token}`,
    ...(body && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
  };
  return new Promise((resolve) => {
    const lost = () => resolve({ status: 0, text: '', retryAfter: undefined });
    const sent = request(
      `${base}${path}`,
      { method, headers, ...(from ? { localAddress: from } : { agent }) },
      (response) => {
        let answer = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          answer += chunk;
        });
        const retryAfter = response.headers['retry-after'];
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text: answer, retryAfter }));
        response.once('error', lost);
      },
    );
    sent.once('error', lost).end(text);
  });
}
