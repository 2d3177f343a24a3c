import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type AuditSearch, MAX_COUNTED, type Order } from '../../src/audit/audit.ts';
import { createAuditSearch, MAX_WALK } from '../../src/audit/audit-search.store.ts';
import { createObjectNameStore } from '../../src/audit/sentences/object-names.store.ts';
import { spansOf } from '../../src/audit/spans.ts';
import { type Db, openDb, type Query } from '../../src/db/db.ts';
import { describeLong } from '../support/checks/long.ts';
import { migrated, newPlace } from '../support/server/db.ts';
import { API_DRIVERS } from '../support/server/drivers.ts';
import { statement } from '../support/server/statement.ts';

const ROWS = 60_000;
const PART = 5_000;
const PAGE = 31;
/** A page reads its rows, some pages of an index for each, and one probe for each of the actions that there are. */
const MAX_BUFFERS = 700;

/** The rows of one page, which turn out to be of others, and a path of an index. */
const MAX_BUFFERS_OF_FEW = 60;

/** A step of a count, which is over after the first one if the time is short. Their index alone has 200 pages. */
const MAX_STEP = 40;

/** Half of the log is of one organization, in which the busiest actor never was. All tokens are deleted. */
const [LARGE, SMALL] = [1n, 20n];
const [BUSY_ELSEWHERE, COMMON, NOBODY] = [900n, 5n, 4_242n];
const FILL = statement(
  `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, before, request_id,
                      previous_hash, hash)
   select '2024-01-01Z'::timestamptz + n * interval '1 second', org,
          case when org <> ${LARGE} and n % 3 <> 0 then ${BUSY_ELSEWHERE} else n % 11 end, 'someone',
          type || (case when n % 2 = 0 then '.create' else '.delete' end), type,
          case type when 'token' then n when 'contract' then 7 else n % 50 end, ('{"name":"n' || n || '"}')::json, 'r',
          ''::bytea, ''::bytea
     from (select n, case when n % 2 = 0 then ${LARGE} else 2 + (n / 2) % 40 end as org,
                  case when n < ${ROWS / 10} and n % 5 = 1 then 'contract'
                       else (array['token', 'team', 'cluster', 'token'])[1 + n % 4] end as type
             from generate_series($1::integer, $2::integer) n) numbered`,
);

/** A type with many entries that tell no name, which the statistics do not know yet. */
const FILL_NEW = statement(
  `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, before, request_id,
                      previous_hash, hash)
   select '2025-01-01Z'::timestamptz + n * interval '1 second', ${LARGE}, 1, 'someone', 'thing.change', 'thing', n % 20,
          '{}'::json, 'r', ''::bytea, ''::bytea from generate_series(1, 10000) n`,
);

type Part = Partial<AuditSearch>;
const ORGANIZATIONS: readonly Part[] = [
  {},
  { organizationId: LARGE },
  { organizationId: SMALL },
  { organizationId: 4_242n },
];
const ACTORS: readonly Part[] = [{}, { actorId: COMMON }, { actorId: BUSY_ELSEWHERE }, { actorId: NOBODY }];
const ACTIONS: readonly Part[] = [{}, { action: 'token.create' }, { action: 'never.was' }, { actionPrefix: 'team.' }];
const OBJECTS: readonly Part[] = [
  {},
  { objectType: 'contract' },
  { objectType: 'nothing' },
  { objectType: 'cluster', objectId: 7n },
  { objectType: 'contract', objectId: 7n },
];
const TIMES: readonly Part[] = [{}, { since: new Date('2024-01-01T03:00Z'), until: new Date('2024-01-01T03:10Z') }];

for (const driver of API_DRIVERS) {
  describeLong(`Plans of audit searches on ${driver}`, () => {
    let db: Db;
    before(async () => {
      db = await openDb({ ...(await newPlace(driver, migrated())), say: () => undefined });
      // In parts: on a busy machine, one statement would exceed its time.
      for (let first = 1; first <= ROWS; first += PART) await db.query(FILL, [first, first + PART - 1]);
      await db.query(statement('vacuum analyze audit'));
    });
    after(() => db?.close());

    it('A page reads a bounded part of the log for every combination of filters, whatever is found', async () => {
      let worst = 0;
      const searches = combinations(ORGANIZATIONS, ACTORS, ACTIONS, OBJECTS, TIMES)
        .map((parts) => Object.assign({}, ...parts) as AuditSearch)
        // The planner is the same. A prime number, so that every part is among them.
        .filter((search, at) => isPlain(search) || at % (driver === 'pglite' ? 23 : 3) === 0);
      for (const search of searches) {
        for (const order of ['newest first', 'oldest first'] as const) {
          const cost = await costOf(search, order);
          const said = `${JSON.stringify({ ...search, ...cost.plan }, (_key, value) => (typeof value === 'bigint' ? `${value}` : value))}`;
          // A combination that no index knows is looked for in a bounded number of entries.
          assert.ok(cost.walked <= MAX_WALK, `${cost.walked} entries: ${said}`);
          if (isPlain(search)) {
            assert.ok(cost.buffers <= MAX_BUFFERS, `${cost.buffers} buffers: ${said}`);
            worst = Math.max(worst, cost.buffers);
          }
        }
      }
      assert.ok(worst > 0);
    });

    it('A page with few hits reads no more of the log than one with many', async () => {
      const rare: readonly AuditSearch[] = [
        { organizationId: LARGE, actorId: BUSY_ELSEWHERE },
        { organizationId: LARGE, action: 'a.first' },
        { organizationId: LARGE, action: 'z.last' },
        { organizationId: LARGE, objectType: 'nothing' },
        { actorId: NOBODY },
        { objectType: 'cluster', objectId: 4_242n },
      ];
      for (const search of rare) {
        for (const order of ['newest first', 'oldest first'] as const) {
          const { buffers } = await costOf(search, order);
          const said = JSON.stringify(search, (_key, value) => (typeof value === 'bigint' ? `${value}` : value));
          assert.ok(buffers <= MAX_BUFFERS_OF_FEW, `${buffers} buffers, ${order}: ${said}`);
        }
      }
    });

    it('A step of a count reads a bounded part of a large log, however long the time is and whatever is older', async () => {
      const until = new Date('2024-01-01T16:31Z');
      const times: readonly Part[] = [
        { since: new Date('2024-01-01T16:30Z') },
        { since: new Date('2024-01-01T01:00Z') },
      ];
      const few: readonly Part[] = [{}, { action: 'token.create' }, { actionPrefix: 'team.' }, { actorId: COMMON }];
      for (const parts of combinations([{ organizationId: LARGE }, {}], few, times)) {
        const asked: Explained[] = [];
        const search = { ...Object.assign({}, ...parts), until } as AuditSearch;
        const { countSpans } = createAuditSearch({ query: explaining(asked) }, MAX_STEP);
        await countSpans(search, spansOf(search.since ?? until, until), MAX_COUNTED);
        const worst = Math.max(...asked.map(buffersOf));
        const said = JSON.stringify({ search, worst }, (_key, value) =>
          typeof value === 'bigint' ? `${value}` : value,
        );
        assert.ok(asked.length > 0 && worst <= MAX_STEP * 2 + MAX_BUFFERS_OF_FEW, said);
      }
    });

    it('The names of deleted objects of a large organization cost as much as those of a small one', async () => {
      const asked: Explained[] = [];
      const objects = Array.from({ length: 50 }, (_, at) => ({
        chainId: LARGE,
        type: at % 2 === 0 ? 'token' : 'cluster',
        id: BigInt(at % 2 === 0 ? ROWS - 4 * at : at % 50),
      }));
      const told = await createObjectNameStore({ query: explaining(asked) } as unknown as Db).told(objects);
      assert.ok(told.size > 0, 'some were found');
      const [one] = asked;
      assert.ok(one && buffersOf(one) < 50 * 250, `${one && buffersOf(one)} buffers: ${JSON.stringify(one)}`);
      const tokens = objects.filter(({ type }) => type === 'token');
      asked.length = 0;
      await createObjectNameStore({ query: explaining(asked) } as unknown as Db).told(tokens);
      const [cheap] = asked;
      assert.ok(cheap && buffersOf(cheap) < tokens.length * 8, `${JSON.stringify(cheap)}`);
    });

    it('The names of objects of a type that is new to the planner cost no more', async () => {
      await db.query(FILL_NEW);
      const asked: Explained[] = [];
      const objects = Array.from({ length: 20 }, (_, at) => ({ chainId: LARGE, type: 'thing', id: BigInt(at) }));
      await createObjectNameStore({ query: explaining(asked) } as unknown as Db).told(objects);
      const [one] = asked;
      assert.ok(one && buffersOf(one) < 20 * 250, `${one && buffersOf(one)} buffers: ${JSON.stringify(one)}`);
    });

    async function costOf(search: AuditSearch, order: Order) {
      const asked: Explained[] = [];
      await createAuditSearch({ query: explaining(asked) }).list(search, order, undefined, PAGE);
      const pages = asked.filter(({ 'Node Type': type }) => type !== undefined);
      return {
        buffers: Math.max(...pages.map(buffersOf)),
        walked: Math.max(0, ...pages.map(rowsOf)),
        plan: pages.at(0),
      };
    }

    /** Runs each statement, and notes what it did. */
    function explaining(asked: Explained[]): Query {
      return async (given, values = []) => {
        const [row] = await db.query<{ 'QUERY PLAN': { Plan: Explained }[] | string }>(
          statement(`explain (analyze, buffers, timing off, format json) ${given.text}`),
          values,
        );
        const plan = row?.['QUERY PLAN'];
        const [{ Plan } = { Plan: undefined }] = typeof plan === 'string' ? JSON.parse(plan) : (plan ?? []);
        if (Plan) asked.push(Plan);
        return isNeeded(given.text) ? await db.query(statement(given.text), values) : [];
      };
    }
  });
}

/** Other statements depend on the answer. */
function isNeeded(text: string): boolean {
  return text.includes('recursive') || text.includes('unnest($1');
}

interface Explained {
  readonly 'Node Type'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Explained[];
}

/** Whether one index knows everything that is searched for. */
function isPlain({ actorId, objectType, objectId, action, actionPrefix, organizationId }: AuditSearch): boolean {
  const isAction = action !== undefined || actionPrefix !== undefined;
  const narrow = [actorId !== undefined, objectType !== undefined, isAction].filter(Boolean).length;
  return narrow <= 1 && !(objectId !== undefined && organizationId !== undefined);
}

function buffersOf(plan: Explained): number {
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}

/** The entries that were read. */
function rowsOf(plan: Explained): number {
  const within = (plan.Plans ?? []).map(rowsOf);
  if (plan['Relation Name'] !== 'audit') return within.reduce((all, one) => all + one, 0);
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0);
  return ((plan['Actual Rows'] ?? 0) + removed) * (plan['Actual Loops'] ?? 1);
}

function combinations(...lists: readonly (readonly Part[])[]): Part[][] {
  return lists.reduce<Part[][]>((all, list) => all.flatMap((before) => list.map((one) => [...before, one])), [[]]);
}
