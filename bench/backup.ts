/**
 * npm run bench -- backup: rows and MiB per second of a backup and a restore, on both drivers, with the peak memory of
 * each. The rows are audit entries, because that is the table that grows. Each step is a process of its own, so its
 * memory is its own.
 */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Db, openDb, sql } from '../src/db/db.ts';
import { inspect } from '../src/operations/backup/inspection.ts';
import { DRIVERS, migrated, newPlace, type Place, temporaryFolder } from '../test/support/server/db.ts';

const ROWS = Number(process.env.ROWS ?? 100_000);
const MIB = 2 ** 20;
const write = (line: string) => void process.stdout.write(`${line}\n`);
const quiet = { say: () => undefined };

const FILL = sql(
  'bench.fill',
  `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, before, after, request_id, previous_hash, hash)
   select now(), n % 50, n % 1000, 'person ' || n % 1000, 'role.update', 'role', n, json_build_object('name', md5(n::text), 'n', n),
          json_build_object('name', md5((n + 1)::text), 'permissions', array['view clusters', 'edit']), md5(n::text),
          sha256(n::text::bytea), sha256((n + 1)::text::bytea) from generate_series($1::bigint, $2::bigint) as n`,
);
const BATCH = 50_000;

async function fill(db: Db): Promise<void> {
  for (let from = 1; from <= ROWS; from += BATCH) await db.query(FILL, [from, Math.min(ROWS, from + BATCH - 1)]);
}

if (process.argv[2] === 'step')
  await step(process.argv[3] ?? '', process.argv[4] ?? '', process.argv[5] ?? '', process.argv[6]);
else await all();
// The test database would keep this process alive.
process.exit(0);

async function all(): Promise<void> {
  const folder = temporaryFolder();
  for (const from of DRIVERS) {
    const place = await newPlace(from, migrated());
    const db = await openDb({ ...quiet, ...place });
    await fill(db);
    const waited = db.copyTo && (await db.copyTo(join(folder, 'copy')));
    await db.close();
    if (waited !== undefined)
      write(`${'a server on pglite waits for the copy of its files'.padEnd(54)}${waited.toFixed(0).padStart(8)} ms`);
    const file = join(folder, `${from}.tar.gz`);
    report(`backup of ${from}`, file, run('backup', file, place), await size(file));
    for (const to of DRIVERS) {
      const target = await newPlace(to);
      report(`restore of ${from} into ${to}`, file, run('restore', file, target), await size(file));
    }
  }
}

async function size(file: string) {
  const { tables } = (await inspect(file)).manifest;
  return {
    rows: tables.reduce((sum, one) => sum + one.rows, 0),
    bytes: tables.reduce((sum, one) => sum + one.bytes, 0),
  };
}

interface Step {
  readonly ms: number;
  /** In bytes: when the database was opened, and the maximum seen during the work. */
  readonly atFirst: number;
  readonly peak: number;
}

function run(what: string, file: string, { dataDir, databaseUrl = '' }: Place): Step {
  const done = spawnSync(process.execPath, [import.meta.filename, 'step', what, file, dataDir, databaseUrl], {
    encoding: 'utf8',
  });
  if (done.status !== 0) throw new Error(done.stderr);
  return JSON.parse(done.stdout.split('\n')[0] ?? '') as Step;
}

async function step(what: string, file: string, dataDir: string, databaseUrl?: string): Promise<void> {
  const db = await openDb({ ...quiet, dataDir, databaseUrl: databaseUrl || undefined });
  const atFirst = process.memoryUsage.rss();
  let peak = atFirst;
  // Not the peak that the operating system reports: opening PGlite briefly takes more than everything that follows.
  const onProgress = () => {
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  const began = performance.now();
  if (what === 'backup') {
    const { backUp } = await import('../src/operations/backup/backup.ts');
    await backUp({ db, file, version: 'bench', now: new Date(), onProgress });
  } else {
    const { restore } = await import('../src/operations/backup/restore.ts');
    const { manifest } = await inspect(file);
    await restore({ db, file, manifest, replace: false, migrationsFolder: 'migrations', ...quiet, onProgress });
  }
  const ms = performance.now() - began;
  await db.close();
  write(JSON.stringify({ ms, peak, atFirst }));
}

function report(
  name: string,
  file: string,
  { ms, peak, atFirst }: Step,
  { rows, bytes }: { rows: number; bytes: number },
): void {
  const rate = (count: number) => ((count * 1000) / ms).toFixed(0).padStart(8);
  const packed = (statSync(file).size / MIB).toFixed(1);
  write(
    `${name.padEnd(34)}${rate(rows)} rows/s${rate(bytes / MIB)} MiB/s  ${(ms / 1000).toFixed(1)} s for ${rows} rows, ` +
      `${(bytes / MIB).toFixed(0)} MiB (${packed} packed); memory at most ${Math.round(peak / MIB)} MiB, ${Math.round((peak - atFirst) / MIB)} more than when the database was open`,
  );
}
