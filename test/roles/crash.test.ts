import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { it } from 'node:test';
import { DEFAULT_LIMITS } from '../../src/base/config/limits.ts';
import { createQuotas } from '../../src/changes/quotas.store.ts';
import { createRevisionStore } from '../../src/changes/revision.store.ts';
import { createRevisions } from '../../src/changes/revision.ts';
import { type Db, openDb, sql } from '../../src/db/db.ts';
import { createOrganizationStore } from '../../src/organizations/organizations.store.ts';
import { createOrganizations } from '../../src/organizations/organizations.ts';
import { createUserStore } from '../../src/users/users.store.ts';
import { createUsers } from '../../src/users/users.ts';
import { COUNTS } from '../counts.ts';
import { auditOf, brokenLinks } from '../support/checks/audit.ts';
import { describeLong } from '../support/checks/long.ts';
import { DRIVERS, type Driver, migrated, newPlace, type Place } from '../support/server/db.ts';

const KILLS = { postgres: COUNTS.roleKillsOnPostgres, pglite: COUNTS.roleKillsOnPglite };

interface Scene {
  readonly place: Place;
  readonly organizationId: bigint;
  readonly teamIds: readonly bigint[];
}

const quiet = { say: () => undefined };
const ROLES = sql(
  'test.roles',
  `select r.id, r.name, r.version,
          array(select p.namespace || ' ' || p.action from role_permission p where p.role_id = r.id order by 1) as permissions,
          array(select t.team_id::text from assignment t where t.role_id = r.id order by t.team_id) as teams,
          (select count(*)::integer from tuple t 
            where t.source_kind = 'role' and t.source_id = r.id and t.relation not like 'allows%') as tuples
     from role r order by r.id`,
);
const CHANGES = sql(
  'test.changes',
  `select id, count(*)::integer as count from change where kind = 'role' group by id`,
);
const REVISION = sql(
  'test.revision',
  'select r.value, (select max(revision) from change) as last, (select count(distinct revision)::integer from change) as steps from revision r',
);

async function prepare(driver: Driver): Promise<Scene> {
  const place = await newPlace(driver, migrated());
  const db = await openDb({ ...quiet, ...place });
  const { write } = createRevisions(createRevisionStore(db));
  const store = createOrganizationStore(db, write, createQuotas(DEFAULT_LIMITS));
  const organizations = createOrganizations(store, { holds: async () => true });
  const founderId = await createUsers(createUserStore(db, write)).create({ name: 'ann', email: 'ann@example.com' });
  const { id, teams } = await organizations.create({ name: 'acme', founderId });
  await db.close();
  return { place, organizationId: id, teamIds: [...teams.values()] };
}

/** Lets a process write roles for a random time and kills it. Returns what it had acknowledged by then. */
async function killWhileWriting({ place, organizationId, teamIds }: Scene): Promise<Map<string, string>> {
  const child = spawn(process.execPath, ['--liftoff-only', 'test/support/server/role-writer.ts'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ids = { organizationId: String(organizationId), teamIds: teamIds.map(String) };
  child.stdin.end(JSON.stringify({ ...place, ...ids }));
  let said = '';
  // Waits for the first acknowledged write, so that every kill happens during writes.
  const writing = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      said += chunk;
      if (said.split('\n').length > 2) resolve();
    });
  });
  await Promise.race([writing, once(child, 'close')]);
  setTimeout(() => child.kill('SIGKILL'), Math.random() * 250);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  assert.equal(child.signalCode, 'SIGKILL');
  // The last line may be cut off. It does not count as acknowledged.
  const lines = said.split('\n').slice(1, -1);
  return new Map(lines.map((line) => line.split(' ') as [string, string]));
}

/** Everything that one transaction writes together must still be together. */
async function assertInStep(
  db: Db,
  organizationId: bigint,
  acknowledged: ReadonlyMap<string, string>,
): Promise<number> {
  const entries = await auditOf(db, organizationId);
  assert.deepEqual(brokenLinks(entries), []);
  const roles = await db.query<{
    id: bigint;
    name: string;
    version: number;
    permissions: string[];
    teams: string[];
    tuples: number;
  }>(ROLES);
  const changes = new Map((await db.query<{ id: bigint; count: number }>(CHANGES)).map((row) => [row.id, row.count]));
  const existing = new Set(roles.map(({ id }) => id));
  for (const { id, name, version, permissions, teams, tuples } of roles) {
    const own = entries.filter((entry) => entry.object_id === id);
    const last = JSON.parse(own.at(-1)?.after ?? 'null');
    const said = last?.permissions.map(
      (one: { namespace: string; action: string }) => `${one.namespace} ${one.action}`,
    );
    assert.deepEqual([name, permissions, teams], [last?.name, said?.sort(), last?.teamIds]);
    assert.deepEqual([own.length, changes.get(id)], [version, version]);
    assert.equal(tuples, 1 + permissions.length + teams.length);
  }
  for (const id of new Set(entries.map((entry) => entry.object_id))) {
    const own = entries.filter((entry) => entry.object_id === id);
    assert.equal(own.at(-1)?.action === 'role.delete', !existing.has(id));
    assert.equal(changes.get(id), own.length);
  }
  for (const [id, state] of acknowledged) {
    const role = roles.find((one) => String(one.id) === id);
    if (state !== 'gone' && role) assert.ok(role.version >= Number(state));
    else if (state !== 'gone')
      assert.ok(entries.some((entry) => String(entry.object_id) === id && entry.action === 'role.delete'));
    else assert.equal(role, undefined);
  }
  const [revision] = await db.query<{ value: bigint; last: bigint; steps: number }>(REVISION);
  assert.deepEqual([revision?.last, BigInt(revision?.steps ?? 0)], [revision?.value, revision?.value]);
  return entries.length;
}

for (const driver of DRIVERS) {
  const kills = KILLS[driver];
  describeLong(`Crashes during role writes on ${driver}`, () => {
    it(`Role writes stay atomic when the process is killed ${kills} times on ${driver}`, async () => {
      const scene = await prepare(driver);
      let written = 0;
      for (let kill = 0; kill < kills; kill++) {
        const acknowledged = await killWhileWriting(scene);
        const db = await openDb({ ...quiet, ...scene.place });
        // A transaction of the dead process may still be in progress: wait until it releases the revision.
        await createRevisions(createRevisionStore(db)).prune(1_000_000n);
        written = await assertInStep(db, scene.organizationId, acknowledged);
        await db.close();
      }
      assert.ok(written >= kills, `only ${written} changes were written`);
    });
  });
}
