import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keepLastBackup } from '../../src/db/last-backup.store.ts';
import { until } from '../support/checks/until.ts';
import { COUNTED_DRIVERS } from '../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';

async function metricsOf({ instance }: TestServer): Promise<(series: string) => number> {
  const text = await instance.metrics.registry.metrics();
  return (series) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length),
    );
}

describe('Metrics about the load', () => {
  for (const driver of COUNTED_DRIVERS) {
    const pool = driver === 'pglite' ? 1 : 2;

    it(`Connections in use and calls that wait for one are shown on ${driver}`, async (test) => {
      const server = await openTestServer({ driver, env: { DATABASE_POOL: String(pool) } });
      const { db } = server.instance;
      const gate = Promise.withResolvers<void>();
      test.after(async () => {
        gate.resolve();
        await server.close();
      });
      const hold = () => db.transaction(() => gate.promise);
      const held = Array.from({ length: pool }, hold);
      await until(() => db.connections().used === pool);
      held.push(hold(), hold(), hold());
      // What the server does by itself may wait, too.
      await until(() => db.connections().waiting >= 3);
      const busy = await metricsOf(server);
      assert.equal(busy('db_client_connection_count{state="used"}'), pool);
      assert.equal(busy('db_client_connection_max'), pool);
      assert.ok(busy('db_client_connection_pending_requests') >= 3);
      gate.resolve();
      await Promise.all(held);
      await until(() => db.connections().used === 0);
      const idle = await metricsOf(server);
      assert.equal(idle('db_client_connection_count{state="used"}'), 0);
      assert.equal(idle('db_client_connection_count{state="idle"}'), pool);
      assert.equal(idle('db_client_connection_pending_requests'), 0);
      assert.equal(idle('atrium_ready'), 1);
    });
  }

  for (const driver of COUNTED_DRIVERS) {
    it(`The size of the audit log and the age of the last backup are shown on ${driver}`, async (test) => {
      const server = await openTestServer({ driver });
      test.after(() => server.close());
      const { db } = server.instance;
      const before = await metricsOf(server);
      assert.ok(before('atrium_audit_bytes') >= 8192);
      assert.equal(before('atrium_backup_age_seconds'), -1);
      await db.query(statement(`insert into last_backup (id, at) values (1, now() - interval '1 hour')`));
      assert.equal(Math.round((await metricsOf(server))('atrium_backup_age_seconds') / 60), 60);
      await keepLastBackup(db.query);
      assert.ok((await metricsOf(server))('atrium_backup_age_seconds') < 60);
    });
  }

  it('Changes under way, those that have ended and their time are shown, also if they fail', async (test) => {
    const server = await openTestServer();
    test.after(() => server.close());
    const { revisions } = server.instance;
    const before = await metricsOf(server);
    const gate = Promise.withResolvers<void>();
    const writes = [revisions.write(() => gate.promise), revisions.write(() => gate.promise)];
    assert.equal((await metricsOf(server))('atrium_writes_under_way'), 2);
    gate.reject(new Error('no'));
    await Promise.allSettled(writes);
    const after = await metricsOf(server);
    assert.equal(after('atrium_writes_under_way'), 0);
    assert.equal(after('atrium_writes_total') - before('atrium_writes_total'), 2);
    assert.ok(after('atrium_write_seconds_total') > before('atrium_write_seconds_total'));
  });

  it('A graph is counted when it is loaded, with its memory, and not while it is only used', async (test) => {
    const server = await openTestServer();
    test.after(() => server.close());
    const ask = () => server.as('ann')('GET', '/authz/roles?org=acme');
    const before = await metricsOf(server);
    assert.equal((await ask()).status, 200);
    const after = await metricsOf(server);
    const loaded = after('atrium_graphs_loaded_total');
    assert.ok(loaded > before('atrium_graphs_loaded_total'));
    await ask();
    assert.equal((await metricsOf(server))('atrium_graphs_loaded_total'), loaded);
    assert.equal(after('atrium_graphs_dropped_total'), 0);
    assert.ok(after('atrium_graph_bytes') > before('atrium_graph_bytes'));
  });

  it('A server that leaves is not ready', async (test) => {
    const server = await openTestServer();
    test.after(() => server.close());
    server.instance.leave();
    assert.equal((await metricsOf(server))('atrium_ready'), 0);
  });
});
