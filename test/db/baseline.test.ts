import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { describeSchema } from '../../scripts/schema.ts';
import { type Db, openDb } from '../../src/db/db.ts';
import { migrate, migrationStatus } from '../../src/db/migrate.ts';
import { readMigrations } from '../../src/db/migration-files.ts';
import { useOnce } from '../../src/identity/single-use.store.ts';
import { readCatalogue } from '../../src/operations/doctor/catalogue.store.ts';
import { backUpTo, restoreFrom } from '../support/server/backup.ts';
import { migrated, newPlace, openTestDb, SOURCES_KEY, type Template, temporaryFolder } from '../support/server/db.ts';
import { API_DRIVERS } from '../support/server/drivers.ts';
import { statement } from '../support/server/statement.ts';

const quiet = () => undefined;
const rows = (db: Db, text: string) => db.query(statement(text));

/** The files that the baseline replaces, as a folder. */
function formerFolder(): string {
  const folder = temporaryFolder();
  const [, ...parts] = readFileSync('test/db/former-migrations.sql', 'utf8').split(/^-- file: /m);
  assert.equal(parts.length, 40);
  for (const part of parts) {
    const end = part.indexOf('\n');
    writeFileSync(join(folder, part.slice(0, end)), part.slice(end + 1));
  }
  return folder;
}

/** A database of the release before the baseline. */
const FORMER: Template = { ...migrated(formerFolder()), key: `former ${SOURCES_KEY}` };

/** What the release before the baseline could have written. */
const ROWS = `
  insert into account (id, kind, name) values (1, 'user', 'ann'), (2, 'user', 'bob'), (3, 'organization', 'acme');
  insert into team (id, organization_id, name, permission, type) values (4, 3, 'Owners', 'owner', 'builtin');
  insert into team_member (team_id, account_id) values (4, 1);
  insert into role (id, organization_id, name, name_key) values (5, 3, 'r', 'r');
  insert into role_permission (role_id, namespace, action, relation) values (5, 'n', 'a', 'can_view_clusters');
  insert into role_team (role_id, team_id) values (5, 4);
  insert into cluster (id, owner_id, name, uid) values (6, 3, 'prod', 'u');
  insert into follow (follower_id, followed_id) values (2, 1);
  insert into used_proof values ('\\x01', now() + interval '1 day'), ('\\x02', now());
  insert into spent_secret values ('\\x02', now()), ('\\x03', now())`;
// What later releases state besides, for roles on single objects and for robots, gives nobody anything by itself.
const TUPLES = `select * from tuple where relation not in ('anyone', 'robot', 'set') and relation not like 'allows%'
  order by store, object_type, object_id, relation, subject`;

for (const driver of API_DRIVERS) {
  describe(`The baseline of the migrations on ${driver}`, () => {
    it(`A database with all migrations that the baseline replaces gets the schema of a new one and keeps its rows on ${driver}`, async () => {
      const db = await openTestDb(driver, {}, FORMER);
      assert.deepEqual(await rows(db, 'select count(*)::int as n, max(number) as last from migration'), [
        { n: 40, last: 40 },
      ]);
      await db.migration((_query, script) => script(ROWS), 1000);
      const tuples = await rows(db, TUPLES);
      assert.ok(tuples.length > 10);
      const later = [
        ...readMigrations('migrations')
          .slice(1)
          .map(({ name }) => name),
        'tuples.sql',
      ];
      const { pending, endsOlder } = await db.transaction((query) => migrationStatus(query, 'migrations'));
      // Releases before it would show the hashes of names.
      assert.deepEqual([pending, endsOlder], [later, '0055_audit_texts.sql']);
      assert.deepEqual((await migrate(db, 'migrations', quiet)).applied, later);
      assert.deepEqual((await migrate(db, 'migrations', quiet)).applied, []);
      assert.deepEqual(await rows(db, TUPLES), tuples);
      const held =
        'select role_id, team_id, organization_id, on_type, to_type, created_by_id from assignment order by 1, 2';
      const [first] = await rows(db, held);
      assert.deepEqual([first?.on_type, first?.to_type, first?.created_by_id], ['organization', 'team', null]);
      // As the previous release writes teams of roles.
      const upsert = `insert into role_team (role_id, team_id, expires_at)
        select role_id, team_id, now() + interval '1 day' from role_team
        on conflict (role_id, team_id) do update set expires_at = excluded.expires_at
         where role_team.expires_at is distinct from excluded.expires_at`;
      const all = await rows(db, held);
      await rows(db, upsert);
      assert.deepEqual(await rows(db, held), all);
      await rows(db, 'with gone as (delete from role_team returning role_id, team_id) select * from gone');
      assert.deepEqual(await rows(db, held), []);
      await rows(db, `insert into role_team (role_id, team_id) values (${first?.role_id}, ${first?.team_id})`);
      assert.deepEqual(await rows(db, held), all.slice(0, 1));
      assert.deepEqual(await rows(db, 'select encode(hash, $$hex$$) as hash from single_use order by hash'), [
        { hash: '01' },
        { hash: '02' },
        { hash: '03' },
      ]);
      const fresh = await openDb({ ...(await newPlace(driver, migrated())), say: quiet });
      assert.deepEqual(await readCatalogue(db.query), await readCatalogue(fresh.query));
      assert.equal(await describeSchema(db), await describeSchema(fresh));
      const options = `select relname, reloptions from pg_class where relkind = 'r' and reloptions is not null`;
      assert.deepEqual(await rows(db, options), await rows(fresh, options));
      for (const table of ['revision', 'revision_stamp', 'bus_state']) {
        assert.deepEqual(await rows(fresh, `select count(*)::int as n from ${table}`), [{ n: 1 }], table);
      }
      await fresh.close();
      await assert.rejects(migrate(db, formerFolder(), quiet), /newer than this release: it has migration 0055_/);
      await db.close();
    });

    it(`Statements of the release before the baseline share what is accepted once on ${driver}`, async () => {
      const db = await openDb({ ...(await newPlace(driver, migrated())), say: quiet });
      const expiresAt = new Date(Date.now() + 60_000);
      const used = (text: string, byte: number) => db.query(statement(text), [Buffer.from([byte]), expiresAt]);
      const spend = 'insert into spent_secret (hash, expires_at) values ($1, $2) on conflict do nothing returning hash';
      const prove =
        'insert into used_proof (hash, expires_at) values ($1, $2) on conflict (hash) do nothing returning hash';
      assert.equal((await used(spend, 1)).length, 1);
      assert.equal((await used(prove, 2)).length, 1);
      for (const byte of [1, 2]) {
        assert.equal(await useOnce(db.query, { hash: Buffer.from([byte]), expiresAt }), false);
        assert.deepEqual(await used(spend, byte), []);
        assert.deepEqual(await used(prove, byte), []);
      }
      assert.equal(await useOnce(db.query, { hash: Buffer.from([3]), expiresAt }), true);
      assert.deepEqual(await used(prove, 3), []);
      await rows(
        db,
        `delete from used_proof where hash in (
           select hash from used_proof where expires_at > now() limit 100 for update skip locked)`,
      );
      assert.deepEqual(await rows(db, 'select 1 from single_use'), []);
      await db.close();
    });

    it(`A backup of such a database is restored, also over another such database, on ${driver}`, async () => {
      const db = await openTestDb(driver, {}, FORMER);
      await db.migration((_query, script) => script(ROWS), 1000);
      const tuples = await rows(db, TUPLES);
      const file = await backUpTo(db);
      await restoreFrom(file, db, true);
      assert.deepEqual(await rows(db, TUPLES), tuples);
      assert.deepEqual(await rows(db, 'select count(*)::int as n from single_use'), [{ n: 3 }]);
      assert.deepEqual((await migrate(db, 'migrations', quiet)).applied, []);
      await db.close();
    });

    it(`A database with fewer migrations is rejected with the release that upgrades it, and not changed, on ${driver}`, async () => {
      const db = await openTestDb(driver, {}, FORMER);
      await rows(db, 'delete from migration where number = 40');
      const catalogue = await readCatalogue(db.query);
      const tooOld = {
        name: 'AppError',
        kind: 'unavailable',
        message:
          'the database is too old for this release: its last migration is 0039_session_policy.sql, and this release can ' +
          'upgrade from 0040_provider_state.sql on; start the server of commit f71fe67a on it first, then this release',
      };
      await assert.rejects(migrate(db, 'migrations', quiet), tooOld);
      await assert.rejects(
        db.transaction((query) => migrationStatus(query, 'migrations')),
        tooOld,
      );
      assert.deepEqual(await readCatalogue(db.query), catalogue);
      await db.close();
    });

    it(`A changed file that the baseline replaces, or a changed baseline, is rejected on ${driver}`, async () => {
      const db = await openTestDb(driver, {}, FORMER);
      await rows(db, `update migration set checksum = 'x' where number = 40`);
      await assert.rejects(
        migrate(db, 'migrations', quiet),
        /0040_provider_state\.sql was changed after it was applied/,
      );
      await db.close();
      const fresh = await openDb({ ...(await newPlace(driver, migrated())), say: quiet });
      const changed = ownFolder();
      const baseline = join(changed, '0040_schema.sql');
      writeFileSync(baseline, `${readFileSync(baseline, 'utf8')}-- changed\n`);
      await assert.rejects(migrate(fresh, changed, quiet), /0040_schema\.sql was changed after it was applied/);
      await fresh.close();
    });

    it(`The view of the tuples is applied again if its text has changed, and left alone by an older release, on ${driver}`, async () => {
      const db = await openDb({ ...(await newPlace(driver, migrated())), say: quiet });
      const newer = ownFolder();
      const view = join(newer, 'tuples.sql');
      writeFileSync(view, readFileSync(view, 'utf8').replace("'atrium', 'admin'", "'atrium', 'chief'"));
      const status = () => db.transaction((query) => migrationStatus(query, newer));
      assert.deepEqual((await status()).pending, ['tuples.sql']);
      assert.deepEqual((await migrate(db, newer, quiet)).applied, ['tuples.sql']);
      assert.deepEqual((await status()).pending, []);
      await rows(db, `insert into account (kind, name, is_admin) values ('user', 'root', true)`);
      const relation = () => rows(db, `select relation from tuple where object_type = 'platform' and source_id = 0`);
      assert.deepEqual(await relation(), [{ relation: 'chief' }]);
      // Without a number of its own, the release before it puts its view back. With one, it leaves the view alone.
      assert.deepEqual((await migrate(db, 'migrations', quiet)).applied, ['tuples.sql']);
      assert.deepEqual(await relation(), [{ relation: 'admin' }]);
      const number = (readMigrations('migrations').at(-1)?.number ?? 0) + 1;
      const name = `${String(number).padStart(4, '0')}_tuples.sql`;
      writeFileSync(join(newer, name), '-- compatible-from: 40\nselect 1;\n');
      assert.deepEqual((await migrate(db, newer, quiet)).applied, [name, 'tuples.sql']);
      assert.deepEqual(await migrate(db, 'migrations', quiet), { applied: [], version: number, isAhead: true });
      assert.deepEqual(await relation(), [{ relation: 'chief' }]);
      await db.close();
    });

    it(`A migration that drops the view of the tuples gets it back on ${driver}`, async () => {
      const db = await openDb({ ...(await newPlace(driver, migrated())), say: quiet });
      await rows(db, 'drop view tuple');
      assert.deepEqual((await migrate(db, 'migrations', quiet)).applied, ['tuples.sql']);
      assert.deepEqual(await rows(db, TUPLES), []);
      await db.close();
    });
  });
}

/** A copy of the migrations of this release. */
function ownFolder(): string {
  const folder = join(temporaryFolder(), 'migrations');
  mkdirSync(folder);
  cpSync('migrations', folder, { recursive: true });
  return folder;
}
