import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../test/support/services/postgres.ts';
import { fillAudit } from './audit/fill.ts';
import { startServer } from './support/server.ts';

const ROWS = Number(process.env.BENCH_ROWS ?? 1_000_000);
/** More than five, after which PostgreSQL may settle on one plan for all values. */
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 30);
const TARGET_MS = 20;

const say = (line: string) => process.stderr.write(`${line}\n`);
const ms = (value: number) => `${value.toFixed(1)} ms`;
const quantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;

/** Pages of a long audit log, over HTTP on PostgreSQL. The queries are those that a planner easily gets wrong. */
const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres({ settings: { shared_buffers: '256MB', max_wal_size: '4GB' } });
try {
  const settings = {
    DATABASE_URL: await postgres.createDatabase(),
    DATA_DIR: folder,
    ADMIN_PORT: '0',
    RUN_MODE: 'prod',
    RATE_LIMIT: '0',
  };
  await (await startServer(['src/main.ts', 'demo'], settings)).stop();
  const { users, orgs } = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8'));
  const client = new pg.Client({ connectionString: settings.DATABASE_URL });
  client.on('error', () => undefined);
  await client.connect();
  say(`filling: ${ROWS} rows, half of them of acme`);
  const written = await fillAudit(client, ROWS, { acme: orgs.acme.id, globex: orgs.globex.id, root: users.root.id });
  await client.query('vacuum analyze audit');

  const server = await startServer(['src/main.ts', 'demo'], settings);
  const QUESTIONS: readonly (readonly [what: string, path: string, who: 'ann' | 'root'])[] = [
    ['newest page', '/orgs/acme/audit', 'ann'],
    ['actor', '/orgs/acme/audit?actor=1000176', 'ann'],
    ['actor who is busy elsewhere and never was here', '/orgs/acme/audit?actor=root', 'ann'],
    ['actor who never did anything', '/orgs/acme/audit?actor=4242424242', 'ann'],
    ['object', '/orgs/acme/audit?object=role:124', 'ann'],
    ['object that does not exist', '/orgs/acme/audit?object=role:4242424242', 'ann'],
    ['type of object', '/orgs/acme/audit?object=role', 'ann'],
    ['type of object that is elsewhere only', '/orgs/acme/audit?object=robot', 'ann'],
    ['type of object that was long ago', '/orgs/acme/audit?object=contract', 'ann'],
    ['time long ago', '/orgs/acme/audit?until=2020-01-02T00:00:00Z', 'ann'],
    ['time before all', '/orgs/acme/audit?until=2019-01-01T00:00:00Z', 'ann'],
    ['an hour in the middle', '/orgs/acme/audit?since=2020-02-01T00:00:00Z&until=2020-02-01T01:00:00Z', 'ann'],
    ['organization that was busy long ago', '/orgs/globex/audit', 'root'],
    ['actor and time', '/orgs/acme/audit?actor=1000176&until=2020-01-20T00:00:00Z', 'ann'],
    ['actor and object', '/orgs/acme/audit?actor=1000176&object=role:124', 'ann'],
    ['actor and type of object', '/orgs/acme/audit?actor=1000176&object=contract', 'ann'],
    ['all: newest page', '/admin/audit', 'root'],
    ['all: actor', '/admin/audit?actor=root', 'root'],
    ['all: actor who never did anything', '/admin/audit?actor=4242424242', 'root'],
    ['all: object', '/admin/audit?object=cluster:78', 'root'],
    ['all: type of object that was long ago', '/admin/audit?object=contract', 'root'],
    ['all: type of object that does not exist', '/admin/audit?object=nothing', 'root'],
    ['all: time long ago', '/admin/audit?until=2020-01-02T00:00:00Z', 'root'],
    ['all: actor and type that never met', '/admin/audit?actor=root&object=contract', 'root'],
    ['deleted objects', '/orgs/acme/audit?object=token&limit=50', 'ann'],
    ['action that never was', '/orgs/acme/audit?action=nothing.done', 'ann'],
    ['actions that are elsewhere only', '/orgs/acme/audit?action=robot.', 'ann'],
    ['actor and action that never met', '/orgs/acme/audit?actor=1000176&action=contract.', 'ann'],
    ['all: deleted objects', '/admin/audit?object=token&limit=50', 'root'],
    ['all: action that never was', '/admin/audit?action=nothing.done', 'root'],
    ['all: actor and action that never met', '/admin/audit?actor=root&action=nothing.done', 'root'],
  ];
  const times = new Map<string, number[]>(QUESTIONS.map(([what]) => [what, []]));
  const found = new Map<string, number>();
  // Measures all queries in turn, round after round, so that other load on the machine affects them equally.
  for (let round = 0; round < ROUNDS; round++) {
    for (const [what, path, who] of QUESTIONS) {
      const { took, count } = await timed(`${server.address}/api/v1${path}`, users[who].token);
      times.get(what)?.push(took);
      found.set(what, count);
    }
  }
  const exported = await measureExport(`${server.address}/api/v1/orgs/acme/audit/export`, users.ann.token);
  await client.end();
  await server.stop();

  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, PostgreSQL on the same machine`;
  process.stdout.write(`\n${machine}; ${ROWS} rows, over HTTP, one connection, pages of 30.\n\n`);
  process.stdout.write('| page | rows | median | slowest | × newest page | target |\n|---|---|---|---|---|---|\n');
  const base = quantile(times.get('newest page') ?? [], 0.5);
  for (const [what, all] of times) {
    const middle = quantile(all, 0.5);
    const cells = [
      what,
      found.get(what),
      ms(middle),
      ms(Math.max(...all)),
      (middle / base).toFixed(1),
      `< ${TARGET_MS} ms`,
    ];
    process.stdout.write(`| ${cells.join(' | ')} |\n`);
  }
  process.stdout.write(`\nwriting: ${written.join(', ')}\nexport: ${exported}\n`);
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function timed(url: string, token: string): Promise<{ took: number; count: number }> {
  const start = performance.now();
  const answer = await fetch(url, { headers: { Authorization: `token ${token}` } });
  const text = await answer.text();
  const took = performance.now() - start;
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${text}`);
  return { took, count: JSON.parse(text).items.length };
}

async function measureExport(url: string, token: string): Promise<string> {
  const start = performance.now();
  const answer = await fetch(url, { headers: { Authorization: `token ${token}` } });
  let bytes = 0;
  for await (const chunk of answer.body ?? []) bytes += chunk.length;
  const seconds = (performance.now() - start) / 1000;
  return `${(bytes / 2 ** 20).toFixed(0)} MiB in ${seconds.toFixed(1)} s, ${(bytes / 2 ** 20 / seconds).toFixed(0)} MiB/s`;
}
