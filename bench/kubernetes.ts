import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../test/support/services/postgres.ts';
import { median, spread } from './support/figures.ts';
import { load } from './support/load.ts';
import { createSender } from './support/send.ts';
import { startServer } from './support/server.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 11);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 1);
const REVIEWS = Number(process.env.BENCH_REVIEWS ?? 1000);
const CONNECTIONS = 16;
const NORMAL = 200;

const say = (line: string) => process.stderr.write(`${line}\n`);
const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres();
try {
  const settings = {
    DATA_DIR: folder,
    DATABASE_URL: await postgres.createDatabase(),
    ADMIN_PORT: '0',
    RATE_LIMIT: '0',
  };
  const server = await startServer(['src/main.ts'], settings);
  const world = await createWorld(server.address, /atr_\w{33}/.exec(server.stdout)?.[0] ?? '');
  const { token } = world;
  const api = `${server.address}/api/v1`;
  const question = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user: world.user,
      uid: world.uid,
      groups: ['system:authenticated'],
      resourceAttributes: { namespace: 'shop', verb: 'list', version: 'v1', resource: 'pods' },
    },
  };
  // Each API server may ask so often and no more: every connection is one of its own.
  const reviewUrl = (cluster: number) => `${api}/clusters/${cluster}/access-review?timeout=3s`;
  const json = { 'content-type': 'application/json' };
  const objects = [{ objectType: 'cluster', objectID: world.cluster }];
  const shots = {
    review: {
      url: reviewUrl(world.cluster),
      method: 'POST',
      headers: { authorization: `token ${world.robot}`, ...json },
      body: JSON.stringify(question),
    },
    get: {
      url: `${api}/authz/objects/cluster/${world.cluster}/allowed-permissions?org=bench`,
      headers: { authorization: `token ${token}` },
    },
    post: {
      url: `${api}/authz/objects/allowed-permissions?org=bench`,
      method: 'POST',
      headers: { authorization: `token ${token}`, ...json },
      body: JSON.stringify(objects),
    },
  } as const;
  const costs: Record<keyof typeof shots, number[]> = { review: [], get: [], post: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const name of Object.keys(shots) as (keyof typeof shots)[]) {
      const before = server.cpuMicroseconds();
      const urls = name === 'review' ? world.clusters.map(reviewUrl) : undefined;
      const rate = await load(shots[name], CONNECTIONS, SECONDS, urls);
      // The first round is for the compiler.
      if (round > 0) costs[name].push((server.cpuMicroseconds() - before) / (rate * SECONDS));
    }
    say(
      `round ${round}: ${Object.entries(costs)
        .map(([name, all]) => `${name} ${all.at(-1)?.toFixed(1)} µs`)
        .join(', ')}`,
    );
  }
  const user = { url: `${api}/user`, authorization: `token ${token}` };
  const [alone, together] = [[] as number[], [] as number[]];
  const answered: number[] = [];
  for (let round = 0; round < Math.ceil(ROUNDS / 3); round++) {
    alone.push(await p99(user, NORMAL, SECONDS * 5));
    let isOver = false;
    const sender = createSender(world.robot, 64);
    const reviewing = atRate(
      REVIEWS,
      () => isOver,
      async () => {
        await sender.send(shots.review.url, 'POST', question);
      },
    );
    together.push(await p99(user, NORMAL, SECONDS * 5));
    isOver = true;
    answered.push((await reviewing) / (SECONDS * 5));
    sender.close();
    say(
      `p99 ${alone.at(-1)?.toFixed(2)} ms alone, ${together.at(-1)?.toFixed(2)} ms beside ${answered.at(-1)?.toFixed(0)} reviews/s`,
    );
  }
  await server.stop();
  const over = (other: number[]) => costs.review.map((cost, at) => cost / (other[at] ?? Number.NaN));
  process.stdout.write(`\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, PostgreSQL; `);
  process.stdout.write(
    `${ROUNDS} rounds of ${SECONDS} s, ${CONNECTIONS} connections, processor time of the server.\n\n`,
  );
  process.stdout.write('| what | median | spread | target |\n|---|---|---|---|\n');
  const row = (what: string, values: readonly number[], target = '') =>
    process.stdout.write(`| ${what} | ${median(values).toFixed(2)} | ${spread(values, 2)} | ${target} |\n`);
  row('an access review, µs', costs.review);
  row('GET allowed-permissions, µs', costs.get);
  row('POST allowed-permissions, µs', costs.post);
  row('a review / GET allowed-permissions', over(costs.get), 'at most 1.3');
  row('a review / POST allowed-permissions', over(costs.post), 'at most 1.3');
  row('p99 of GET /user alone, ms', alone);
  row(`p99 of GET /user beside ${REVIEWS} reviews a second, ms`, together);
  row(
    'the ratio',
    together.map((value, at) => value / (alone[at] ?? Number.NaN)),
    'at most 2',
  );
  row('reviews answered a second', answered, `${REVIEWS}`);
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** An organization of a user who is no site administrator, with a governed cluster, and the robot of its API server. */
async function createWorld(address: string, admin: string) {
  const token = await createUser(address, admin);
  const { send, close } = createSender(token, 1);
  const call = async (method: string, path: string, body?: object) => {
    const text = await send(`${address}/api/v1${path}`, method, body);
    return text === '' ? undefined : JSON.parse(text);
  };
  const { id, login: user } = await call('GET', '/user');
  await call('POST', '/orgs', { username: 'bench' });
  const clusters: number[] = [];
  for (let place = 0; place < CONNECTIONS; place++) {
    const { id } = await call('POST', '/orgs/bench/clusters', { name: `prod-${place}`, uid: crypto.randomUUID() });
    await call('PATCH', `/clusters/${id}`, { kubernetes: { auth: 'webhook' } });
    clusters.push(id);
  }
  const permissions = [{ namespace: 'cluster_mgmt', action: 'review requests' }];
  const role = await call('POST', '/authz/roles?org=bench', { name: 'reviewer', permissions });
  const robot = await call('POST', '/orgs/bench/robots', { name: 'kube-prod' });
  await call('POST', '/authz/assignments?org=bench', {
    role: { id: role.id },
    to: { type: 'robot_ac', id: robot.id },
    on: { type: 'organization', name: 'bench' },
  });
  const made = await call('POST', `/robots/${robot.id}/tokens`, { name: 'prod', scopes: ['read:authz'] });
  close();
  return { user, token, uid: `user:${id}`, cluster: clusters[0] ?? 0, clusters, robot: made.sha1 };
}

async function createUser(address: string, admin: string): Promise<string> {
  const [username, password] = ['dan', 'a password of the bench'];
  const sender = createSender(admin, 1);
  await sender.send(`${address}/api/v1/admin/users`, 'POST', { username, password, email: 'dan@example.com' });
  sender.close();
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const answer = await fetch(`${address}/api/v1/users/${username}/tokens`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', scopes: ['all'] }),
  });
  return ((await answer.json()) as { sha1: string }).sha1;
}

/** Sends so many a second until it is over, and says how many were answered. */
async function atRate(perSecond: number, isOver: () => boolean, send: () => Promise<void>): Promise<number> {
  const began = performance.now();
  const running = new Set<Promise<void>>();
  let [sent, done] = [0, 0];
  while (!isOver()) {
    const due = ((performance.now() - began) / 1000) * perSecond;
    for (; sent < due; sent++) {
      const one = send().then(() => {
        done++;
        running.delete(one);
      });
      running.add(one);
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await Promise.all(running);
  return done;
}

/** The 99th percentile of the time of so many requests a second, in milliseconds. */
async function p99(to: { url: string; authorization: string }, perSecond: number, seconds: number): Promise<number> {
  const sender = createSender(to.authorization.slice('token '.length), 32);
  const times: number[] = [];
  const until = performance.now() + seconds * 1000;
  await atRate(
    perSecond,
    () => performance.now() > until,
    async () => {
      const began = performance.now();
      await sender.send(to.url, 'GET');
      times.push(performance.now() - began);
    },
  );
  sender.close();
  return times.sort((one, other) => one - other)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}
