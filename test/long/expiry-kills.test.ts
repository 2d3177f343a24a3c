import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { only, openDb, sql } from '../../src/db/db.ts';
import { COUNTS } from '../counts.ts';
import { auditOf, brokenLinks } from '../support/checks/audit.ts';
import { describeLong } from '../support/checks/long.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { DRIVERS } from '../support/server/db.ts';
import { surroundings } from '../support/server/process.ts';
import { newDemoPlace, openQuietly, TEST_KEY } from '../support/server/server.ts';

const CROWD = sql(
  'test.expiredCrowd',
  `with made as (insert into account (kind, name) select 'user', $2 || n from generate_series(1, $3::integer) n returning id)
   insert into team_member (team_id, account_id, expires_at) select $1, id, now() from made`,
);
const LEFT = sql('test.expiredLeft', 'select count(*)::integer as count from team_member where expires_at is not null');
/** Several pieces of 500. */
const MEMBERS = 2200;
const MAX_DELAY_MS = 400;

describeLong('A process that is killed while something expires', () => {
  for (const driver of DRIVERS) {
    it(`Every piece is removed with its entries or not at all, and the next process goes on, on ${driver} (seed ${SEED})`, async (t) => {
      const random = createRandom();
      const { place, world } = await newDemoPlace(driver);
      const { id = 0n, teams } = world.orgs.acme ?? assert.fail();
      const partial: number[] = [];
      for (let kill = 0; kill < COUNTS.expiryKills; kill++) {
        const db = await openDb({ ...place, say: () => undefined });
        await db.query(CROWD, [teams.Viewers, `kill${kill}x`, MEMBERS]);
        await db.close();
        await killWhileExpiring(place, world.users.ann?.token ?? '', random.below(MAX_DELAY_MS));
        const { left, entries } = await stateOf(place, id);
        assert.equal(left + entries, MEMBERS * (kill + 1), `after kill ${kill}`);
        if (left > 0 && left < MEMBERS) partial.push(left);
        // The next process goes on where the other one ended.
        const instance = await openQuietly(settingsOf(place), []);
        await instance.revisions.current().finally(() => instance.close());
        assert.deepEqual(await stateOf(place, id), { left: 0, entries: MEMBERS * (kill + 1) });
      }
      t.diagnostic(`${partial.length} of ${COUNTS.expiryKills} kills were in the middle: ${partial.join(', ')} left`);
    });
  }
});

type Place = Awaited<ReturnType<typeof newDemoPlace>>['place'];

function settingsOf({ dataDir, databaseUrl = '' }: Place) {
  return { DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ATRIUM_KEY: TEST_KEY };
}

async function stateOf(place: Place, organizationId: bigint): Promise<{ left: number; entries: number }> {
  const db = await openDb({ ...place, say: () => undefined });
  try {
    const chain = await auditOf(db, organizationId);
    assert.deepEqual(brokenLinks(chain), []);
    const entries = chain.filter(({ action }) => action === 'team.expire_member').length;
    return { left: only(await db.query<{ count: number }>(LEFT)).count, entries };
  } finally {
    await db.close();
  }
}

/** The first request makes the process remove everything. It is killed a moment later. */
async function killWhileExpiring(place: Place, token: string, delayMs: number): Promise<void> {
  const env = { ...surroundings(), ...settingsOf(place), PORT: '0', ADMIN_PORT: '0' };
  const child = spawn(process.execPath, ['test/support/server/second-process.ts', 'hearing'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [url] = await Promise.race([once(child.stdout, 'data'), ended]);
  const asked = fetch(`${String(url).trim()}/api/v1/user`, { headers: { Authorization: `token ${token}` } });
  await Promise.race([asked.catch(() => undefined), pause(delayMs)]);
  child.kill('SIGKILL');
  await asked.catch(() => undefined);
  await ended;
}
