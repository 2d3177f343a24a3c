import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPgbouncer } from '../test/support/services/pgbouncer.ts';
import { freePort } from '../test/support/services/ports.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { median, spread } from './support/figures.ts';
import { load } from './support/load.ts';
import { type BenchServer, createStealMeter, measurement, startServer } from './support/server.ts';

// Many short rounds, so that other load on the machine, or on its host, affects all contestants equally.
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 21);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 1);
const CONNECTIONS = 64;
const STARTS = 5;
/** What is sent to the bare routes instead of a real token. */
const bystander = `atr_${'x'.repeat(33)}`;

const say = (line: string) => process.stderr.write(`${line}\n`);

interface Contestant {
  readonly name: string;
  readonly server: BenchServer;
  readonly admin?: string;
  readonly token?: string;
  readonly rates: number[];
  readonly costs: number[];
}

const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres({ settings: { fsync: 'on', shared_buffers: '128MB' } });
const pooler = await startPgbouncer(postgres.url).catch(() => undefined);
if (!pooler) say('not measured, because it is not installed: PgBouncer');
try {
  const places = {
    PostgreSQL: { DATA_DIR: join(folder, 'postgres'), DATABASE_URL: await postgres.createDatabase() },
    ...(pooler && {
      'PostgreSQL through PgBouncer': {
        DATA_DIR: join(folder, 'pooled'),
        DATABASE_URL: pooler.urlOf(await postgres.createDatabase()),
        DATABASE_POOLER: 'transaction',
      },
    }),
    PGlite: { DATA_DIR: join(folder, 'pglite') },
  };
  const rows = [...(await compareThroughput(places)), ...(await measureStarts(places))];
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, PostgreSQL on the same machine`;
  process.stdout.write(`\n${machine}; ${ROUNDS} rounds of ${SECONDS} s, ${CONNECTIONS} connections, medians.\n\n`);
  process.stdout.write('| what | measured | spread | target |\n|---|---|---|---|\n');
  for (const row of rows) process.stdout.write(`| ${row.join(' | ')} |\n`);
} finally {
  await pooler?.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Measures all contestants in turn, round after round, so that other load on the machine affects them equally. */
async function compareThroughput(places: Record<string, Record<string, string>>): Promise<string[][]> {
  const instances = await Promise.all(Object.entries(places).map(([name, settings]) => openInstance(name, settings)));
  const [first] = instances as [Contestant, ...Contestant[]];
  const { type, headers, body } = await sampleOf(first);
  const bare = await openBare('bare Fastify', body, type);
  const dressed = await openBare('bare Fastify with the same headers', body, { ...type, ...headers });
  const contestants = [bare, dressed, ...instances];
  for (const one of contestants) await shoot(one, 2);
  const before = await Promise.all(instances.map(countsOf));
  const stolen = createStealMeter();
  for (let round = 1; round <= ROUNDS; round++) {
    for (const one of contestants) await measure(one);
    say(`round ${round}: ${contestants.map((one) => `${one.name} ${one.rates.at(-1)?.toFixed(0)}/s`).join(', ')}`);
  }
  const lost = 100 * stolen();
  const after = await Promise.all(instances.map(countsOf));
  for (const one of contestants) await one.server.stop();

  const rows = [['processor time that the host took away', `${lost.toFixed(1)} %`, '', '']];
  const bareRows = [bare, dressed].flatMap((one) => [
    [`${one.name}, requests/s`, median(one.rates).toFixed(0), spread(one.rates), ''],
    ['… processor time of one request', `${median(one.costs).toFixed(1)} µs`, spread(one.costs), ''],
  ]);
  rows.push(...bareRows);
  instances.forEach((atrium, index) => {
    const sharesOf = (other: Contestant) =>
      atrium.rates.map((rate, round) => (100 * rate) / (other.rates[round] ?? Number.NaN));
    const shares = sharesOf(bare);
    const dressedShares = sharesOf(dressed);
    const byCost = atrium.costs.map((cost, round) => (100 * (bare.costs[round] ?? Number.NaN)) / cost);
    const requests = (after[index]?.requests ?? 0) - (before[index]?.requests ?? 0);
    const questions = (after[index]?.questions ?? 0) - (before[index]?.questions ?? 0);
    rows.push(
      [`GET /api/v1/user on ${atrium.name}, requests/s`, median(atrium.rates).toFixed(0), spread(atrium.rates), ''],
      ['… of the bare route in the same round', `${median(shares).toFixed(0)} %`, spread(shares), '≥ 90 %'],
      ['… of the one with the same headers', `${median(dressedShares).toFixed(0)} %`, spread(dressedShares), ''],
      ['… processor time of one request', `${median(atrium.costs).toFixed(1)} µs`, spread(atrium.costs), ''],
      ['… by which it would be', `${median(byCost).toFixed(0)} %`, spread(byCost), ''],
      ['… questions asked per 1,000 requests', ((1000 * questions) / requests).toFixed(1), '', ''],
    );
  });
  return rows;
}

async function openBare(name: string, body: string, headers: Record<string, string>): Promise<Contestant> {
  const server = await startServer(['bench/support/bare.ts', body, JSON.stringify(headers)]);
  return { name, server, rates: [], costs: [] };
}

/** What one answer of the instance looks like, so that other servers can send the same. */
async function sampleOf(atrium: Contestant) {
  const answer = await fetch(`${atrium.server.address}/api/v1/user`, {
    headers: { authorization: `token ${atrium.token}` },
  });
  const own = new Set(['connection', 'keep-alive', 'date', 'content-length', 'content-type']);
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !own.has(name)));
  return { type: { 'content-type': answer.headers.get('content-type') ?? '' }, headers, body: await answer.text() };
}

async function openInstance(name: string, settings: Record<string, string>): Promise<Contestant> {
  const port = String(await freePort());
  const given = { ...settings, ADMIN_PORT: port, RATE_LIMIT: '0' };
  // The process that creates a database stays a little slower than one that finds it there, and is rare in a server's
  // life.
  const maker = await startServer(['src/main.ts'], given);
  const token = /atr_\w{33}/.exec(maker.stdout)?.[0] ?? '';
  await maker.stop();
  const server = await startServer(['src/main.ts'], given);
  return { name, server, admin: `http://127.0.0.1:${port}`, token, rates: [], costs: [] };
}

async function measure(one: Contestant): Promise<void> {
  const before = one.server.cpuMicroseconds();
  const rate = await shoot(one, SECONDS);
  one.rates.push(rate);
  one.costs.push((one.server.cpuMicroseconds() - before) / (rate * SECONDS));
}

/** All contestants get the same request, though only the instance looks at its token. */
function shoot({ server, token = bystander }: Contestant, seconds: number): Promise<number> {
  const headers = { authorization: `token ${token}` };
  return load({ url: `${server.address}/api/v1/user`, headers }, CONNECTIONS, seconds);
}

async function countsOf({ admin = '' }: Contestant): Promise<{ requests: number; questions: number }> {
  return {
    requests: await measurement(admin, 'http_server_request_duration_seconds_count'),
    questions: await measurement(admin, 'atrium_revision_reads_total'),
  };
}

async function measureStarts(places: Record<string, Record<string, string>>): Promise<string[][]> {
  const rows: string[][] = [];
  const targets: Record<string, string> = { PostgreSQL: '< 1000 ms', PGlite: '< 1500 ms' };
  for (const [name, settings] of Object.entries(places)) {
    const times: number[] = [];
    let memory = Number.NaN;
    for (let count = 1; count <= STARTS; count++) {
      const port = String(await freePort());
      const server = await startServer(['src/main.ts'], { ...settings, ADMIN_PORT: port });
      times.push(server.firstAnswerMs);
      if (count === STARTS) {
        await new Promise((resolve) => setTimeout(resolve, 3000));
        memory = (await measurement(`http://127.0.0.1:${port}`, 'process_resident_memory_bytes')) / 2 ** 20;
      }
      await server.stop();
    }
    rows.push(
      [`start to first answer, ${name}`, `${median(times).toFixed(0)} ms`, spread(times), targets[name] ?? ''],
      [`idle memory (resident), ${name}`, `${memory.toFixed(0)} MiB`, '', '≤ 200 MiB'],
    );
  }
  return rows;
}
