import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { AppError } from '../../src/base/errors.ts';
import { type Db, openDb, sql } from '../../src/db/db.ts';
import { type StartBackend, startBackend } from '../../src/db/pglite/pglite-backend.ts';
import type { Disk } from '../../src/db/pglite/pglite-files.ts';
import { COUNTS } from '../counts.ts';
import { itLong } from '../support/checks/long.ts';
import { createForgetfulDisk, type ForgetfulDisk } from '../support/faults/power-cut.ts';
import { newPlace, temporaryFolder } from '../support/server/db.ts';

const CREATE = sql('power.create', 'create table note (id int primary key, body text)');
const INSERT = sql(
  'power.insert',
  'insert into note select n, repeat(md5(n::text), 20) from generate_series($1::int, $2) n',
);
const IDS = sql('power.ids', 'select count(*)::int as n, coalesce(max(id), 0) as last from note');
const CHECKPOINT = sql('power.checkpoint', 'checkpoint');

const quiet = { say: () => {} };

/** In this thread, because the disk is an object of this thread. */
function onDisk(disk: Disk): StartBackend {
  return (options, watch) => startBackend(options, watch, disk);
}

interface Forgetful {
  readonly db: Db;
  readonly disk: ForgetfulDisk;
  readonly dataDir: string;
}

async function openForgetful(): Promise<Forgetful> {
  const disk = createForgetfulDisk();
  const { dataDir } = await newPlace('pglite');
  disk.trust(dataDir);
  return { db: await openDb({ ...quiet, dataDir, startPglite: onDisk(disk) }), disk, dataDir };
}

/** What a start after a power cut at this moment finds. */
async function afterPowerCut<T>(
  disk: ForgetfulDisk,
  dataDir: string,
  look: (db: Db) => Promise<T>,
  lucky?: () => boolean,
): Promise<T> {
  const image = join(temporaryFolder(), 'image');
  disk.image(dataDir, image, lucky);
  const db = await openDb({ ...quiet, dataDir: image });
  try {
    return await look(db);
  } finally {
    await db.close();
  }
}

/** The rows, counted once through the table and once through its index, and proof that the database still works. */
async function rows(db: Db): Promise<unknown> {
  const [found] = await db.query<{ n: number; last: number }>(IDS);
  const byIndex = await db.transaction(async (query) => {
    await query(sql('power.noScan', 'set local enable_seqscan = off'));
    return query(
      sql('power.byIndex', `select count(*)::int as n, coalesce(max(id), 0) as last from note where id > 0`),
    );
  });
  assert.deepEqual(byIndex, [found]);
  await db.query(INSERT, [(found?.last ?? 0) + 1, (found?.last ?? 0) + 10]);
  return found;
}

itLong('An acknowledged write survives a power cut, and so does one after a checkpoint', async () => {
  const { db, disk, dataDir } = await openForgetful();
  await db.query(CREATE);
  await db.query(INSERT, [1, 1]);
  assert.deepEqual(await afterPowerCut(disk, dataDir, rows), { n: 1, last: 1 });
  await db.query(CHECKPOINT);
  await db.query(INSERT, [2, 10]);
  assert.deepEqual(await afterPowerCut(disk, dataDir, rows), { n: 10, last: 10 });
  await db.close();
});

itLong('An acknowledged write survives a power cut, from the first start on', async () => {
  const disk = createForgetfulDisk();
  const dataDir = temporaryFolder();
  const db = await openDb({ ...quiet, dataDir, startPglite: onDisk(disk) });
  await db.query(CREATE);
  await db.query(INSERT, [1, 1]);
  assert.deepEqual(await afterPowerCut(disk, dataDir, rows), { n: 1, last: 1 });

  await db.transaction(async (query) => {
    await query(INSERT, [2, 500]);
    await query(INSERT, [501, 600]);
  });
  assert.deepEqual(await afterPowerCut(disk, dataDir, rows), { n: 600, last: 600 });

  // The checkpoint makes the log before it worthless: by now the data files and their folders must have been synced.
  await db.query(CHECKPOINT);
  await db.query(INSERT, [601, 610]);
  assert.deepEqual(await afterPowerCut(disk, dataDir, rows), { n: 610, last: 610 });

  // More than one segment of the log, so that new segments and their names are covered too.
  await db.query(INSERT, [611, 12_000]);
  await db.query(INSERT, [12_001, 12_001]);
  assert.deepEqual(await afterPowerCut(disk, dataDir, rows), { n: 12_001, last: 12_001 });

  await db.close();
  assert.deepEqual(await afterPowerCut(disk, dataDir, rows), { n: 12_001, last: 12_001 });
});

itLong('Acknowledged writes survive a power cut whichever unsynced files reached the disk', async () => {
  const { db, disk, dataDir } = await openForgetful();
  await db.query(CREATE);
  await db.query(INSERT, [1, 3_000]);
  await db.query(sql('power.update', `update note set body = 'short' where id % 2 = 0`));
  for (const odds of [2, 3, 5, 7, 11, 13, 17, 19].slice(0, COUNTS.partialPowerCuts)) {
    let files = 0;
    const lucky = () => {
      files += 1;
      return files % odds === 0;
    };
    assert.deepEqual(await afterPowerCut(disk, dataDir, rows, lucky), { n: 3_000, last: 3_000 });
  }
  await db.close();
});

itLong('A transaction that was not acknowledged leaves nothing behind after a power cut', async () => {
  const { db, disk, dataDir } = await openForgetful();
  await db.query(CREATE);
  await db.transaction(async (query) => {
    await query(INSERT, [1, 2_000]);
    assert.deepEqual(await afterPowerCut(disk, dataDir, rows), { n: 0, last: 0 });
  });
  await db.close();
});

itLong('A row is lost in a power cut when the disk does not honor syncs', async () => {
  const { db, disk, dataDir } = await openForgetful();
  await db.query(CREATE);
  await db.query(INSERT, [1, 1]);
  disk.lie();
  await db.query(INSERT, [2, 2]);
  assert.deepEqual(await afterPowerCut(disk, dataDir, rows), { n: 1, last: 1 });
  await db.close();
});

test('A write waits for a disk sync and a read does not', async () => {
  let syncs = 0;
  const counting = {
    sync() {
      syncs += 1;
    },
  };
  const { dataDir } = await newPlace('pglite');
  const db = await openDb({ ...quiet, dataDir, startPglite: onDisk(counting) });
  await db.query(CREATE);
  await db.query(INSERT, [1, 10]);
  await db.query(IDS);
  syncs = 0;
  for (let times = 0; times < 50; times += 1) await db.query(IDS);
  await db.transaction((query) => query(IDS));
  assert.equal(syncs, 0);
  await db.query(INSERT, [11, 11]);
  assert.equal(syncs, 1);
  await db.close();
});

test('A disk failure makes the database unavailable until a restart recovers it', async () => {
  let broken = false;
  const failing = {
    sync() {
      if (broken) throw Object.assign(new Error('the disk is on fire'), { code: 'EIO' });
    },
  };
  const { dataDir } = await newPlace('pglite');
  const faults: Error[] = [];
  const db = await openDb({
    ...quiet,
    dataDir,
    onStopped: (error) => faults.push(error),
    startPglite: onDisk(failing),
  });
  await db.query(CREATE);
  await db.query(INSERT, [1, 1]);
  broken = true;
  const stopped = { name: 'AppError', kind: 'unavailable', message: /stopped: the disk failed .*; start again/ };
  await assert.rejects(
    db.transaction((query) => query(INSERT, [2, 2])),
    ({ detail }: AppError) => detail.reason === 'outcome_unknown',
  );
  await assert.rejects(db.query(IDS), stopped);
  assert.equal(faults.length, 1, 'the process is told once');
  await db.close();
  broken = false;
  const again = await openDb({ ...quiet, dataDir });
  const [found] = await again.query<{ n: number }>(IDS);
  assert.ok(found?.n === 1 || found?.n === 2);
  await again.close();
});
