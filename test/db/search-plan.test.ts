import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { OBJECT_KINDS, SEARCHED_TYPES } from '../../src/changes/object-kinds.ts';
import { createClusterListStore } from '../../src/clusters/cluster-list.store.ts';
import type { ClusterSearch } from '../../src/clusters/cluster-list.ts';
import type { Db, Query } from '../../src/db/db.ts';
import { createFactorStore } from '../../src/factors/factors.store.ts';
import { createOrganizationStore } from '../../src/organizations/organizations.store.ts';
import { createSearchStore } from '../../src/search/search.store.ts';
import { LISTED } from '../../src/search/search.ts';
import { createUserStore } from '../../src/users/users.store.ts';
import { migrated, openTestDb } from '../support/server/db.ts';
import { API_DRIVERS } from '../support/server/drivers.ts';
import { statement } from '../support/server/statement.ts';

const ROWS = 6_000;
const FILL = [
  `insert into account (kind, name, full_name) select 'user', 'user' || n || md5(n::text), 'Full ' || n from generate_series(1, ${ROWS}) n`,
  `insert into email (account_id, address, verified, is_primary)
   select id, name || '@example.com', true, true from account where kind = 'user'`,
  `insert into account (kind, name) select 'organization', 'org' || n || md5(n::text) from generate_series(1, ${ROWS}) n`,
  `insert into team (organization_id, name, permission, type) select id, 'Team ' || name, 'owner', 'builtin' from account where kind = 'organization'`,
  'insert into team_member (team_id, account_id) select id, id from team',
  `insert into role (organization_id, name, name_key) select id, 'r' || name, 'r' || name from account where kind = 'organization'`,
  `insert into robot (owner_id, name) select id, 'robot' || name from account where kind = 'organization'`,
  `insert into contract (owner_id, uid, name) select id, name, 'contract' || name from account where kind = 'organization'`,
  `insert into cluster (owner_id, name, uid) select id, 'cluster' || name, gen_random_uuid() from account where kind = 'organization'`,
  'vacuum analyze',
];
// As `e`, addresses are read for the users of a page: of few users, whichever way is cheaper.
const TABLES = ['email s', 'team_member', ...SEARCHED_TYPES.map((type) => OBJECT_KINDS[type].table)].join('|');
const PAGE = { offset: 0, limit: 50 };
const EVERYWHERE = { owners: [], ids: [], isEverywhere: true };
const IN_ONE = { owners: [7001n], ids: [5n], isEverywhere: false };
const CLUSTERS: ClusterSearch = { text: '', now: new Date(), orderBy: 'id', isDescending: false };
const unused = async () => assert.fail('nothing is written');

/** Everything that looks at the whole deployment. */
const CALLS: readonly (readonly [name: string, call: (db: Db) => Promise<unknown>])[] = [
  ...['zzzq', 'zq', 'z'].flatMap((text) => [
    [`users/search for ${text}`, (db: Db) => createUserStore(db, unused).profiles(text, PAGE)] as const,
    [`admin/users for ${text}`, (db: Db) => createUserStore(db, unused).people(text, undefined, PAGE)] as const,
    [`admin/orgs for ${text}`, (db: Db) => organizations(db).listAll({ text, ownerless: false }, PAGE)] as const,
    ...LISTED.map(
      (type) =>
        [`search of ${type} for ${text}`, (db: Db) => createSearchStore(db).find(type, text, EVERYWHERE, 8)] as const,
    ),
  ]),
  ...LISTED.map(
    (type) => [`search of a member for ${type}`, (db: Db) => createSearchStore(db).find(type, 'a', IN_ONE, 8)] as const,
  ),
  ['a deep page of users', (db) => createUserStore(db, unused).profiles('', { offset: 5_900, limit: 50 })],
  ['a page of users who can sign in', (db) => createUserStore(db, unused).people('', 'active', PAGE)],
  ['a page of organizations', (db) => organizations(db).listAll({ text: '', ownerless: false }, PAGE)],
  ['organizations without an owner', (db) => organizations(db).listAll({ text: '', ownerless: true }, PAGE)],
  ['second factors', (db) => createFactorStore(db, unused).holders({ isMissing: false }, PAGE)],
  ['all clusters with a name', (db) => createClusterListStore(db).everywhere(1n, { ...CLUSTERS, name: 'none' }, PAGE)],
  ['all clusters with a text', (db) => createClusterListStore(db).everywhere(1n, { ...CLUSTERS, text: 'zzzq' }, PAGE)],
];

function organizations(db: Db) {
  return createOrganizationStore(db, unused, undefined as never);
}

for (const driver of API_DRIVERS) {
  describe(`Plans of searches on ${driver}`, () => {
    let db: Db;
    before(async () => {
      db = await openTestDb(driver, { queryTimeoutMs: 120_000 }, migrated());
      for (const text of FILL) await db.query(statement(text));
    });
    after(() => db?.close());

    it(`No table is read from its beginning to its end on ${driver}`, async () => {
      for (const [name, call] of CALLS) {
        const asked: (readonly [text: string, values: readonly unknown[]])[] = [];
        const query: Query = async (one, values = []) => {
          asked.push([one.text, values]);
          return await db.query(one, values);
        };
        await call({ ...db, query });
        for (const [text, values] of asked) {
          const rows = await db.query<{ 'QUERY PLAN': string }>(statement(`explain ${text}`), values);
          const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
          assert.doesNotMatch(plan, new RegExp(`Seq Scan on (${TABLES})\\b`), `${name}: ${text}\n${plan}`);
        }
      }
    });
  });
}
