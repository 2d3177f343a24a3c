import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { openDb, sql } from '../../src/db/db.ts';
import { COUNTS } from '../counts.ts';
import { itLong } from '../support/checks/long.ts';
import { newPlace, temporaryFolder } from '../support/server/db.ts';

const quiet = { say: () => {} };

interface Writer {
  readonly process: ChildProcess;
  next(): Promise<string>;
  kill(): Promise<void>;
}

function startWriter(dataDir: string, mode = 'hold'): Writer {
  const child = spawn(process.execPath, ['--liftoff-only', 'test/db/child/writer.ts', dataDir, mode], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    next: async () => String((await lines.next()).value),
    async kill() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    },
  };
}

itLong(
  'Only the first start creates the database, private to its user, and discards an interrupted start',
  async () => {
    const dataDir = join(temporaryFolder(), 'new', 'data');
    mkdirSync(join(dataDir, 'pglite.new'), { recursive: true });
    writeFileSync(join(dataDir, 'pglite.new', 'PG_VERSION'), '18');
    const lines: string[] = [];
    for (let times = 0; times < 2; times += 1) {
      const db = await openDb({ dataDir, say: (line) => lines.push(line) });
      assert.equal(db.driver, 'pglite');
      await db.close();
    }
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /^creating the database in .*pglite, this takes a few seconds$/);
    assert.equal(statSync(join(dataDir, 'pglite')).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(dataDir).sort(), ['pglite', 'pglite.lock']);
  },
);

test('Opening a data directory that is in use is rejected with the process that holds it', async () => {
  const { dataDir } = await newPlace('pglite');
  const holder = startWriter(dataDir);
  assert.equal(await holder.next(), 'open');
  await assert.rejects(openDb({ ...quiet, dataDir }), {
    name: 'AppError',
    kind: 'unavailable',
    message: new RegExp(
      `the database in ${join(dataDir, 'pglite')} is in use by process ${holder.process.pid} on .*DATA_DIR`,
    ),
  });
  await holder.kill();

  const db = await openDb({ ...quiet, dataDir });
  await assert.rejects(openDb({ ...quiet, dataDir }), { kind: 'unavailable' });
  const third = startWriter(dataDir);
  assert.match(await third.next(), new RegExp(`in use by process ${process.pid} `));
  await db.close();
});

itLong('kill -9 leaves no lock behind and loses no acknowledged row', async () => {
  const { dataDir } = await newPlace('pglite');
  let acknowledged = 0n;
  for (let round = 0; round < COUNTS.pgliteKills; round += 1) {
    const writer = startWriter(dataDir, 'write');
    assert.equal(await writer.next(), 'open');
    for (let rows = 0; rows < 50 + round * 37; rows += 1) acknowledged = BigInt(await writer.next());
    await writer.kill();
    assert.ok(existsSync(join(dataDir, 'pglite.owner')), 'the dead owner is still named');
  }
  const db = await openDb({ ...quiet, dataDir });
  const found = await db.query(sql('pglite.row', 'select id from row where id = $1'), [acknowledged]);
  assert.deepEqual(found, [{ id: acknowledged }]);
  await db.close();
});

test('An owner file alone does not lock the data directory', async () => {
  const { dataDir } = await newPlace('pglite');
  writeFileSync(join(dataDir, 'pglite.owner'), `process ${process.pid} on elsewhere, since long ago\n`);
  const db = await openDb({ ...quiet, dataDir });
  await db.close();
});

test('An unusable data directory is rejected with the reason', async () => {
  const { dataDir } = await newPlace('pglite');
  writeFileSync(join(dataDir, 'pglite', 'PG_VERSION'), '12\n');
  await assert.rejects(openDb({ ...quiet, dataDir }), {
    kind: 'unavailable',
    message: /does not start; .*incompatible with server/,
  });
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  await assert.rejects(openDb({ ...quiet, dataDir: file }), {
    kind: 'unavailable',
    message: /^DATA_DIR .* cannot be used/,
  });
});

itLong('Exactly one of several processes that start at once opens the database', async () => {
  const { dataDir } = await newPlace('pglite');
  const starters = Array.from({ length: 4 }, () => startWriter(dataDir));
  const words = await Promise.all(starters.map((starter) => starter.next()));
  assert.equal(words.filter((word) => word === 'open').length, 1, words.join('\n'));
  assert.equal(words.filter((word) => word.startsWith('refused')).length, 3);
  await Promise.all(starters.map((starter) => (starter.process.exitCode === null ? starter.kill() : undefined)));
});

itLong('The write-ahead log stays bounded and dead rows are vacuumed', async () => {
  const { dataDir } = await newPlace('pglite');
  const faults: Error[] = [];
  const db = await openDb({ ...quiet, dataDir, onError: (error) => faults.push(error) });
  await db.query(sql('pglite.wide', 'create table wide (id int primary key, body text)'));
  const fill = sql(
    'pglite.fill',
    `insert into wide select n, repeat(md5(n::text), 60) from generate_series(1, 5000) n`,
  );
  const empty = sql('pglite.empty', 'delete from wide');
  for (let times = 0; times < COUNTS.walRounds; times += 1) {
    await db.query(fill);
    await db.query(empty);
    await new Promise(setImmediate);
  }
  const log = join(dataDir, 'pglite', 'pg_wal');
  const megabytes = readdirSync(log).reduce((sum, name) => sum + statSync(join(log, name)).size, 0) / 2 ** 20;
  assert.ok(megabytes < 150, `${megabytes} MiB of log`);
  const [swept] = await db.query<{ n: bigint }>(
    sql('pglite.swept', `select vacuum_count as n from pg_stat_user_tables where relname = 'wide'`),
  );
  assert.ok((swept?.n ?? 0n) > 0n);
  assert.deepEqual(faults, []);
  await db.close();
});
