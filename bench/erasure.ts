import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import pg from 'pg';
import { chainHash } from '../src/changes/audit-chain.store.ts';
import { runInServer } from '../src/operations/server-commands.ts';
import { openTestServer } from '../test/support/server/server.ts';
import { startMeter } from './requests/meter.ts';

/** A person is erased from entries of earlier releases, which have names in clear text: half of these. */
const ROWS = Number(process.env.BENCH_ROWS ?? 200_000);
const SAMPLE_MS = 25;
const PART = 2000;
/** What other connections use of the database server at any moment. */
const SAMPLE = `select count(*) filter (where state <> 'idle')::integer as busy,
    coalesce(max(extract(epoch from clock_timestamp() - xact_start)) * 1000, 0)::float8 as oldest_ms,
    count(*) filter (where wait_event_type = 'Lock')::integer as waiting
  from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
const INSERT = `insert into audit (at, organization_id, actor_id, actor_name, action, object_type, object_id, before, after,
                                   request_id, previous_hash, hash)
  select $1, $2, e.actor_id, e.actor_name, 'role.update', 'role', 7, $3::json, $3::json, 'earlier', e.previous, e.hash
    from unnest($4::bigint[], $5::text[], $6::bytea[], $7::bytea[]) with ordinality as e (actor_id, actor_name, previous, hash, place)
   order by place`;
const STATE =
  '{"name":"Operators","description":"Look after the clusters of the company, at night too","teamIds":["12"]}';

const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const client = new Worker(new URL('./requests/client.mjs', import.meta.url));
const atrium = await openTestServer({ driver: 'postgres', env: { RATE_LIMIT: '0', LOG_LEVEL: 'error' } });
const url = atrium.instance.config.DATABASE_URL;
const watcher = new pg.Client({ connectionString: url });
await watcher.connect();
try {
  const [dan, bob, acme] = [atrium.world.users.dan, atrium.world.users.bob, atrium.world.orgs.acme];
  if (!dan || !bob || !acme) throw new Error('the demo world has neither dan and bob, nor acme');
  await fill(acme.id, [
    { id: dan.id, name: 'dan' },
    { id: bob.id, name: 'bob' },
  ]);
  const lines = [
    await step('DELETE …?erase=true', () => send('DELETE', '/admin/users/dan?erase=true', 'root')),
    await step('verification from the beginning', () => send('GET', '/orgs/acme/audit/verify?from=beginning', 'ann')),
    await step('export by an owner', () => send('GET', '/orgs/acme/audit/export', 'ann')),
    await step('archive', () =>
      command('archive', '--before', new Date().toISOString(), '--to', join(folder, 'archive')),
    ),
    await step('restore of the archive', () => command('restore', join(folder, 'archive'))),
  ];
  const { erased } = (await watcher.query('select count(*)::integer as erased from audit where is_erased')).rows[0];
  process.stdout.write(
    [
      `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}, PostgreSQL on the same machine;`,
      `${ROWS} entries of earlier releases, ${erased} of them of the person.\n`,
      '| what | took | longest hold of the event loop | processor time | longest transaction | connections | waited for locks |',
      '|---|---|---|---|---|---|---|',
      ...lines,
      '',
    ].join('\n'),
  );
} finally {
  await watcher.end();
  await client.terminate();
  await atrium.close();
  rmSync(folder, { recursive: true, force: true });
}
// The test database would keep this process alive.
process.exit();

async function step(what: string, work: () => Promise<unknown>): Promise<string> {
  globalThis.gc?.();
  const seen = { busy: 0, oldest_ms: 0, waiting: 0 };
  let sampling: Promise<void> | undefined;
  const timer = setInterval(() => {
    sampling ??= watcher.query<typeof seen>(SAMPLE).then(({ rows: [row] }) => {
      for (const key of ['busy', 'oldest_ms', 'waiting'] as const) seen[key] = Math.max(seen[key], row?.[key] ?? 0);
      sampling = undefined;
    });
  }, SAMPLE_MS);
  const [stop, began] = [startMeter(), performance.now()];
  // A sample after a failure would be asked of a closed connection, and hide the failure.
  await work().finally(async () => {
    clearInterval(timer);
    await sampling;
  });
  const seconds = (performance.now() - began) / 1000;
  const { longestMs, totalMs } = await stop();
  const cells = [what, `${seconds.toFixed(1)} s`, `${longestMs.toFixed(0)} ms`, `${(totalMs / 1000).toFixed(1)} s`];
  return `| ${[...cells, `${seen.oldest_ms.toFixed(0)} ms`, seen.busy, seen.waiting].join(' | ')} |`;
}

async function send(method: string, path: string, as: string): Promise<void> {
  const headers = { Authorization: `token ${atrium.world.users[as]?.token}` };
  client.postMessage({ url: `${atrium.url}/api/v1${path}`, method, headers });
  const { status, start } = await new Promise<{ status: number; start: string }>((resolve) =>
    client.once('message', resolve),
  );
  if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${start}`);
}

async function command(...argv: string[]): Promise<void> {
  await runInServer(atrium.instance, { argv: ['audit', ...argv] }, () => undefined);
}

/** Entries as earlier releases wrote them, each by the next of these people. */
async function fill(organizationId: bigint | number, people: readonly { id: bigint | number; name: string }[]) {
  const chain = BigInt(organizationId);
  const at = new Date();
  const { rows } = await watcher.query('select hash from audit where organization_id = $1 order by id desc limit 1', [
    chain,
  ]);
  let previous: Buffer = rows[0]?.hash ?? Buffer.alloc(32);
  for (let first = 0; first < ROWS; first += PART) {
    const part = Array.from({ length: Math.min(PART, ROWS - first) }, (_, place) => {
      const actor = people[(first + place) % people.length] ?? { id: 0n, name: '' };
      const entry = { actor_id: BigInt(actor.id), actor_name: actor.name, previous_hash: previous };
      const common = { at, organization_id: chain, action: 'role.update', object_type: 'role', object_id: 7n };
      const rest = { before: STATE, after: STATE, request_id: 'earlier', on_behalf_id: null, on_behalf_name: null };
      const hash = chainHash({ ...common, ...entry, ...rest, via: null });
      previous = hash;
      return { ...entry, hash };
    });
    await watcher.query(INSERT, [
      ...[at, chain, STATE, part.map((one) => one.actor_id), part.map((one) => one.actor_name)],
      ...[part.map((one) => one.previous_hash), part.map((one) => one.hash)],
    ]);
  }
  await watcher.query('update audit_plain set last_id = (select max(id) from audit)');
  await watcher.query('vacuum analyze audit');
}
