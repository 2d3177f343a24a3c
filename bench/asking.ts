import { cpus } from 'node:os';
import { DRIVERS } from '../test/support/server/db.ts';
import { openTestServer } from '../test/support/server/server.ts';
import { statement } from '../test/support/server/statement.ts';
import { median, spread } from './support/figures.ts';
import { fillOrganization } from './support/fill-organization.ts';

/**
 * Access requests in an organization of some 10,000 tuples: a thousand people in 170 teams, 200 roles and 2,750 clusters.
 * Asking, and an inbox of 1,000 open requests. Over HTTP, on both databases.
 */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15);
const ASK_MS = 150;
const PAGE_MS = 50;
const OPEN = 1000;

const COLUMNS = `organization_id, state, by_type, by_id, relation, object_type, object_name, role_id, team_id, change_name,
  reason, approvals, created_at, closes_at, ends_at, expires_at, effects, digest`;
const COPY = `insert into access_request (id, object_id, ${COLUMNS})
  select r.id + c.at, c.id, ${COLUMNS}
    from access_request r, (select id, row_number() over (order by id) as at from cluster where owner_id = $1 and name like 'cluster-%') c
   where r.organization_id = $1 and r.state = 'open' and c.at < $2 and c.id <> r.object_id`;

const rows: string[][] = [];
for (const driver of DRIVERS) {
  const env = { RATE_LIMIT: '0', LOG_LEVEL: 'error', LIMIT_OPEN_REQUESTS_PER_USER: '5000' };
  const atrium = await openTestServer({ driver, env });
  const acme = atrium.world.orgs.acme?.id ?? 0n;
  const tuples = await fillOrganization(atrium.instance.db, acme);
  const path = '/authz/requests?org=acme';
  const ask = (cluster: number) =>
    atrium.as('dan')('POST', path, {
      ...{ relation: 'can_edit', object: { type: 'cluster', name: `cluster-${cluster}` } },
      ...{ for: 'PT1H', reason: 'INC-1234' },
    });
  let last = '';
  const asking = await time(async (round) => {
    const { status, text, body } = await ask(2000 + round);
    if (status !== 201) throw new Error(text);
    last = body.id;
    return async () => void (await atrium.as('dan')('POST', `/authz/requests/${body.id}/cancel?org=acme`));
  });
  if ((await ask(1)).status !== 201) throw new Error(`nobody can ask after ${last}`);
  await atrium.instance.db.query(statement(COPY), [acme, OPEN]);
  await atrium.instance.db.query(statement('analyze access_request'));
  rows.push([driver, String(tuples), 'asking', ...asking, `< ${ASK_MS} ms`]);
  for (const [what, query] of [
    ['a page of 50 of the inbox, among 1,000 open requests', `${path}&for_me=true&limit=50`],
    ['the same, of all requests', `${path}&state=open&limit=50`],
  ] as const) {
    const listing = await time(async () => {
      const { status, text, body } = await atrium.as('ann')('GET', query);
      if (status !== 200 || body.length !== 50) throw new Error(text);
      return async () => undefined;
    });
    rows.push([driver, String(tuples), what, ...listing, `< ${PAGE_MS} ms`]);
  }
  await atrium.close();
}
const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}`;
process.stdout.write(`\n${machine}; ${ROUNDS} rounds, one connection, medians.\n\n`);
process.stdout.write(
  '| database | tuples | what | measured | spread | of which processor time | target |\n|---|---|---|---|---|---|---|\n',
);
for (const row of rows) process.stdout.write(`| ${row.join(' | ')} |\n`);
process.exit();

/** The first round also compiles what it needs, so it does not count. Processor time is that of the server and the client. */
async function time(work: (round: number) => Promise<() => Promise<void>>): Promise<[string, string, string]> {
  const taken: number[] = [];
  const worked: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const begin = performance.now();
    const before = process.threadCpuUsage();
    const undo = await work(round);
    const { user, system } = process.threadCpuUsage(before);
    if (round > 0) taken.push(performance.now() - begin);
    if (round > 0) worked.push((user + system) / 1000);
    await undo();
  }
  return [`${median(taken).toFixed(1)} ms`, spread(taken, 1), `${median(worked).toFixed(1)} ms`];
}
