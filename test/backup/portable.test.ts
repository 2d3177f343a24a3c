import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Db } from '../../src/db/db.ts';
import { migrate } from '../../src/db/migrate.ts';
import { auditOf, brokenLinks } from '../support/checks/audit.ts';
import { itLong } from '../support/checks/long.ts';
import { backUpTo, contentOf, filesBeside, newFile, openPlace, restoreFrom } from '../support/server/backup.ts';
import { ANY_DRIVER, DRIVERS, migrated, newPlace, type Place, temporaryFolder } from '../support/server/db.ts';
import { reopen } from '../support/server/reopen.ts';
import { openTestServer, TEST_KEY, type TestServer } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';

/** In the long suite from each database to each. Every day into the usual one from the other, if there is another. */
const JOURNEYS = DRIVERS.flatMap((from) => DRIVERS.map((to) => ({ from, to })));
const [OTHER = ANY_DRIVER] = DRIVERS.filter((driver) => driver !== ANY_DRIVER);
const rows = <Row extends object>(db: Db, text: string) => db.query<Row>(statement(text));

/** The demo world, with values that are easily corrupted on the way. */
async function fill({ instance, as }: TestServer): Promise<void> {
  const made = await as('ann')('POST', '/user/credentials', { name: 'exact', type: 'Aws', number: 1, text: 'ä\n"\\' });
  assert.equal(made.status, 201);
  const role = { name: 'Quoted "role" \\ ☃', permissions: [{ namespace: 'cluster_mgmt', action: 'view clusters' }] };
  assert.equal((await as('ann')('POST', '/authz/roles?org=acme', role)).status, 201);
  for (const text of [
    `update account set description = E'tab\\t line\\n quote " back \\\\ snow ☃ \\x01', created_at = '2026-02-03 04:05:06.123456+00' where name = 'bob'`,
    `update team set units = array['a,b', 'NULL', '', '{}', E'"\\\\'] where name = 'Owners'`,
    `insert into deploy_order (uid, owner_id, name, spec) select gen_random_uuid(), id, 'x', '{ "n" : 9007199254740993.10, "n":1, "t":"\\u0000" }' from account where name = 'ann'`,
    `insert into claim (id, claimable, claimed, flags, next_at) values ('c', true, false, '[]', 'infinity')`,
    `insert into account (id, kind, name) values (9223372036854775806, 'user', 'last')`,
    `insert into delivery (marketplace, natural_key, subject, event_type, event_time, notification, source, request_id, state, link_expires)
     values ('CloudA', '\\x00ff', '', '', '', '', '', '', 'done', 0.1::float8 + 0.2::float8)`,
  ])
    await rows(instance.db, text);
}

describe('Backups of the demo world', () => {
  for (const { from, to } of JOURNEYS) {
    const runs = from === OTHER && to === ANY_DRIVER ? it : itLong;
    runs(`A backup of ${from} is restored exactly on ${to}, and a server runs on the restored data`, async () => {
      const origin = await openTestServer({ driver: from });
      await fill(origin);
      const expected = await contentOf(origin.instance.db);
      const file = await backUpTo(origin.instance.db);
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.deepEqual(filesBeside(file), ['backup.tar.gz'], 'nothing is left beside it');
      const acme = origin.world.orgs.acme?.id ?? 0n;
      const exact = await origin.as('ann')('GET', '/user/credentials/exact');
      await origin.close();

      const place = await newPlace(to);
      const db = await openPlace(place);
      await restoreFrom(file, db);
      assert.deepEqual(await contentOf(db), expected);
      const [sum] = await rows<{ link_expires: number }>(db, 'select link_expires from delivery');
      assert.equal(sum?.link_expires, 0.1 + 0.2);
      assert.deepEqual(brokenLinks(await auditOf(db, acme)), []);
      assert.deepEqual(brokenLinks(await auditOf(db, 0n)), []);
      await db.close();
      await serves(place, origin, exact.text);
    });
  }
});

/** Tokens are still valid, credentials can still be opened, and new resources get new IDs. */
async function serves(place: Place, origin: TestServer, exact: string): Promise<void> {
  const atrium = await reopen(place, { ATRIUM_KEY: TEST_KEY });
  const url = await atrium.listen();
  const call = (method: string, path: string, body?: object) => {
    const headers = { Authorization: `token ${origin.world.users.ann?.token}`, 'Content-Type': 'application/json' };
    return fetch(`${url}/api/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  };
  assert.equal((await call('GET', '/user')).status, 200);
  assert.equal(await (await call('GET', '/user/credentials/exact')).text(), exact);
  const made = await call('POST', '/authz/roles?org=acme', { name: 'made afterwards', permissions: [] });
  assert.equal(made.status, 201, 'the sequence goes on');
  const followed = await call('PUT', '/user/following/eve');
  assert.equal(followed.status, 204, 'triggers are on again');
  const [eve] = await rows<{ is_right: boolean }>(
    atrium.db,
    `select followers = (select count(*) from follow where followed_id = a.id) as is_right from account a where name = 'eve'`,
  );
  assert.equal(eve?.is_right, true);
  await atrium.close(0);
}

describe('Backups of a schema with every table feature', () => {
  const folder = temporaryFolder();
  writeFileSync(
    `${folder}/0001_all.sql`,
    `create table revision (id int primary key, value bigint not null, pruned bigint not null default 0);
     insert into revision values (1, 7);
     create table bus_state (id int primary key, changed_at bigint not null);
     create table ring_key (id int); create table "Odd ""name""" ("Column ä" int generated always as identity, t text);
     ${readFileSync('migrations/0040_schema.sql', 'utf8').match(/create table audit[\s\S]*?;/)?.[0]}
     create table account (id bigint generated by default as identity primary key, parent bigint references account, best bigint,
       i int2, r real, d double precision, n numeric, b bool, ts timestamp, tz timestamptz, iv interval, u uuid, j json, jb jsonb,
       by bytea, ta text[], ba bytea[], tza timestamptz[], nested int[][], da date, ti time, net cidr, c char(3), g text generated always as (c || '!') stored,
       check (i < 100));
     create table pet (id serial primary key, owner bigint references account, unique (owner));
     alter table account add foreign key (best) references pet;
     create index on account (d) where b; create table nothing ();
     create view v as select id from account`,
  );
  writeFileSync(
    `${folder}/0002_more.sql`,
    `alter table account add column later text not null default 'added'; insert into "Odd ""name""" (t) values ('by the migration')`,
  );
  const old = temporaryFolder();
  writeFileSync(`${old}/0001_all.sql`, readFileSync(`${folder}/0001_all.sql`));

  for (const { from, to } of JOURNEYS) {
    const runs = from === ANY_DRIVER && to === OTHER ? it : itLong;
    runs(
      `A schema with every table feature is restored from ${from} to ${to} and migrated to a newer version`,
      async () => {
        const origin = await openPlace(await newPlace(from));
        await migrate(origin, old, () => undefined);
        await rows(
          origin,
          `insert into account (parent, i, r, d, n, b, ts, tz, iv, u, j, jb, by, ta, ba, tza, nested, da, ti, net, c) values
         (3, -5, 0.1, 'NaN', 12345678901234567890.123456789, true, '2026-01-01 00:00:00.000001', '0044-03-15 12:00:00.1 BC', '1 mon -2 days 03:04:05.6',
          '00000000-0000-0000-0000-000000000001', '{"b":1,  "a":2}', '{"b":1, "a":12345678901234567890}', '\\x', array[null, 'null', ''], array['\\x5c22'::bytea],
          array['infinity'::timestamptz], '{{1,2},{3,4}}', '2026-02-28', '23:59:59.999999', '10.0.0.0/8', 'x'), (1, null, null, '-Infinity', 'NaN', null, null, 'now', null, null,
          'null', null, null, null, '{}', null, null, null, null, null, null), (2, 1, 1e-30, 5e-324, 0.0000, false, null, null, null, null, null, null, null, null, null, null, null, null, null, null, 'abc')`,
        );
        await rows(origin, `insert into pet (owner) values (1), (2)`);
        await rows(origin, 'update account set best = 2 where id = 1');
        await rows(origin, `insert into "Odd ""name""" (t) values ('one')`);
        const expected = await contentOf(origin);
        const file = await backUpTo(origin);
        await origin.close();
        const db = await openPlace(await newPlace(to));
        await restoreFrom(file, db, false, old);
        assert.deepEqual(await contentOf(db), expected);
        await restoreFrom(file, db, true, folder);
        const after = await contentOf(db);
        assert.deepEqual(after.pet, expected.pet);
        assert.deepEqual(
          after['Odd "name"'],
          ['["1","one"]', '["2","by the migration"]'],
          'the sequence was set by then',
        );
        assert.ok(after.account?.every((line) => line.endsWith(',"added"]')));
        await assert.rejects(rows(db, 'insert into pet (owner) values (99)'), /violates foreign key/);
        const [pet] = await rows<{ id: number }>(db, 'insert into pet (owner) values (3) returning id');
        assert.equal(pet?.id, 4, 'a serial goes on as well; the refused one took a number');
        const [index] = await rows<{ there: boolean }>(db, `select to_regclass('account_d_idx') is not null as there`);
        assert.equal(index?.there, true);
        await db.close();
      },
    );
  }
});

describe('A backup of an older release', () => {
  it('A backup that does not know which releases its migrations are compatible with is restored', async () => {
    const place = await newPlace(undefined, migrated());
    const origin = await openPlace(place);
    await rows(origin, 'alter table migration drop column compatible_from');
    const file = await backUpTo(origin);
    await origin.close();
    const db = await openPlace(await newPlace());
    await restoreFrom(file, db);
    assert.deepEqual(await rows(db, 'select 1 from migration where compatible_from is not null'), []);
    assert.deepEqual((await migrate(db, 'migrations', assert.fail)).applied, []);
    await db.close();
  });
});

describe('Writing a backup', () => {
  it('A failed backup keeps the previous file and leaves no partial one', async () => {
    const db = await openPlace(await newPlace());
    const file = newFile();
    writeFileSync(file, 'the former one');
    await assert.rejects(backUpTo(db, file), /the database is empty: there is nothing to back up/);
    assert.equal(readFileSync(file, 'utf8'), 'the former one');
    assert.deepEqual(filesBeside(file), ['backup.tar.gz']);
    await assert.rejects(backUpTo(db, '/nowhere/at/all'), /empty/);
    await db.close();
  });
});
