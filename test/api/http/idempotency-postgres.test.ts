import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readConfig } from '../../../src/base/config/config.ts';
import { createLog } from '../../../src/base/log.ts';
import { type Instance, openInstance } from '../../../src/instance.ts';
import { type LossyWire, openLossyWire } from '../../support/faults/lossy-wire.ts';
import { lockTable } from '../../support/faults/table-lock.ts';
import { DRIVERS } from '../../support/server/db.ts';
import { type Answer, openTestServer, TEST_KEY, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { makePerson } from '../../support/world/people.ts';

const KEY = 'Idempotency-Key';
const ORDER = {
  spec: {
    items: [{ chart: { name: 'c', sourceRef: { name: 's' }, version: '1', releaseName: 'r', namespace: 'n' } }],
  },
};
const isReplay = ({ headers }: Answer) => headers.get('idempotency-replayed') === 'true';

describe('Idempotency keys on several servers', { skip: !DRIVERS.includes('postgres') }, () => {
  let atrium: TestServer;
  let wire: LossyWire;
  /** A second server, which reaches the database over a wire that can lose an answer. */
  let second: { instance: Instance; url: string };
  before(async () => {
    atrium = await openTestServer({ driver: 'postgres' });
    wire = await openLossyWire(atrium.instance.config.DATABASE_URL ?? '');
    const env = { PORT: '0', ADMIN_PORT: '0', DATABASE_URL: wire.url, DATA_DIR: atrium.dataDir, ATRIUM_KEY: TEST_KEY };
    const instance = await openInstance(readConfig(env), { log: createLog('silent'), say: () => undefined });
    second = { instance, url: await instance.listen() };
  });
  after(async () => {
    await second.instance.close();
    wire.close();
    await atrium.close();
  });

  const post = (url: string, token: string, path: string, body: unknown, key: string, scheme = 'token') =>
    atrium.call('POST', `/api/v1${path}`, body, { Authorization: `${scheme} ${token}`, [KEY]: key }, url);
  const count = async (table: string, where: string) => {
    const found = await atrium.instance.db.query<{ total: number }>(
      statement(`select count(*)::integer as total from ${table} where ${where}`),
    );
    return found[0]?.total;
  };

  it('A token whose COMMIT was not answered is returned to the client that asks again', async () => {
    const { id, name, token } = await makePerson(atrium);
    const basic = Buffer.from(`${name}:${token}`).toString('base64');
    const create = (url: string) => post(url, basic, `/users/${name}/tokens`, { name: 'lost' }, 'lost-1', 'Basic');
    // The second server remembers the caller, so the next COMMIT is that of the new token.
    await atrium.call('GET', '/api/v1/user', undefined, { Authorization: `token ${token}` }, second.url);
    wire.loseNextCommit();
    const lost = await create(second.url);
    assert.deepEqual([lost.status, lost.body.reason, lost.headers.get('retry-after')], [503, 'outcome_unknown', '1']);
    const again = await create(second.url);
    assert.deepEqual([again.status, isReplay(again), again.body.name], [201, true, 'lost']);
    const elsewhere = await create(atrium.url);
    assert.deepEqual([elsewhere.status, isReplay(elsewhere), elsewhere.text], [201, true, again.text]);
    assert.equal(await count('token', `account_id = ${id} and name = 'lost'`), 1);
    const used = { Authorization: `token ${again.body.sha1}` };
    assert.equal((await atrium.call('GET', '/api/v1/user', undefined, used)).body.login, name);
  });

  it('Two hundred requests with one key to two servers have one effect', async () => {
    const { id, token } = await makePerson(atrium);
    const urls = [atrium.url, second.url];
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, place) =>
        post(urls[place % 2] ?? '', token, '/user/deploy/orders', ORDER, 'both-1'),
      ),
    );
    assert.equal(await count('deploy_order', `owner_id = ${id}`), 1);
    const done = answers.filter(({ status }) => status === 200);
    assert.equal(new Set(done.map(({ text }) => text)).size, 1);
    assert.equal(done.filter((answer) => !isReplay(answer)).length, 1);
    const others = answers.filter(({ status }) => status !== 200);
    assert.ok(others.every(({ status, body }) => status === 409 && body.reason === 'request_in_progress'));
  });

  it('A request that still runs on any server is answered with 409 to those that repeat it', async () => {
    const { id, token } = await makePerson(atrium);
    const create = (url: string) => post(url, token, '/user/deploy/orders', ORDER, 'slow-1');
    const lock = await lockTable(atrium.instance.config.DATABASE_URL ?? '', 'deploy_order');
    const slow = create(atrium.url);
    await lock.untilSomebodyWaits();
    for (const url of [atrium.url, second.url]) {
      const { status, body, headers } = await create(url);
      assert.deepEqual([status, body.reason, headers.get('retry-after')], [409, 'request_in_progress', '1']);
    }
    await lock.release();
    const made = await slow;
    assert.deepEqual([made.status, isReplay(made)], [200, false]);
    for (const url of [atrium.url, second.url]) assert.equal((await create(url)).text, made.text);
    assert.equal(await count('deploy_order', `owner_id = ${id}`), 1);
  });

  it('A request that failed because the database was gone leaves its key free', async () => {
    const { id, token } = await makePerson(atrium);
    const create = () => post(atrium.url, token, '/user/deploy/orders', ORDER, 'cut-1');
    const lock = await lockTable(atrium.instance.config.DATABASE_URL ?? '', 'deploy_order');
    const cut = create();
    await lock.untilSomebodyWaits();
    await atrium.instance.db.query(
      statement(
        `select pg_terminate_backend(pid) from pg_locks where not granted and relation = 'deploy_order'::regclass`,
      ),
    );
    assert.equal((await cut).status, 503);
    await lock.release();
    assert.equal(await count('deploy_order', `owner_id = ${id}`), 0);
    assert.deepEqual([(await create()).status, isReplay(await create())], [200, true]);
    assert.equal(await count('deploy_order', `owner_id = ${id}`), 1);
  });
});
