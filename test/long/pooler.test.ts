import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { until } from '../support/checks/until.ts';
import { serverUrl } from '../support/server/db.ts';
import { startServer } from '../support/server/process.ts';
import { openTestServer, TEST_KEY, type TestServer } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';
import { startPgbouncer, type TestPgbouncer } from '../support/services/pgbouncer.ts';
import { createDatabase } from '../support/services/postgres.ts';
import { lacks } from '../support/services/requirements.ts';
import { allowedTo, makeHolder } from '../support/world/authz.ts';

const PAIRS = COUNTS.pooledPairs;
const EDIT = { namespace: 'cluster_mgmt', action: 'reconfigure clusters' };
/** A part of the API that uses every kind of statement: lists, locks, transactions, times, bytes, keys that come again. */
const API_FILES = [
  'test/api/audit/audit.test.ts',
  'test/api/clusters/clusters.test.ts',
  'test/api/credentials/credentials.test.ts',
  'test/api/http/idempotency.test.ts',
  'test/api/marketplace/binding.test.ts',
  'test/api/organizations/members.test.ts',
  'test/api/roles/role-file.test.ts',
  'test/api/tokens/tokens.test.ts',
  'test/api/users/follows.test.ts',
];

describe('PgBouncer in transaction mode', { skip: lacks('postgresql') || lacks('pgbouncer') }, () => {
  let pooler: TestPgbouncer;
  let databaseUrl: string;
  let atrium: TestServer;
  const env = () => ({ DATABASE_URL: pooler.urlOf(databaseUrl), ATRIUM_KEY: TEST_KEY, RATE_LIMIT: '0' });
  before(async () => {
    const server = await serverUrl();
    pooler = await startPgbouncer(server);
    databaseUrl = await createDatabase(server);
    // On an empty database, so all migrations run through it, too.
    atrium = await openTestServer({ driver: 'postgres', env: { ...env(), DATABASE_POOLER: 'transaction' } });
  });
  after(async () => {
    await atrium.close();
    await pooler.stop();
  });

  it('A start without DATABASE_POOLER is rejected, and the message says what to set', async () => {
    const server = startServer({ env: env() });
    await assert.rejects(server.listening(), /set DATABASE_POOLER=transaction/);
  });

  it(`No answer is stale in ${PAIRS} revoke and ask pairs of two servers`, async () => {
    const other = startServer({ env: { ...env(), DATABASE_POOLER: 'transaction', LOG_LEVEL: 'error' } });
    const url = await other.listening();
    const { name, roleId, teamId } = await makeHolder(atrium, [EDIT]);
    const cluster = atrium.world.clusters.prod?.id ?? 0n;
    const path = `/api/v1/authz/objects/cluster/${cluster}/allowed-permissions?org=acme`;
    const headers = { Authorization: `token ${atrium.world.users[name]?.token}` };
    for (let pair = 0; pair < PAIRS; pair++) {
      const isGiven = pair % 2 === 1;
      const body = { permissions: [EDIT], teamIDs: isGiven ? [teamId] : [] };
      const put = await atrium.as('ann')('PUT', `/authz/roles/${roleId}?org=acme`, body);
      assert.equal(put.status, 200, put.text);
      const answer = await atrium.call('GET', path, undefined, headers, url);
      assert.deepEqual(answer.body.allowedPermissions, isGiven ? ['can_view', 'can_edit'] : [], `pair ${pair}`);
      if (pair % 1000 === 999) progress(`${pair + 1} of ${PAIRS} pairs`);
    }
    assert.deepEqual(
      await allowedTo(atrium, name, 'cluster', cluster),
      PAIRS % 2 === 0 ? ['can_view', 'can_edit'] : [],
    );
    other.kill('SIGTERM');
    assert.equal((await other.ended).code, 0);
  });

  it('Times are read in UTC, whatever the server behind it uses', async () => {
    const text = `select current_setting('TimeZone') as zone, current_setting('DateStyle') as style`;
    const rows = await atrium.instance.db.query(statement(text));
    assert.deepEqual(rows, [{ zone: 'UTC', style: 'ISO, MDY' }]);
  });

  it('A server answers 503 while PgBouncer is down, and recovers by itself', async () => {
    const second = await startPgbouncer(await serverUrl());
    const server = startServer({
      env: { ...env(), DATABASE_URL: second.urlOf(databaseUrl), DATABASE_POOLER: 'transaction', LOG_LEVEL: 'error' },
    });
    const url = await server.listening();
    const headers = { Authorization: `token ${atrium.world.users.ann?.token}` };
    const status = async () => (await atrium.call('GET', '/api/v1/user', undefined, headers, url)).status;
    assert.equal(await status(), 200);
    await second.stop();
    assert.equal(await status(), 503);
    const third = await startPgbouncer(await serverUrl(), { port: second.port });
    await until(async () => (await status()) === 200);
    server.kill('SIGTERM');
    await server.ended;
    await third.stop();
  });

  it(`${API_FILES.length} files of the API suite pass through it`, async () => {
    const child = spawn(process.execPath, ['--test', '--test-concurrency=1', '--test-reporter=tap', ...API_FILES], {
      env: {
        ...process.env,
        TEST_SIZE: 'everyday',
        TEST_POOLER_PORT: String(pooler.port),
        TEST_DATABASE_URL: await serverUrl(),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    let told = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk;
      const passed = [...output.matchAll(/^ *ok /gm)].length;
      if (passed < told + 50) return;
      told = passed;
      progress(`${passed} passed`);
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    const failures = output.split('\n').filter((line) => /^ *not ok/.test(line));
    assert.deepEqual(failures, []);
    assert.equal(code, 0, output.slice(-2000));
    assert.ok([...output.matchAll(/^ *ok /gm)].length > 50, output.slice(-2000));
  });
});
