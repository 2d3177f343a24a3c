import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { DemoWorld } from '../src/operations/demo/world.ts';
import { type CDPSession, openBrowser, type TestBrowser, type Visit } from '../test/support/browser.ts';
import { CONSOLE_ROUTES, pathsOf, personFor } from '../test/support/console-pages.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { type BenchServer, startServer } from './support/server.ts';
import { fillOrganization } from './user-lists/fill.ts';

const CLUSTERS = 10_000;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10);
const KB = 1024;
const MAX_REQUESTS = 12;
const ROOT = join(import.meta.dirname, '..');
const MARK = join(ROOT, 'scripts', 'console-mark.mjs');
const { isConsoleBuilt } = (await import(MARK)) as { isConsoleBuilt: (root: string) => boolean };

type Row = readonly [what: string, measured: string, budget: string];
const kb = (bytes: number) => `${(bytes / KB).toFixed(1)} KB`;
const ms = (value: number) => `${value.toFixed(0)} ms`;
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

/** Types into the field, or presses the button, and resolves when other rows are there. Watching costs nothing. */
const shown = (selector: string, text: string) => `new Promise((done) => {
  const one = document.querySelector(${JSON.stringify(selector)});
  const rows = () => document.querySelector('.stale') ? '' : document.querySelector('tbody')?.innerText ?? '';
  const before = rows();
  const observer = new MutationObserver(() => {
    if (rows() === '' || rows() === before) return;
    observer.disconnect();
    done();
  });
  observer.observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true, attributes: true });
  if (one.tagName === 'BUTTON') return one.click();
  one.value = ${JSON.stringify(text)};
  one.dispatchEvent(new InputEvent('input', { bubbles: true }));
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
    // Pages are measured one after the other, faster than anybody clicks.
    RATE_LIMIT: '0',
  };
  await (await startServer(['src/main.ts', 'demo'], settings)).stop();
  const world = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as DemoWorld;
  const client = new pg.Client({ connectionString: settings.DATABASE_URL });
  await client.connect();
  await fillOrganization(client, 'globex', CLUSTERS);
  await client.query('vacuum analyze');
  await client.end();

  server = await startServer(['src/main.ts'], settings);
  const idle = memoryOf(server.pid);
  browser = await openBrowser();
  const visited = { url: server.address, world };
  const rows: Row[] = [
    ...(await firstVisits(browser, visited)),
    ...(await callsOfPages(browser, visited)),
    ...(await manyClusters(browser, visited, server)),
    ['later starts: is the console built?', ms(markTime()), '+50 ms'],
    ['memory of the idle server', `${idle.toFixed(0)} MiB`, '≤ 150 MiB'],
  ];
  process.stdout.write(`\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, Chromium.\n\n`);
  process.stdout.write('| what | measured | budget |\n|---|---|---|\n');
  for (const row of rows) process.stdout.write(`| ${row.join(' | ')} |\n`);
} finally {
  await browser?.close();
  await server?.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

interface Visited {
  readonly url: string;
  readonly world: DemoWorld;
}

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
      urls.push(url);
      requests += 1;
      if (url.startsWith('/api/v1/')) calls += 1;
    });
    await visit.go(path);
    await visit.settled();
    if (requests > MAX_REQUESTS) process.stderr.write(`too many requests of ${title}:\n  ${urls.join('\n  ')}\n`);
    const [paint, shift] = await visit.page.evaluate<[number, number]>(PAINT);
    rows.push([
      `first visit of ${title}`,
      `${kb(bytes)} in ${requests} requests, ${calls} of them calls`,
      '≤ 130 KB, ≤ 12',
    ]);
    rows.push([`… largest paint, layout shift`, `${ms(paint)}, ${shift.toFixed(3)}`, '≤ 800 ms, 0']);
    await visit.context.close();
  }
  return rows;
}

/** Calls of each page when one comes to it by a link. */
async function callsOfPages(chromium: TestBrowser, visited: Visited): Promise<Row[]> {
  const { world } = visited;
  const ids = {
    clusters: String(world.clusters.prod?.id),
    roles: String(world.orgs.acme?.roles['cluster-operator']),
    teams: String(world.orgs.acme?.teams.operators),
    contracts: String(world.contracts.acme),
    robots: String(world.robots.ci),
    deliveries: '1',
    subscriptions: '1',
    installers: '1',
  };
  const visits = new Map<string, Visit>();
  const counts: { route: string; calls: number; took: number }[] = [];
  for (const route of CONSOLE_ROUTES) {
    const person = personFor(route);
    if (person === undefined) continue;
    const visit = visits.get(person) ?? (await chromium.visit(visited, person));
    visits.set(person, visit);
    await visit.go('/model');
    await visit.settled();
    let calls = 0;
    const count = (request: { url(): string }) => {
      if (request.url().includes('/api/v1/')) calls += 1;
    };
    visit.page.on('request', count);
    const began = performance.now();
    // As a link does: the router takes over.
    await visit.page.evaluate(`{
      const link = document.createElement('a');
      link.href = ${JSON.stringify(pathsOf(route, ids)[0])};
      document.querySelector('main').append(link);
      link.click();
    }`);
    await visit.page.waitForURL((url) => url.pathname !== '/model' || route === '/model');
    await visit.settled();
    counts.push({ route, calls, took: performance.now() - began });
    visit.page.off('request', count);
  }
  const most = counts.filter(({ calls }) => calls > 4).map(({ route, calls }) => `${route} ${calls}`);
  const times = counts.map(({ took }) => took).toSorted((a, b) => a - b);
  return [
    [
      'calls of a page',
      `at most ${Math.max(...counts.map(({ calls }) => calls))} (${most.join(', ') || 'none over 4'})`,
      '≤ 4',
    ],
    [
      'click → data, all pages: median, 95 %',
      `${ms(middle(times))}, ${ms(times[Math.floor(times.length * 0.95)] ?? 0)}`,
      '≤ 100 ms, ≤ 300 ms',
    ],
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
    await act(9);
    const [before, beforeServer] = [await busy(session), atrium.cpuMicroseconds()];
    for (let round = 0; round < ROUNDS; round++) await act(round);
    const inPage = (1000 * ((await busy(session)) - before)) / ROUNDS;
    const inServer = (atrium.cpuMicroseconds() - beforeServer) / 1000 / ROUNDS;
    rows.push([
      `${what} ${CLUSTERS} clusters`,
      `${ms(inPage + inServer)} of CPU: page ${ms(inPage)}, server ${ms(inServer)}`,
      '≤ 100 ms',
    ]);
  }
  await page.keyboard.press('Control+k');
  await visit.settled();
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await page.evaluate<number>(typed(`many 5${round}`)));
  rows.push([`typing in the palette → list, ${CLUSTERS} clusters`, ms(middle(times)), '≤ 50 ms']);
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
