import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { OPERATIONS, prepareStory, STORY } from '../contract/example-story.ts';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { TEST_KEY } from '../support/server/server.ts';
import { startPostgres, type TestPostgres } from '../support/services/postgres.ts';
import { lacks } from '../support/services/requirements.ts';
import { openMarketplace, type TestMarketplace } from '../support/world/marketplace.ts';
import { fill } from './growth/fill.ts';
import { type Cost, isLevel, MORE_REQUESTS, tableOf } from './growth/requests.ts';

const FEW = 1_000;
const MANY = COUNTS.grownUsers;
/** What PostgreSQL did for the last request. Pages of memory that were looked at do not depend on how busy a machine is. */
const COST = `select coalesce(sum(shared_blks_hit + shared_blks_read), 0)::integer as pages,
    coalesce(sum(total_exec_time), 0) as ms, coalesce(sum(calls), 0)::integer as calls
  from pg_stat_statements where query not like '%pg_stat_statements%'
    and dbid = (select oid from pg_database where datname = current_database())`;
const SETTINGS = { shared_preload_libraries: 'pg_stat_statements', shared_buffers: '512MB', max_wal_size: '8GB' };

describe('The cost of each request in a large deployment', { skip: lacks('postgresql') }, () => {
  let postgres: TestPostgres;
  /** Said at the end, so that one such request does not hide what all others cost. */
  const rejected: string[] = [];
  before(async () => {
    postgres = await startPostgres({ settings: SETTINGS });
  });
  after(() => postgres?.stop());

  it(`With ${MANY} users, no request costs the database more than with ${FEW}`, async () => {
    let grown = await grownRequests();
    // What the server does in the background counts, too, for the request that it coincides with.
    if (grown.size > 0) grown = new Map([...(await grownRequests())].filter(([name]) => grown.has(name)));
    assert.deepEqual([...rejected, ...grown.values()], []);
  });

  /** The requests that cost more with many users than with few, and what each has cost. */
  async function grownRequests(): Promise<Map<string, string>> {
    const few = await measure(FEW);
    const many = await measure(MANY);
    const table = tableOf(few, many);
    for (const line of table) progress(line);
    if (process.env.GROWTH_TABLE) writeFileSync(process.env.GROWTH_TABLE, `${table.join('\n')}\n`);
    const grown = [...many].filter(([name, cost]) => !isLevel(few.get(name), cost, name));
    return new Map(grown.map(([name, { pages }]) => [name, `${name}: ${few.get(name)?.pages} → ${pages} pages`]));
  }

  /** Sends each request to a server with so many users, and returns what each has cost. */
  async function measure(users: number): Promise<Map<string, Cost>> {
    const url = await postgres.createDatabase();
    const market = await openMarketplace({ driver: 'postgres', env: { DATABASE_URL: url, ATRIUM_KEY: TEST_KEY } });
    const meter = new pg.Client({ connectionString: url });
    await meter.connect();
    try {
      const size = {
        users,
        organizations: users / 10,
        clusters: users,
        auditEntries: users * COUNTS.grownAuditEntries,
      };
      await fill(url, size, (line) => progress(`${users} users: ${line}`));
      await meter.query('create extension if not exists pg_stat_statements');
      return await sendAll(market, meter);
    } finally {
      await meter.end();
      await market.close();
    }
  }

  async function sendAll(market: TestMarketplace, meter: pg.Client): Promise<Map<string, Cost>> {
    const costs = new Map<string, Cost>();
    const story = await prepareStory(market);
    for (const [name, requestOf] of STORY) {
      const { method = '', path = '' } = OPERATIONS.get(name) ?? {};
      await take(`${method} ${path.replace(/^\/api\/v1/, '')}`, async () => {
        const request = requestOf(story.known);
        const answer = await story.send(market, name, request);
        if (answer.status < 400) request.note?.(answer, story.known.created);
        return answer.status;
      });
    }
    for (const [name, as, path] of MORE_REQUESTS) {
      await take(name, async () => (await market.as(as)('GET', path)).status);
    }
    return costs;

    async function take(name: string, send: () => Promise<number>): Promise<void> {
      await meter.query('select pg_stat_statements_reset()');
      const began = performance.now();
      const status = await send();
      const wallMs = performance.now() - began;
      if (status >= 400) rejected.push(`${name} answered ${status}`);
      const { rows } = await meter.query<Omit<Cost, 'wallMs'>>(COST);
      costs.set(name, { pages: 0, ms: 0, calls: 0, ...rows[0], wallMs });
    }
  }
});
