import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { AuditSearch, Order, Place } from '../../src/audit/audit.ts';
import { createAuditSearch } from '../../src/audit/audit-search.store.ts';
import { spansOf } from '../../src/audit/spans.ts';
import { type Db, openDb } from '../../src/db/db.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { migrated, newPlace } from '../support/server/db.ts';
import { API_DRIVERS } from '../support/server/drivers.ts';
import { statement } from '../support/server/statement.ts';

const ENTRIES = 400;
const SEARCHES = 120;
const MAX_PAGES = 200;

interface Entry {
  readonly id: bigint;
  readonly at: Date;
  readonly organization_id: bigint;
  readonly actor_id: bigint;
  readonly action: string;
  readonly object_type: string;
  readonly object_id: bigint;
}

for (const driver of API_DRIVERS) {
  describe(`Searches of the audit log on ${driver}`, () => {
    let db: Db;
    before(async () => {
      db = await openDb({ ...(await newPlace(driver, migrated())), say: () => undefined });
      await db.query(
        statement(
          `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, request_id,
                              previous_hash, hash)
           select '2024-01-01Z'::timestamptz + (n / 3) * interval '1 second', n % 4, n % 5, 'someone',
                  (array['role.create', 'role.delete', 'team.create', 'role_x.create'])[1 + (n / 7) % 4],
                  (array['role', 'team'])[1 + (n / 5) % 2], n % 9, 'r', ''::bytea, ''::bytea
             from generate_series(1, ${ENTRIES}) n`,
        ),
      );
    });
    after(() => db?.close());

    it(`Following the cursor of a search finds each matching entry once, in order, however early pages end, with seed ${SEED}`, async () => {
      const random = createRandom();
      const all = await db.query<Entry & Record<string, unknown>>(
        statement('select id, at, organization_id, actor_id, action, object_type, object_id from audit'),
      );
      const maybe = <T extends object>(probability: number, make: () => T) =>
        random.chance(probability) ? make() : {};
      let short = 0;
      for (let time = 0; time < SEARCHES; time++) {
        const search: AuditSearch = {
          ...maybe(0.5, () => ({ organizationId: BigInt(random.below(5)) })),
          ...maybe(0.4, () => ({ actorId: BigInt(random.below(6)) })),
          ...maybe(0.3, () => ({ action: random.pick(['role.create', 'team.create', 'never.was']) })),
          ...maybe(0.4, () => ({ objectType: random.pick(['role', 'team', 'nothing']) })),
          ...maybe(0.3, () => ({ since: new Date(Date.UTC(2024, 0, 1) + random.below(120) * 1000) })),
          ...maybe(0.3, () => ({ until: new Date(Date.UTC(2024, 0, 1) + random.below(140) * 1000) })),
        };
        if (search.action === undefined && random.chance(0.4)) Object.assign(search, { actionPrefix: 'role.' });
        if (search.objectType !== undefined && random.chance(0.4)) Object.assign(search, { objectId: 3n });
        const order = random.pick<Order>(['newest first', 'oldest first']);
        const maxWalk = random.pick([7, 40]);
        const list = createAuditSearch(db, maxWalk).list;
        const limit = 1 + random.below(8);
        const found: bigint[] = [];
        let place: Place | undefined;
        let pages = 0;
        do {
          assert.ok(pages++ < MAX_PAGES, 'the search ends');
          const page = await list(search, order, place, limit);
          found.push(...page.rows.map(({ id }) => id));
          if (page.rows.length < limit && page.reached) short++;
          place = page.rows.length === limit ? page.rows.at(-1) : page.reached;
        } while (place);
        const expected = all.filter((entry) => matches(entry, search)).sort((one, other) => byPlace(one, other));
        if (order === 'newest first') expected.reverse();
        assert.deepEqual(
          found,
          expected.map(({ id }) => id),
          JSON.stringify({ ...search, order, limit }, (_key, value) =>
            typeof value === 'bigint' ? `${value}` : value,
          ),
        );
      }
      assert.ok(short > 0, 'some pages ended early');
    });

    it(`A count has every matching entry once, however small its steps are, with seed ${SEED}`, async () => {
      const random = createRandom();
      const all = await db.query<Entry & Record<string, unknown>>(
        statement('select id, at, organization_id, actor_id, action, object_type, object_id from audit'),
      );
      for (let time = 0; time < SEARCHES; time++) {
        const since = new Date(Date.UTC(2024, 0, 1) + random.below(100) * 1000);
        const search: AuditSearch = {
          since,
          until: new Date(since.getTime() + (1 + random.below(60)) * 1000),
          ...(random.chance(0.6) && { organizationId: BigInt(random.below(5)) }),
          ...(random.chance(0.4) && { actorId: BigInt(random.below(6)) }),
          ...(random.chance(0.4) && random.pick([{ action: 'role.create' }, { actionPrefix: 'role.' }])),
          ...(random.chance(0.4) && { objectType: random.pick(['role', 'team', 'nothing']) }),
        };
        const { countSpans } = createAuditSearch(db, random.pick([1, 3, 40]));
        const spans = spansOf(search.since ?? since, search.until ?? since);
        const { counts, reached } = await countSpans(search, spans, ENTRIES);
        const expected = all.filter((entry) => matches(entry, search)).length;
        const counted = [...counts.values()].reduce((sum, count) => sum + count, 0);
        assert.equal(
          counted,
          expected,
          JSON.stringify(search, (_key, value) => `${value}`),
        );
        assert.equal(reached, undefined);
      }
    });

    it('A count that ends early says how far it got, and has all entries from there on', async () => {
      const [since, until] = [new Date('2024-01-01Z'), new Date('2024-01-02Z')];
      const { countSpans } = createAuditSearch(db, 7);
      const { counts, reached } = await countSpans({ since, until }, spansOf(since, until), 100);
      assert.equal(
        [...counts.values()].reduce((sum, count) => sum + count, 0),
        100,
      );
      const [{ at } = {}] = await db.query<{ at: Date }>(
        statement('select at from audit order by at desc, id desc offset 99 limit 1'),
      );
      assert.deepEqual(reached, at);
    });
  });
}

function matches(entry: Entry, search: AuditSearch): boolean {
  const { organizationId, actorId, action, actionPrefix, objectType, objectId, since, until } = search;
  return (
    (organizationId === undefined || entry.organization_id === organizationId) &&
    (actorId === undefined || entry.actor_id === actorId) &&
    (action === undefined || entry.action === action) &&
    (actionPrefix === undefined || entry.action.startsWith(actionPrefix)) &&
    (objectType === undefined || entry.object_type === objectType) &&
    (objectId === undefined || entry.object_id === objectId) &&
    (since === undefined || entry.at >= since) &&
    (until === undefined || entry.at < until)
  );
}

function byPlace(one: Entry, other: Entry): number {
  return one.at.getTime() - other.at.getTime() || Number(one.id - other.id);
}
