import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { AuditEntry } from '../../src/changes/audit-entry.ts';
import type { Instance } from '../../src/instance.ts';
import { COUNTS } from '../counts.ts';
import { describeLong } from '../support/checks/long.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { until } from '../support/checks/until.ts';
import { type Place, temporaryFolder } from '../support/server/db.ts';
import { COUNTED_DRIVERS } from '../support/server/drivers.ts';
import { startServer } from '../support/server/process.ts';
import { newDemoPlace, openQuietly, TEST_KEY } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';

type Demo = Awaited<ReturnType<typeof newDemoPlace>>;

/** More logs than are removed in one transaction. */
const LOGS = 520;
const ENTRIES = 2;
const FIRST_LOG = 1_000_000;
const settings = ({ dataDir, databaseUrl = '' }: Place) => ({
  ...{ DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ATRIUM_KEY: TEST_KEY },
});

for (const driver of COUNTED_DRIVERS) {
  describeLong(`An archive of the audit log whose process is killed, on ${driver}`, () => {
    for (const [stopAt, isWritten, removes] of [
      ['writing', false, 'nothing'],
      ['written', true, 'nothing'],
      ['removing', true, 'a part'],
    ] as const) {
      it(`Killed while ${stopAt}, it has removed ${removes}, and the next one completes it, on ${driver}`, async () => {
        const demo = await newDemoPlace(driver);
        const { place } = demo;
        const folder = temporaryFolder();
        const total = await inServer(demo, fill);
        const child = startServer({
          main: 'test/support/server/archiver.ts',
          cwd: '.',
          args: [join(folder, 'first.ndjson'), stopAt, place.dataDir, place.databaseUrl ?? ''],
        });
        await until(() => child.stdout().includes('here\n'));
        child.kill('SIGKILL');
        await child.ended;
        assert.equal(readdirSync(folder).includes('first.ndjson'), isWritten);
        await inServer(demo, async (server) => {
          const { kept, removed } = await checkWhole(server, folder, total);
          if (removes === 'nothing') assert.equal(removed, 0);
          else assert.ok(removed > 0 && kept > LOGS, `${removed} removed, ${kept} kept`);
          await archive(server, join(folder, 'second.ndjson'));
          assert.ok((await checkWhole(server, folder, total)).removed >= LOGS * (ENTRIES - 1));
          if (stopAt === 'removing') await restoreAll(server, folder, total);
        });
      });
    }

    it(`Killed at any time, it loses nothing, on ${driver} (seed ${SEED})`, async (t) => {
      const random = createRandom();
      const partial: string[] = [];
      for (let kill = 0; kill < COUNTS.archiveKills; kill++) {
        const demo = await newDemoPlace(driver);
        const { place } = demo;
        const folder = temporaryFolder();
        const total = await inServer(demo, fill);
        const args = ['audit', 'archive', '--before', new Date().toISOString(), '--to', join(folder, 'first.ndjson')];
        const child = startServer({ main: 'src/cli.ts', args, env: settings(place) });
        // From the start of the process on, which takes most of the time.
        await Promise.race([pause(1000 + random.below(4000)), child.ended]);
        child.kill('SIGKILL');
        await child.ended;
        await inServer(demo, async (server) => {
          const { removed } = await checkWhole(server, folder, total);
          partial.push(`${readdirSync(folder).join(' ') || 'no file'}: ${removed}`);
          await archive(server, join(folder, 'second.ndjson'));
          await checkWhole(server, folder, total);
          await restoreAll(server, folder, total);
        });
      }
      t.diagnostic(partial.join('; '));
    });
  });
}

interface Server {
  readonly instance: Instance;
  /** Whether a log verifies, by its ID. */
  verifies(log: number): Promise<boolean>;
}

async function inServer<T>({ place, world }: Demo, work: (server: Server) => Promise<T>): Promise<T> {
  const instance = await openQuietly(settings(place), []);
  const url = await instance.listen();
  const headers = { Authorization: `token ${world.users.root?.token}` };
  const verifies = async (log: number) => {
    const answer = await fetch(`${url}/api/v1/admin/audit/verify?from=beginning&org=${log}`, { headers });
    return ((await answer.json()) as { ok?: boolean }).ok === true;
  };
  return await work({ instance, verifies }).finally(() => instance.close());
}

/** Returns how many entries there are. */
async function fill({ instance: { revisions, db } }: Server): Promise<number> {
  const entry = (log: number, at: number): AuditEntry => ({
    ...{ actor: { id: 0n, name: 'operator', requestId: 'test' }, organizationId: BigInt(FIRST_LOG + log) },
    ...{ action: 'role.update', objectType: 'role', objectId: BigInt(at + 1), after: { name: `role ${at}` } },
  });
  await revisions.write(async (_query, _touch, record) => {
    for (let log = 0; log < LOGS; log++) for (let at = 0; at < ENTRIES; at++) record(entry(log, at));
  });
  await pause(5);
  return await countOf(db);
}

/** In the logs of this test. Servers write entries of their own into others, when a token of the demo expires. */
async function countOf(db: Instance['db']): Promise<number> {
  const own = `organization_id >= ${FIRST_LOG} and action not in ('audit.archive', 'audit.restore')`;
  const [row] = await db.query<{ count: number }>(
    statement(`select count(*)::integer as count from audit where ${own}`),
  );
  return row?.count ?? 0;
}

async function archive({ instance: { features } }: Server, path: string): Promise<void> {
  const now = new Date();
  await features.auditArchive.archive({ place: features.auditArchive.placeOf(path), before: now }, now);
}

interface SegmentRow {
  organization_id: bigint;
  first_id: bigint;
  last_id: bigint;
  entries: number;
  place: string;
}

/** Every entry is in the database, or in a segment that is in the file that it names. */
async function checkWhole({ instance: { db }, verifies }: Server, folder: string, total: number) {
  const segments = await db.query<SegmentRow>(
    statement('select organization_id, first_id, last_id, entries, place from audit_segment'),
  );
  const kept = await countOf(db);
  const own = segments.filter(({ organization_id: log }) => log >= FIRST_LOG);
  const removed = own.reduce((sum, { entries }) => sum + entries, 0);
  assert.equal(kept + removed, total);
  const files = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  for (const { organization_id: log, first_id: first, last_id: last, place } of segments) {
    const close = `{"close":{"organization_id":${log},"first":${first},"last":${last},`;
    assert.ok(files.get(place)?.includes(close), `${place} has the segment of log ${log}`);
  }
  for (const log of [0, FIRST_LOG, FIRST_LOG + LOGS / 2, FIRST_LOG + LOGS - 1]) {
    assert.ok(await verifies(log), `log ${log}`);
  }
  return { kept, removed };
}

async function restoreAll({ instance }: Server, folder: string, total: number) {
  const { auditArchive } = instance.features;
  for (const name of ['second.ndjson', 'first.ndjson']) {
    if (!readdirSync(folder).includes(name)) continue;
    await auditArchive.restore(auditArchive.placeOf(join(folder, name)), undefined).catch((error: Error) => {
      assert.match(error.message, /nothing in first\.ndjson is archived/);
    });
  }
  assert.equal(await countOf(instance.db), total);
}
