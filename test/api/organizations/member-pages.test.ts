import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from '../../../src/db/db.ts';
import { createMemberListStore } from '../../../src/organizations/member-list.store.ts';
import type { Member, MemberListStore, MemberOrder, MemberSearch } from '../../../src/organizations/member-list.ts';
import { DRIVERS } from '../../support/server/db.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

/**
 * Members of one or two of three teams, whose names, IDs and times are in different orders, with many equal times. Every
 * third one has an address.
 */
const FILL = sql(
  'test.manyMembers',
  `with org as (insert into account (kind, name) values ('organization', 'crowd') returning id),
   teams as (
     insert into team (organization_id, name, permission, type)
     select id, 'team' || n, 'read', 'custom' from org, generate_series(0, 2) n returning id, organization_id, name
   ), people as (
     insert into account (kind, name, full_name)
     select 'user', 'crowd' || (n * 37) % 60, 'Member number ' || n % 7 from generate_series(1, 60) n returning id, name
   ), addresses as (
     insert into email (account_id, address, verified, is_primary)
     select id, name || '@crowd.example', true, true from people where id % 3 = 0
   ), joined as (
     insert into team_member (team_id, account_id, created_at)
     select t.id, p.id, timestamptz '2026-01-01' + interval '1 day' * ((p.id * 13 + t.id) % 11)
       from people p join teams t on (p.id + t.id) % 3 > 0
   )
   select organization_id, min(id) as team_id, array_agg(id) as team_ids from teams group by organization_id`,
);
const ORDERS: readonly MemberOrder[] = ['id', 'name', 'joined'];
const PAGE = 7;

interface Crowd {
  readonly organization_id: bigint;
  readonly team_id: bigint;
  readonly team_ids: bigint[];
}

for (const driver of DRIVERS) {
  describe(`Pages of members on ${driver}`, () => {
    let atrium: TestServer;
    let store: MemberListStore;
    let crowd: Crowd;
    before(async () => {
      atrium = await openTestServer({ driver });
      store = createMemberListStore(atrium.instance.db);
      const [made] = await atrium.instance.db.query<Crowd>(FILL);
      assert.ok(made);
      crowd = made;
    });
    after(() => atrium.close());

    const findAll = async (search: MemberSearch): Promise<readonly Member[]> => {
      const { items, total } = await store.find(crowd.organization_id, search, { offset: 0, limit: 100 });
      assert.equal(items.length, total);
      for (let offset = 0; offset <= total; offset += PAGE) {
        const page = await store.find(crowd.organization_id, search, { offset, limit: PAGE });
        assert.deepEqual(page, { items: items.slice(offset, offset + PAGE), total });
      }
      return items;
    };

    it(`The pages of every order, search and team have each member once, in order, on ${driver}`, async () => {
      const plain = { text: '', teamId: undefined, isDescending: false, visibleTeamIds: crowd.team_ids };
      const everybody = await findAll({ ...plain, orderBy: 'id' });
      assert.equal(everybody.length, 60);
      for (const orderBy of ORDERS) {
        for (const text of ['', 'WD1', 'number 3', '1@crowd', 'nobody']) {
          for (const teamId of [undefined, crowd.team_id]) {
            const expected = everybody.filter((one) => matches(one, text.toLowerCase()) && isIn(one, teamId));
            expected.sort(COMPARE[orderBy]);
            const found = await findAll({ ...plain, text, teamId, orderBy });
            assert.deepEqual(found, expected);
            if (teamId === undefined) assert.equal(found.length > 0, text !== 'nobody');
            assert.deepEqual(
              await findAll({ ...plain, text, teamId, orderBy, isDescending: true }),
              expected.toReversed(),
            );
          }
        }
      }
    });
  });
}

const COMPARE: Readonly<Record<MemberOrder, (a: Member, b: Member) => number>> = {
  id: (a, b) => Number(a.profile.id - b.profile.id),
  name: (a, b) => (a.profile.login < b.profile.login ? -1 : 1),
  joined: (a, b) => a.joinedAt.getTime() - b.joinedAt.getTime() || Number(a.profile.id - b.profile.id),
};

function matches({ profile: { login, fullName, email } }: Member, text: string): boolean {
  return [login, fullName, email].some((field) => field.toLowerCase().includes(text));
}

function isIn({ teams }: Member, teamId: bigint | undefined): boolean {
  return teamId === undefined || teams.some(({ id }) => id === teamId);
}
