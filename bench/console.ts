import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { DemoWorld } from '../src/operations/demo/world.ts';
import { type CDPSession, openBrowser, type TestBrowser, type Visit } from '../test/support/server/browser.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { resourceIds } from '../test/support/world/authz.ts';
import { BIG, fillBigOrganization } from '../test/support/world/big-organization.ts';
import { CONSOLE_ROUTES, type Ids, pathsOf, personFor } from '../test/support/world/console-pages.ts';
import { bigPages, EVENTS, MAX_CALLS, type Visited } from './console/big-pages.ts';
import { atMost, KB, kb, ms, type Row } from './console/rows.ts';
import { type BenchServer, startServer } from './support/server.ts';

const CLUSTERS = BIG.clusters;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10);
const MAX_REQUESTS = 12;
const WARM_UP_ROUNDS = 3;
/** A page that is not there by then counts with this time. */
const MAX_WAIT_MS = 10_000;
const ROOT = join(import.meta.dirname, '..');
const MARK = join(ROOT, 'scripts', 'build-marks.mjs');
const { isConsoleBuilt } = (await import(MARK)) as { isConsoleBuilt: (root: string) => boolean };

const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const PAINT = `new Promise((done) => {
  let [paint, shift] = [0, 0];
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries()) paint = startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) shift += value;
  }).observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => done([paint, shift]), 100);
})`;

const typed = (text: string) => `new Promise((done) => {
  const field = document.querySelector('dialog input');
  const began = performance.now();
  field.value = ${JSON.stringify(text)};
  field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
})`;

/**
 * Types into the field, or presses the button, and resolves when other rows are on the screen, drawn. The text of the
 * rows is read without their layout, so that watching costs little.
 */
const shown = (selector: string, text: string) => `new Promise((done) => {
  const one = document.querySelector(${JSON.stringify(selector)});
  const rows = () => document.querySelector('.stale') ? '' : document.querySelector('tbody')?.textContent ?? '';
  const before = rows();
  const observer = new MutationObserver(() => {
    const now = rows();
    if (now === '' || now === before) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(done));
  });
  observer.observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true, attributes: true });
  if (one.tagName === 'BUTTON') return one.click();
  one.value = ${JSON.stringify(text)};
  one.dispatchEvent(new InputEvent('input', { bubbles: true }));
})`;

/** Counts the requests under way. */
const COUNT_REQUESTS = `{
  const send = window.fetch;
  window.underWay = 0;
  window.fetch = async (...args) => {
    window.underWay += 1;
    try { return await send(...args); } finally { window.underWay -= 1; }
  };
}`;

/** Follows a link as the router does, and resolves to the time until the next page is there, whole and drawn. */
const opened = (path: string) => `new Promise((done) => {
  const before = document.querySelector('.page');
  const link = document.createElement('a');
  link.href = ${JSON.stringify(path)};
  document.querySelector('main').append(link);
  const began = performance.now();
  link.click();
  const look = () => {
    const page = document.querySelector('.page');
    const isThere = page !== null && page !== before && window.underWay === 0 &&
      document.querySelector('.loading, .stale') === null;
    const took = performance.now() - began;
    if (isThere || took > ${MAX_WAIT_MS}) done(took);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})`;

/** The budgets of the console, in a real Chromium, against a server in its own process on PostgreSQL. */
const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres();
let browser: TestBrowser | undefined;
let server: BenchServer | undefined;
try {
  const settings = {
    DATABASE_URL: await postgres.createDatabase(),
    DATA_DIR: folder,
    ADMIN_PORT: '0',
    RUN_MODE: 'prod',
    // Pages are measured one after the other, faster than any user clicks.
    RATE_LIMIT: '0',
  };
  await (await startServer(['src/main.ts', 'demo'], settings)).stop();
  const world = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as DemoWorld;
  const client = new pg.Client({ connectionString: settings.DATABASE_URL });
  await client.connect();
  const { rows: globex } = await client.query<{ id: string }>(`select id from account where name = 'globex'`);
  await fillBigOrganization(
    (statement, values) => client.query({ ...statement, values: [...values] }),
    globex[0]?.id ?? '',
  );
  const { rows: first } = await client.query<Record<'clusters' | 'teams' | 'roles', string>>(
    `select (select min(c.id) from cluster c where c.owner_id = a.id) as clusters,
            (select t.id from team t where t.organization_id = a.id and t.name = 'team1') as teams,
            (select r.id from role r where r.organization_id = a.id and r.name = 'role1') as roles
       from account a where a.name = 'globex'`,
  );
  await client.query('vacuum analyze');
  await client.end();

  server = await startServer(['src/main.ts'], settings);
  const idle = memoryOf(server.pid);
  browser = await openBrowser();
  const visited = { url: server.address, world };
  const rows: Row[] = [
    ...(await firstVisits(browser, visited)),
    ...(await callsOfPages(browser, visited)),
    ...(await bigPages(browser, visited, { ...idsOf(world), ...first[0] })),
    ...(await manyClusters(browser, visited, server)),
    atMost('later starts: is the console built?', markTime(), 50, ms),
    atMost('memory of the idle server', idle, 150, (value) => `${value.toFixed(0)} MiB`),
  ];
  process.stdout.write(`\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, Chromium.\n\n`);
  process.stdout.write('| what | measured | budget |\n|---|---|---|\n');
  for (const { what, measured, budget, isMet } of rows) {
    process.stdout.write(`| ${what} | ${isMet ? measured : `**${measured}**`} | ${budget} |\n`);
  }
  const missed = rows.filter(({ isMet, isWallClock }) => !isMet && !isWallClock);
  if (missed.length > 0) {
    process.stderr.write(`over budget: ${missed.map(({ what }) => what).join(', ')}\n`);
    process.exitCode = 1;
  }
} finally {
  await browser?.close();
  await server?.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

/** Everything that a browser with an empty cache loads, until nothing is loading any more. */
async function firstVisits(chromium: TestBrowser, visited: Visited): Promise<Row[]> {
  const rows: Row[] = [];
  const cluster = visited.world.clusters.prod?.id;
  const why = `/orgs/acme/access/why?user=dan&relation=can_connect&object=cluster:${cluster}`;
  for (const [title, path, name] of [
    ['sign-in', '/signin', undefined],
    ['home', '/', 'ann'],
    ['organization', '/orgs/acme', 'ann'],
    ['why', why, 'ann'],
  ] as const) {
    const visit = await chromium.visit(visited, name);
    const session = await visit.context.newCDPSession(visit.page);
    await session.send('Network.enable');
    let [bytes, requests, calls] = [0, 0, 0];
    const urls: string[] = [];
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    visit.page.on('request', (request) => {
      const url = request.url().slice(visited.url.length);
      // A file that is asked for again comes from the cache, such as the icon when the address changes.
      if (url.startsWith('/assets/') && urls.includes(url)) return;
      // The stream of events begins when the page is there.
      if (url === EVENTS) return;
      urls.push(url);
      requests += 1;
      if (url.startsWith('/api/v1/')) calls += 1;
    });
    await visit.go(path);
    await visit.settled();
    if (requests > MAX_REQUESTS) process.stderr.write(`too many requests of ${title}:\n  ${urls.join('\n  ')}\n`);
    const [paint, shift] = await visit.page.evaluate<[number, number]>(PAINT);
    rows.push({
      what: `first visit of ${title}`,
      measured: `${kb(bytes)} in ${requests} requests, ${calls} of them calls`,
      budget: `≤ 130 KB, ≤ ${MAX_REQUESTS}`,
      isMet: bytes <= 130 * KB && requests <= MAX_REQUESTS,
    });
    rows.push({
      what: '… layout shift',
      measured: shift.toFixed(3),
      budget: '< 0.01',
      isMet: shift < 0.01,
    });
    rows.push({
      what: '… largest paint',
      measured: ms(paint),
      budget: '≤ 800 ms',
      isMet: paint <= 800,
      isWallClock: true,
    });
    await visit.context.close();
  }
  return rows;
}

function idsOf(world: DemoWorld): Ids {
  return {
    ...resourceIds(world),
    roles: String(world.orgs.acme?.roles['cluster-operator']),
    teams: String(world.orgs.acme?.teams.operators),
    deliveries: '1',
    subscriptions: '1',
    installers: '1',
    providers: 'company',
    credentials: 'none',
    invitations: 'none',
    requests: 'req_1',
    reviews: '1',
    webhooks: '1',
    'admin/webhooks': '1',
  };
}

/** Calls of each page that is opened by its address, and how long it takes when one comes to it by a link. */
async function callsOfPages(chromium: TestBrowser, visited: Visited): Promise<Row[]> {
  const ids = idsOf(visited.world);
  const visits = new Map<string, Visit>();
  const counts: { path: string; calls: number }[] = [];
  const times: number[] = [];
  for (const route of CONSOLE_ROUTES) {
    const person = personFor(route);
    if (person === undefined) continue;
    const visit = visits.get(person) ?? (await chromium.visit(visited, person));
    if (!visits.has(person)) await visit.context.addInitScript(COUNT_REQUESTS);
    visits.set(person, visit);
    for (const path of pathsOf(route, ids)) {
      let calls = 0;
      const count = (request: { url(): string }) => {
        if (request.url().includes('/api/v1/') && !request.url().endsWith(EVENTS)) calls += 1;
      };
      visit.page.on('request', count);
      await visit.go(path);
      await visit.settled();
      visit.page.off('request', count);
      counts.push({ path, calls });
    }
    if (route === '/model') continue;
    await visit.go('/model');
    await visit.settled();
    times.push(await visit.page.evaluate<number>(opened(pathsOf(route, ids)[0])));
    await visit.settled();
  }
  const over = counts.filter(({ calls }) => calls > MAX_CALLS).map(({ path, calls }) => `${path} ${calls}`);
  const [median, slow] = [middle(times), times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0];
  return [
    {
      what: 'calls of a page, opened by its address',
      measured: `at most ${Math.max(...counts.map(({ calls }) => calls))} (${over.join(', ') || `none over ${MAX_CALLS}`})`,
      budget: `≤ ${MAX_CALLS}`,
      isMet: over.length === 0,
    },
    {
      what: 'click → data, all pages: median, 95 %',
      measured: `${ms(median)}, ${ms(slow)}`,
      budget: '≤ 100 ms, ≤ 300 ms',
      isMet: median <= 100 && slow <= 300,
      isWallClock: true,
    },
  ];
}

/** Processor time of the page and of the server, from the input until the rows are on the screen. */
async function manyClusters(chromium: TestBrowser, visited: Visited, atrium: BenchServer): Promise<Row[]> {
  const visit = await chromium.visit(visited, 'eve');
  const { page } = visit;
  const session = await visit.context.newCDPSession(page);
  // Processor time, which other load on the machine changes less.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await visit.go('/orgs/globex/clusters');
  await visit.settled();
  const filter = (round: number) => page.evaluate(shown(`input[type="search"]`, `many 99${round % 10}`));
  const sort = (round: number) => page.evaluate(shown('th:nth-child(4) button', String(round)));
  const rows: Row[] = [];
  for (const [what, act] of [
    ['filtering', filter],
    ['sorting', sort],
  ] as const) {
    if (what === 'sorting') {
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await visit.settled();
    }
    for (let round = 0; round < WARM_UP_ROUNDS; round++) await act(9 - round);
    const [before, beforeServer] = [await busy(session), atrium.cpuMicroseconds()];
    for (let round = 0; round < ROUNDS; round++) await act(round);
    const inPage = (1000 * ((await busy(session)) - before)) / ROUNDS;
    const inServer = (atrium.cpuMicroseconds() - beforeServer) / 1000 / ROUNDS;
    rows.push({
      what: `${what} ${CLUSTERS} clusters`,
      measured: `${ms(inPage + inServer)} of CPU: page ${ms(inPage)}, server ${ms(inServer)}`,
      budget: '≤ 100 ms',
      isMet: inPage + inServer <= 100,
    });
  }
  await page.keyboard.press('Control+k');
  await visit.settled();
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await page.evaluate<number>(typed(`many 5${round}`)));
  rows.push(atMost(`typing in the palette → list, ${CLUSTERS} clusters`, middle(times), 50, ms));
  return rows;
}

/** Seconds that the main thread of the page has worked. */
async function busy(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
}

function markTime(): number {
  const began = performance.now();
  if (!isConsoleBuilt(ROOT)) throw new Error('the console is not built');
  return performance.now() - began;
}

function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / KB;
}
