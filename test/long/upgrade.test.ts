import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readJson } from '../../src/base/json.ts';
import type { DemoWorld } from '../../src/operations/demo/world.ts';
import { COUNTS, IS_LONG } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { until } from '../support/checks/until.ts';
import { newPlace } from '../support/server/db.ts';
import { previousRelease, type Release } from '../support/server/previous-release.ts';
import { get, type ServerProcess, startServer } from '../support/server/process.ts';
import { TEST_KEY } from '../support/server/server.ts';
import { freePort } from '../support/services/ports.ts';
import { lacks } from '../support/services/requirements.ts';
import { basic } from '../support/world/own-account.ts';

const PAIRS = COUNTS.upgradePairs;
const HOLDERS = 4;
const MAX_STEPS = 20 * PAIRS;
/** One in this many steps revokes a token instead of a permission: its password has to be hashed. */
const TOKEN_STEP = 25;
const EDIT = { namespace: 'cluster_mgmt', action: 'reconfigure clusters' };
const VIEW = { namespace: 'cluster_mgmt', action: 'view clusters' };
/** Each state takes away something that the one before it granted. */
const STATES = [
  { permissions: [EDIT], allowed: 'can_view,can_edit' },
  { permissions: [VIEW], allowed: 'can_view' },
  { permissions: [], allowed: '' },
] as const;

const release = IS_LONG && !lacks('postgresql') ? previousRelease() : 'only in the long suite, and with PostgreSQL';
if (typeof release === 'string' && IS_LONG) progress(`NOT TESTED: an upgrade of replicas: ${release}`);

interface Replica {
  readonly server: ServerProcess;
  readonly url: string;
  readonly admin: string;
  readonly version: string;
  /** How many pairs use it now. */
  pairs: number;
}

interface Holder {
  readonly name: string;
  readonly password: string;
  readonly token: string;
  readonly teamId: number;
  readonly roleId: number;
}

describe('An upgrade of two replicas', { skip: typeof release === 'string' && release }, () => {
  it(`Two releases share a database in ${PAIRS} revoke and ask pairs, without a stale answer or an error, with seed ${SEED}`, async () => {
    const old = release as Release;
    const random = createRandom();
    const place = await newPlace('postgres');
    const agent = new Agent({ keepAlive: true });
    // As behind a load balancer: requests go only to replicas in this list.
    const replicas: Replica[] = [];
    const faults: string[] = [];
    const stages: Record<string, number> = {};
    let stage = 'old and old';
    let pairs = 0;
    let isOver = false;
    const first = await start(old.main, 'old', ['demo']);
    replicas.push(first);
    const world = readJson(readFileSync(join(place.dataDir, 'demo.json'))) as DemoWorld;
    const tokenOf = (name: string) => `token ${world.users[name]?.token}`;
    const cluster = world.clusters.prod?.id;
    const holders: Holder[] = [];
    for (let count = 1; count <= HOLDERS; count++) holders.push(await makeHolder(`holder${count}`));
    replicas.push(await start(old.main, 'old'));

    const lives = Promise.all(holders.map(live));
    const after = async (share: number) => await until(() => isOver || pairs >= share * PAIRS);
    await after(0.1);
    // The first new replica migrates, while the old one serves alone.
    stage = 'old, while the new one migrates';
    await stop(1);
    replicas.push(await start('src/main.ts', 'new'));
    stage = 'old and new';
    assert.equal(await lastMigration(), await lastOfRelease());
    await after(0.45);
    // An old replica that is lost meanwhile starts again on the new schema.
    stage = 'new alone';
    await stop(0);
    replicas.unshift(await start(old.main, 'old'));
    stage = 'old again and new';
    assert.match(replicas[0]?.server.stdout() ?? '', /newer than this release .* but compatible with it/);
    await after(0.8);
    stage = 'new alone again';
    await stop(0);
    replicas.unshift(await start('src/main.ts', 'new'));
    stage = 'new and new';
    await lives;
    isOver = true;
    progress(`from ${old.name}: ${pairs} pairs, ${faults.length} faults; by stage: ${JSON.stringify(stages)}`);
    assert.deepEqual(faults.slice(0, 10), []);
    assert.ok(pairs >= PAIRS);
    for (const name of ['old and old', 'old and new', 'old again and new', 'new and new']) {
      assert.ok((stages[name] ?? 0) > 0, `no pair while there were ${name}`);
    }
    agent.destroy();
    for (const { server } of replicas) {
      server.kill('SIGTERM');
      assert.equal((await server.ended).code, 0, server.stderr());
      assert.doesNotMatch(server.stderr(), /"level":"(?:error|fatal)"/);
    }

    async function live(holder: Holder): Promise<void> {
      const question = `/authz/objects/cluster/${cluster}/allowed-permissions?org=acme`;
      // Until there were enough of them, and some in the last stage, however fast this machine is.
      const isEnough = () => pairs >= PAIRS && (stages['new and new'] ?? 0) > 0;
      for (let step = 0; step < MAX_STEPS && !isEnough(); step++) {
        const [writer, asked] = pickTwo();
        for (const replica of [writer, asked]) replica.pairs += 1;
        if (step % TOKEN_STEP === TOKEN_STEP - 1) await revokeToken(holder, writer, asked);
        else {
          const state = STATES[step % STATES.length] ?? STATES[0];
          const body = { permissions: state.permissions, teamIDs: [holder.teamId] };
          await must(writer, 'PUT', `/authz/roles/${holder.roleId}?org=acme`, 200, tokenOf('ann'), body);
          const { status, text } = await send(asked, 'GET', question, `token ${holder.token}`);
          const said = status === 200 ? JSON.parse(text).allowedPermissions.join() : String(status);
          // Without any permission on it, the cluster does not exist for the caller.
          if (said !== state.allowed && !(state.allowed === '' && status === 404)) {
            note(asked, `${holder.name} got "${said}", not "${state.allowed}"`);
          }
        }
        for (const replica of [writer, asked]) replica.pairs -= 1;
        pairs += 1;
        stages[stage] = (stages[stage] ?? 0) + 1;
        if (pairs % 1000 === 0) progress(`${pairs} of ${PAIRS} pairs, ${stage}`);
      }
    }

    async function revokeToken({ name, password }: Holder, writer: Replica, asked: Replica): Promise<void> {
      const { Authorization } = basic(name, password);
      const named = { name: `t${pairs}-${random.below(1e9)}`, scopes: ['all'] };
      const made = await must(writer, 'POST', `/users/${name}/tokens`, 201, Authorization, named);
      const { id, sha1 } = JSON.parse(made) as { id: number; sha1: string };
      await must(asked, 'GET', '/user', 200, `token ${sha1}`);
      await must(writer, 'DELETE', `/users/${name}/tokens/${id}`, 204, Authorization);
      await must(asked, 'GET', '/user', 401, `token ${sha1}`);
    }

    async function makeHolder(name: string): Promise<Holder> {
      const password = `a long password of ${name}`;
      const person = { username: name, email: `${name}@example.com`, password, must_change_password: false };
      await must(first, 'POST', '/admin/users', 201, tokenOf('root'), person);
      const { Authorization } = basic(name, password);
      const token = { name: 'test', scopes: ['all'] };
      const { sha1 } = JSON.parse(await must(first, 'POST', `/users/${name}/tokens`, 201, Authorization, token));
      const draft = { name: `team-of-${name}`, permission: 'none' };
      const team = JSON.parse(await must(first, 'POST', '/orgs/acme/teams', 201, tokenOf('ann'), draft));
      await must(first, 'PUT', `/teams/${team.id}/members/${name}`, 204, tokenOf('ann'));
      const role = { name: `role of ${name}`, permissions: [EDIT], teamIDs: [team.id] };
      const made = JSON.parse(await must(first, 'POST', '/authz/roles?org=acme', 201, tokenOf('ann'), role));
      assert.deepEqual(faults, []);
      return { name, password, token: sha1, teamId: team.id, roleId: made.id };
    }

    function pickTwo(): [Replica, Replica] {
      const writer = random.pick(replicas);
      return [writer, replicas.find((one) => one !== writer) ?? writer];
    }

    function note({ version }: Replica, what: string): void {
      faults.push(`${stage}, from the ${version} one: ${what}`);
    }

    async function must(replica: Replica, method: string, path: string, wanted: number, who?: string, body?: object) {
      const { status, text } = await send(replica, method, path, who, body);
      if (status !== wanted) note(replica, `${method} ${path}: ${status} ${text}`);
      return text;
    }

    async function start(main: string, version: string, args: readonly string[] = []): Promise<Replica> {
      const port = await freePort();
      const settings = { ADMIN_PORT: String(port), DATA_DIR: place.dataDir, RATE_LIMIT: '0', LOG_LEVEL: 'error' };
      const env = { DATABASE_URL: place.databaseUrl ?? '', ATRIUM_KEY: TEST_KEY, RUN_MODE: 'dev', ...settings };
      const server = startServer({ env, main, args });
      const replica = { server, url: await server.listening(), admin: `http://127.0.0.1:${port}`, version, pairs: 0 };
      await until(async () => (await get(`${replica.admin}/readyz`)).ok);
      return replica;
    }

    /** A load balancer sends no more requests to it, and when it has none, it ends. */
    async function stop(index: number): Promise<void> {
      const leaving = replicas.splice(index, 1)[0] ?? assert.fail();
      await until(() => leaving.pairs === 0);
      leaving.server.kill('SIGTERM');
      assert.equal((await leaving.server.ended).code, 0, leaving.server.stderr());
    }

    async function lastMigration(): Promise<number> {
      const { onServer } = await import('../support/services/postgres.ts');
      const [row] = await onServer<{ last: number }>(
        place.databaseUrl ?? '',
        'select max(number) as last from migration',
      );
      return row?.last ?? 0;
    }

    async function lastOfRelease(): Promise<number> {
      const { lastNumber, readMigrations } = await import('../../src/db/migration-files.ts');
      return lastNumber(readMigrations('migrations'));
    }

    function send({ url }: Replica, method: string, path: string, who = '', body?: object) {
      const content = body === undefined ? '' : JSON.stringify(body);
      const headers = {
        ...(who !== '' && { Authorization: who }),
        ...(content !== '' && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(content) }),
      };
      return new Promise<{ status: number; text: string }>((resolve) => {
        const lost = (error: Error) => resolve({ status: 0, text: error.message });
        const sent = request(`${url}/api/v1${path}`, { agent, method, headers }, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
          });
          response.once('end', () => resolve({ status: response.statusCode ?? 0, text })).once('error', lost);
        });
        sent.once('error', lost).end(content);
      });
    }
  });
});
