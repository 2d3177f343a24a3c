import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readConfig } from '../../src/base/config/config.ts';
import { type Db, openDb } from '../../src/db/db.ts';
import { examineInside, examineInvariants } from '../../src/operations/doctor/inside.ts';
import { examineSchemaCatalogue } from '../../src/operations/doctor/schema-checks.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { API_DRIVERS } from '../support/server/drivers.ts';
import { newDemoPlace, TEST_KEY } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';

/** What is broken, and what the doctor must say. Each is rolled back. */
const BREAKS: readonly (readonly [what: string, sql: string, said: RegExp])[] = [
  ['a dropped index', 'drop index token_account', /^fault the index token_account is missing$/m],
  [
    'a dropped foreign key',
    'alter table team_member drop constraint team_member_team_id_fkey',
    /^fault the constraint team_member\.team_member_team_id_fkey is missing$/m,
  ],
  [
    'a foreign key that is checked no longer',
    `alter table team_member drop constraint team_member_team_id_fkey;
     alter table team_member add constraint team_member_team_id_fkey foreign key (team_id) references team (id) not valid`,
    /^fault the constraint team_member\.team_member_team_id_fkey is "/m,
  ],
  [
    'a dropped trigger',
    'drop trigger bus_user_gone on bus_user',
    /^fault the trigger bus_user\.bus_user_gone is missing$/m,
  ],
  [
    'a disabled trigger',
    'alter table bus_user disable trigger bus_user_gone',
    /^fault the trigger bus_user\.bus_user_gone is disabled$/m,
  ],
  [
    'all triggers disabled',
    'alter table team_member disable trigger all',
    /^fault the foreign keys of the table team_member are disabled$/m,
  ],
  [
    'a dropped column',
    'alter table team drop column description cascade',
    /^fault the column team\.description is missing$/m,
  ],
  ['a dropped table', 'drop table follow cascade', /^fault the table follow is missing$/m],
  [
    'a dropped default',
    'alter table account alter column active drop default',
    /^fault the column account\.active is "/m,
  ],
  ['an optional column', 'alter table token alter column name drop not null', /^fault the column token\.name is "/m],
  [
    'another function',
    'create or replace function bus_revoke() returns trigger language plpgsql as $$ begin return null; end $$',
    /^fault the function bus_revoke\(\) is not that of this release$/m,
  ],
  ['another view', 'create or replace view tuple as select * from tuple where false', /^fault the view tuple is not/m],
  ['a dropped view', 'drop view tuple', /^fault the view tuple is missing$/m],
  [
    'an index that ignores some rows',
    'drop index token_account; create index token_account on token (account_id, id) where id > 5',
    /^fault the index token_account is "/m,
  ],
  [
    'a trigger of another program',
    'create trigger mine before insert on follow for each row execute function suppress_redundant_updates_trigger()',
    /^warning the trigger follow\.mine is not part of this release$/m,
  ],
  [
    'an organization without owners',
    `delete from team where permission = 'owner' and organization_id = (select id from account where name = 'acme')`,
    /^fault 1 organizations have no team of owners \(\d+\)$/m,
  ],
  [
    'an organization that became a user',
    `update account set kind = 'user' where name = 'acme'`,
    /^fault \d+ teams belong to a user, not to an organization \(/m,
  ],
  [
    'a user who became an organization',
    `update account set kind = 'organization' where name = 'ann'`,
    /^fault \d+ members of teams are not users \(/m,
  ],
  ['changes that were deleted', 'delete from change', /^fault \d+ of the last revisions have no changes/m],
  [
    'a stamp that was changed',
    'update revision_stamp set stamp = gen_random_uuid()',
    /^fault 1 revisions have another stamp/m,
  ],
];

for (const driver of API_DRIVERS) {
  describe(`The schema and the invariants of a deployment on ${driver}`, () => {
    let db: Db;
    before(async () => {
      const { place } = await newDemoPlace(driver);
      db = await openDb({ ...place, say: () => undefined });
    });
    after(() => db?.close());

    const examined = async (one: Db) =>
      [...(await examineSchemaCatalogue(one)), ...(await examineInvariants(one))].map(
        ({ level, message }) => `${level} ${message}`,
      );

    it(`The doctor finds nothing wrong with the demo world on ${driver}`, async () => {
      const found = await examined(db);
      assert.deepEqual(
        found.filter((line) => !line.startsWith('ok ')),
        [],
      );
    });

    it(`An index, table or view that somebody added is their own affair on ${driver}`, async () => {
      const found = await broken('create table theirs (id int); create index their_index on audit (request_id)');
      assert.deepEqual(
        found.filter((line) => !line.startsWith('ok ')),
        [],
      );
    });

    for (const [what, text, said] of BREAKS) {
      it(`The doctor names ${what} on ${driver}`, async () => {
        assert.match((await broken(text)).join('\n'), said);
      });
    }

    it(`The doctor names a view that is missing as a fault of the whole deployment on ${driver}`, async () => {
      await db.query(statement('alter view tuple rename to elsewhere'));
      const found = await examineInside(db, readConfig({ DATA_DIR: temporaryFolder(), ATRIUM_KEY: TEST_KEY }));
      await db.query(statement('alter view elsewhere rename to tuple'));
      const faults = found.filter(({ level }) => level === 'fault').map(({ message }) => message);
      assert.ok(faults.includes('the view tuple is missing'), faults.join('\n'));
    });

    /** What is found after this, which is undone. */
    async function broken(text: string): Promise<string[]> {
      let found: string[] = [];
      await db
        .migration(async (query, script) => {
          await script(text);
          const nested = {
            ...db,
            query,
            transaction: async (work: (given: typeof query) => unknown) => await work(query),
          };
          found = await examined(nested as unknown as Db);
          throw new Error('undone');
        }, 60_000)
        .catch((error: Error) => assert.equal(error.message, 'undone', error.message));
      return found;
    }
  });
}
