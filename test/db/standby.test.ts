import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { createRevisionStore } from '../../src/changes/revision.store.ts';
import type { Moment } from '../../src/changes/revision.ts';
import { type Db, type DbOptions, openDb, ping } from '../../src/db/db.ts';
import { until } from '../support/checks/until.ts';
import { openWire } from '../support/faults/wire.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { statement } from '../support/server/statement.ts';
import { onServer, startPostgres, type TestPostgres } from '../support/services/postgres.ts';
import { lacks } from '../support/services/requirements.ts';

const ADD = statement('insert into number (value) values (1)');
const COUNT = statement('select count(*)::integer as count from number');
const PID = statement('select pg_backend_pid() as pid');
const MINE = statement(`select current_setting('statement_timeout') as timeout, current_setting('TimeZone') as zone`);
const PREPARED = statement('select count(*)::integer as count from pg_prepared_statements');
const CANCEL = `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`;
const UNAVAILABLE = { name: 'AppError', kind: 'unavailable' };

/** These tests change how the whole server runs, so they have their own. */
describe('PostgreSQL with standbys and poolers', { skip: lacks('postgresql') }, () => {
  let server: TestPostgres;
  let url: string;
  const open = (options: Partial<DbOptions> = {}): Promise<Db> =>
    openDb({ databaseUrl: url, dataDir: temporaryFolder(), poolSize: 1, say: () => {}, ...options });
  const pidOf = async (db: Db) => (await db.query<{ pid: number }>(PID))[0]?.pid;

  before(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
    await onServer(
      url,
      `create table number (value int);
       create table change (revision bigint, kind text, id bigint, organization_id bigint);
       create table revision (id int, value bigint, pruned bigint, stamp uuid default gen_random_uuid(), next_expiry timestamptz);
       create table revision_stamp (revision bigint, stamp uuid);
       insert into revision (id, value) values (1, 7);
       insert into revision_stamp select value, stamp from revision`,
    );
  });
  after(() => server.stop());

  it('A commit that a synchronous standby did not confirm is not acknowledged', async () => {
    const db = await open();
    const follow = async (standby: string) => {
      await onServer(server.url, `alter system set synchronous_standby_names = '${standby}'`);
      await onServer(server.url, 'select pg_reload_conf()');
    };
    const isUnknown = (error: unknown) => error instanceof AppError && error.detail.reason === 'outcome_unknown';
    await follow('nobody');
    try {
      for (const write of [() => db.transaction((query) => query(ADD)), () => db.query(ADD)]) {
        const refused = assert.rejects(write(), isUnknown);
        // Somebody ends the wait. PostgreSQL then reports success, with a warning.
        await until(async () => (await onServer(url, CANCEL)).length > 0);
        await refused;
      }
      assert.deepEqual(await db.query(COUNT), [{ count: 2 }], 'although this server has it');
    } finally {
      await follow('');
    }
    await db.transaction((query) => query(ADD));
    await db.query(ADD);
    await db.close();
  });

  it('Behind a pooler, nothing depends on the connection that a statement gets', async () => {
    const db = await open({ isPooled: true, queryTimeoutMs: 1234 });
    await db.query(ADD);
    for (const value of ['7', '7'])
      assert.equal(await db.queryRevision(statement('select value from revision')), value);
    assert.deepEqual(await db.query(PREPARED), [{ count: 0 }]);
    assert.deepEqual(await db.query(MINE), [{ timeout: '0', zone: 'UTC' }]);
    assert.deepEqual(await db.transaction((query) => query(MINE)), [{ timeout: '1234ms', zone: 'UTC' }]);
    await db.close();
  });

  it('After the connection of revision queries moved, no earlier connection serves another query', async (t) => {
    const wire = await openWire(new URL(url));
    t.after(() => wire.cut());
    const db = await open({ databaseUrl: wire.url });
    const ask = () => db.queryRevision(statement('select pg_backend_pid()'));
    const [line, before] = [await ask(), await pidOf(db)];
    assert.equal(await pidOf(db), before);
    await onServer(url, `select pg_terminate_backend(${line})`);
    assert.notEqual(await ask(), line);
    assert.notEqual(await pidOf(db), before);
    await db.close();
  });

  it('Several hosts are tried in turn until one is the primary', async () => {
    const { port, pathname } = new URL(url);
    const at = (hosts: string, query = '') => `postgres://atrium@${hosts}${pathname}${query}`;
    const hosts = `127.0.0.1:1,127.0.0.1:${port}`;
    const db = await open({ databaseUrl: at(hosts, '?target_session_attrs=read-write') });
    await ping(db);
    assert.equal(await db.queryRevision(statement('select value from revision')), '7');
    await db.close();
    await assert.rejects(open({ databaseUrl: at('127.0.0.1:1,127.0.0.1:2') }), {
      ...UNAVAILABLE,
      message: /the database at 127\.0\.0\.1:1,127\.0\.0\.1:2\/.*ECONNREFUSED/,
    });
    await assert.rejects(open({ databaseUrl: at(hosts, '?target_session_attrs=standby') }), {
      ...UNAVAILABLE,
      message: /DATABASE_URL must not ask for target_session_attrs=standby: use read-write/,
    });
  });

  it('A standby is unavailable for reads and writes until it is promoted', async () => {
    const db = await open();
    const store = createRevisionStore(db);
    const news = (since?: Moment) => store.news(since, async () => undefined);
    const { revision, stamp } = await news();
    assert.equal(revision, 7n);
    await server.restartAsStandby();
    const attempts = {
      revision: () => news({ revision, stamp }),
      readiness: () => ping(db),
      write: () => db.query(ADD),
      transaction: () => db.transaction((query) => query(ADD)),
    };
    for (const [name, attempt] of Object.entries(attempts)) {
      // The first one may only notice that its connection is gone.
      await attempt().catch(() => undefined);
      await assert.rejects(attempt(), { ...UNAVAILABLE, message: /read-only/ }, name);
    }
    const { host, pathname } = new URL(url);
    await assert.rejects(open({ databaseUrl: `postgres://atrium@127.0.0.1:1,${host}${pathname}` }), {
      ...UNAVAILABLE,
      message: /none of the servers of DATABASE_URL is a primary/,
    });
    await onServer(server.url, 'select pg_promote()');
    assert.equal((await news({ revision, stamp })).continues, true);
    await ping(db);
    await db.query(ADD);
    await db.transaction((query) => query(ADD));
    await db.close();
  });
});
