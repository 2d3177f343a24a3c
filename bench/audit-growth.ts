import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../test/support/services/postgres.ts';
import { fillWithoutIndexes } from './audit/fill.ts';
import { median, spread } from './support/figures.ts';
import { type BenchServer, startServer } from './support/server.ts';

/** What an entry costs in a long log, next to a log of a tenth, on the same machine by turns. */
const ROWS = Number(process.env.BENCH_ROWS ?? 10_000_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15);
const EXPORTED = 20_000;
/** Of acme: every second entry, of which one is written every ten seconds. */
const SECONDS_PER_ENTRY = 20;
const FIRST = Date.parse('2020-01-01T00:00:00Z');
const VERIFY_MS = 4000;

const say = (line: string) => process.stderr.write(`${line}\n`);
const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const settings = { shared_buffers: '512MB', max_wal_size: '8GB', fsync: 'off', maintenance_work_mem: '512MB' };
const postgres = await startPostgres({ settings });
try {
  const [few, many] = [await open(ROWS / 10), await open(ROWS)];
  const pages: readonly (readonly [what: string, path: string, who: 'ann' | 'root'])[] = [
    ['newest page', '/orgs/acme/audit', 'ann'],
    ['a page long ago', '/orgs/acme/audit?until=2020-01-20T00:00:00Z', 'ann'],
    ['search by actor', '/orgs/acme/audit?actor=1000176', 'ann'],
    ['search by object', '/orgs/acme/audit?object=role:124', 'ann'],
    ['search by an actor who is busy elsewhere', '/orgs/acme/audit?actor=root', 'ann'],
    ['search by actor and action that never met', '/orgs/acme/audit?actor=1000176&action=contract.', 'ann'],
    ['newest page of all', '/admin/audit', 'root'],
    ['search of all by object', '/admin/audit?object=cluster:78', 'root'],
  ];
  const times = new Map<string, { few: number[]; many: number[] }>();
  const note = (what: string, log: Log, ms: number) => {
    const found = times.get(what) ?? { few: [], many: [] };
    found[log === few ? 'few' : 'many'].push(ms);
    times.set(what, found);
  };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const log of round % 2 === 0 ? [few, many] : [many, few]) {
      for (const [what, path, who] of pages) {
        const ms = await timed(`${log.server.address}/api/v1${path}`, log.tokens[who]);
        if (round > 0) note(`${what}, ms`, log, ms);
      }
      const exported = await exportPart(log, round);
      if (round > 0) note('export, µs an entry', log, exported);
      const verified = await verifyPart(log);
      if (round > 0) note('verification, µs an entry', log, verified);
    }
    say(`round ${round} of ${ROUNDS}`);
  }
  for (const { server } of [few, many]) await server.stop();
  const out = [
    `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, PostgreSQL on the same machine;`,
    `${ROUNDS} rounds by turns, over HTTP. Medians, and of what each round has shown.\n`,
    `| what | ${few.rows} entries | ${many.rows} entries | times |`,
    '|---|---|---|---|',
  ];
  for (const [what, found] of times) {
    const shares = found.many.map((one, round) => one / (found.few[round] ?? Number.NaN));
    const cells = [what, median(found.few).toFixed(1), median(found.many).toFixed(1)];
    out.push(`| ${cells.join(' | ')} | ${median(shares).toFixed(2)} (${spread(shares, 2)}) |`);
  }
  process.stdout.write(`${out.join('\n')}\n`);
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

interface Log {
  readonly rows: number;
  readonly server: BenchServer;
  readonly tokens: { readonly ann: string; readonly root: string };
  /** Where the verification goes on. */
  cursor: string | undefined;
}

async function open(rows: number): Promise<Log> {
  const place = join(folder, String(rows));
  const url = await postgres.createDatabase();
  const env = { DATABASE_URL: url, DATA_DIR: place, ADMIN_PORT: '0', RUN_MODE: 'prod', RATE_LIMIT: '0' };
  await (await startServer(['src/main.ts', 'demo'], env)).stop();
  const { users, orgs } = JSON.parse(readFileSync(join(place, 'demo.json'), 'utf8'));
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  say(`filling: ${rows} entries`);
  await fillWithoutIndexes(client, rows, { acme: orgs.acme.id, globex: orgs.globex.id, root: users.root.id });
  await client.query('vacuum analyze audit');
  await client.end();
  const server = await startServer(['src/main.ts', 'demo'], env);
  return { rows, server, tokens: { ann: users.ann.token, root: users.root.token }, cursor: undefined };
}

async function timed(url: string, token: string): Promise<number> {
  const began = performance.now();
  const answer = await fetch(url, { headers: { Authorization: `token ${token}` } });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${text}`);
  return performance.now() - began;
}

/** Some of the entries, at another place of the log in each round. In microseconds for each. */
async function exportPart({ server, tokens, rows }: Log, round: number): Promise<number> {
  const all = rows / 2;
  const first = Math.floor(((all - EXPORTED) * round) / (ROUNDS + 1));
  const at = (entry: number) => new Date(FIRST + entry * SECONDS_PER_ENTRY * 1000).toISOString();
  const url = `${server.address}/api/v1/orgs/acme/audit/export?since=${at(first)}&until=${at(first + EXPORTED)}`;
  const began = performance.now();
  const answer = await fetch(url, { headers: { Authorization: `token ${tokens.ann}` } });
  const lines = (await answer.text()).split('\n').length - 1;
  if (lines < EXPORTED * 0.9) throw new Error(`${url}: ${answer.status}, ${lines} lines`);
  return ((performance.now() - began) * 1000) / lines;
}

/** Some seconds of a verification of every entry, which goes on in the next round. In microseconds for each. */
async function verifyPart(log: Log): Promise<number> {
  const start = log.cursor === undefined ? 'from=beginning' : `cursor=${encodeURIComponent(log.cursor)}`;
  const stop = new AbortController();
  const answer = await fetch(`${log.server.address}/api/v1/orgs/acme/audit/verify?${start}`, {
    headers: { Authorization: `token ${log.tokens.ann}`, Accept: 'application/x-ndjson' },
    signal: stop.signal,
  });
  const began = performance.now();
  let first: { rows: number; ms: number } | undefined;
  let last: { rows: number; ms: number } | undefined;
  let rest = '';
  try {
    for await (const chunk of answer.body ?? []) {
      const lines = `${rest}${Buffer.from(chunk).toString()}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const told = JSON.parse(line) as { rows: number; cursor?: string };
        last = { rows: told.rows, ms: performance.now() };
        first ??= last;
        log.cursor = told.cursor;
      }
      // At the end, the next round begins again.
      if (log.cursor === undefined || performance.now() - began > VERIFY_MS) break;
    }
  } finally {
    stop.abort();
  }
  if (!first || !last || last.rows === first.rows) throw new Error(`the verification did not get on: ${answer.status}`);
  return ((last.ms - first.ms) * 1000) / (last.rows - first.rows);
}
