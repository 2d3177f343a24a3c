import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../src/base/config/config.ts';
import { createLog } from '../src/base/log.ts';
import { openInstance } from '../src/instance.ts';
import { createAddressSet } from '../src/marketplace/ranges/address-set.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { bareInserts, type Load, load, startProcess } from './marketplace/load.ts';

/**
 * Deliveries per second on PostgreSQL, compared with a bare insert of the same row, or of all rows that a bind leaves,
 * behind the same HTTP server, and with the least that any listener could do; and the cost of looking up an address.
 */
const INSTALLERS = 300_000;
/** A few installations of many customers, and a burst. */
const CONNECTIONS = [32, 128];
const GUID = '2f9b1a34-6f0d-4c7e-9a51-0d7c2b8e4f11';
const say = (line: string) => process.stdout.write(`${line}\n`);

await benchAddresses();
await benchDeliveries();

async function benchAddresses(): Promise<void> {
  const sample4 = (n: number) =>
    n % 2 === 0 ? (v4[n] ?? '').replace('.0/', '.9/').replace(/\/.*/, '') : `224.0.0.${n % 256}`;
  const v4 = Array.from(
    { length: 2000 },
    (_, n) => `${1 + (n % 220)}.${(n * 7) % 256}.${(n * 13) % 256}.0/${20 + (n % 5)}`,
  );
  const v6 = Array.from(
    { length: 2200 },
    (_, n) => `2600:${(n * 29).toString(16)}:${(n % 97).toString(16)}::/${40 + (n % 24)}`,
  );
  const set = createAddressSet([...v4, ...v6]);
  for (const [name, addresses] of [
    ['IPv4', Array.from({ length: 1000 }, (_, n) => sample4(n))],
    [
      'IPv6',
      Array.from(
        { length: 1000 },
        (_, n) => `2600:${(n * 58).toString(16)}:${(n % 97).toString(16)}::${n.toString(16)}`,
      ),
    ],
    ['mapped', Array.from({ length: 1000 }, (_, n) => `::ffff:${sample4(n)}`)],
  ] as const) {
    let found = 0;
    const rounds = 300;
    for (let round = 0; round < 20; round++) for (const address of addresses) found += Number(set.has(address));
    const start = performance.now();
    for (let round = 0; round < rounds; round++) for (const address of addresses) found += Number(set.has(address));
    const micros = ((performance.now() - start) * 1000) / (rounds * addresses.length);
    say(
      `address check, ${name.padEnd(6)} ${micros.toFixed(2)} µs  (${set.size} merged ranges, ${found > 0 ? 'hits and misses' : 'misses'})`,
    );
  }
}

async function benchDeliveries(): Promise<void> {
  const postgres = await startPostgres({ settings: { fsync: 'on', shared_buffers: '256MB' } });
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const databaseUrl = await postgres.createDatabase();
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: folder, ATRIUM_KEY: randomBytes(32).toString('base64') };
  const installers = await makeInstallers(env);
  const event = () =>
    JSON.stringify({
      eventType: 'PUT',
      applicationId: `/subscriptions/${GUID}/resourceGroups/rg/providers/Microsoft.Solutions/applications/a${next()}`,
      eventTime: '2026-03-02T10:00:00.1234567Z',
      provisioningState: 'Succeeded',
      plan: { publisher: 'p', product: 'o', name: 's', version: '1.0.1' },
    });
  let count = 0;
  const next = () => (count++).toString(36);
  let used = 0;
  const bind = () =>
    JSON.stringify({ bindingInfo: { marketplace: 'CloudA', installerId: installers[used++], clusterId: `c${used}` } });

  say(`bare insert, no HTTP              ${rate(await bareInserts(databaseUrl, event))}`);
  const marketplace = { DEPLOYMENT: 'marketplace', RUN_MODE: 'dev', CLOUD_B_SECRETS: 'bench' };
  const bare = await startProcess('bench/marketplace/bare.ts', env);
  const row = await startProcess('bench/marketplace/same-row.ts', env);
  const rows = await startProcess('bench/marketplace/same-rows.ts', env);
  const server = await startProcess('src/main.ts', { ...env, ...marketplace });
  const base = `${server.url}/marketplace/api/v1/marketplaces`;
  const ofA = `${base}/cloudA/notification/resource`;
  const ofB = `${base}/cloudB/notification/resource?secret=bench`;
  for (const connections of CONNECTIONS) {
    say(`\n${connections} connections`);
    const measured = (child: ChildProcess) => ({ connections, server: child.pid, postmaster: postgres.pid() });
    const plain = await load(bare.url, event, measured(bare.child));
    tell('one column, plain Node server', plain);
    const same = await load(row.url, event, measured(row.child));
    tell('the same row, the same server', same);
    const many = await load(rows.url, bind, measured(rows.child));
    tell('the same rows as a bind', many);
    const others = { 'of the same row': same, 'of one column': plain };
    tell('different events of B', await load(ofB, event, measured(server.child)), others);
    const binds = await load(ofA, bind, measured(server.child));
    tell('different binds of A', binds, { 'of the same rows': many, ...others });
    const again = event();
    tell('the same event of B', await load(ofB, () => again, measured(server.child)), others);
  }
  for (const { child } of [bare, row, rows, server]) child.kill('SIGKILL');
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function makeInstallers(env: Record<string, string>): Promise<string[]> {
  const atrium = await openInstance(readConfig({ ...env, PORT: '0', ADMIN_PORT: '0' }), {
    log: createLog('error'),
    say: () => {},
  });
  const made = await atrium.db.query<{ id: string }>({
    name: 'bench.installers',
    text: `insert into installer (id, marketplace, expires_at)
           select 'bench-' || n, 'CloudA', now() + interval '1 day' from generate_series(1, ${INSTALLERS}) n returning id`,
  });
  await atrium.close();
  return made.map(({ id }) => id);
}

function tell(what: string, measured: Load, others: Readonly<Record<string, Load>> = {}): void {
  const { perSecond, server, database, p99, failed } = measured;
  const ratios = Object.entries(others).map(([of, other]) => `${(perSecond / other.perSecond).toFixed(2)} ${of}`);
  const cpu = `${Math.round(server)} + ${Math.round(database)} µs`.padStart(14);
  const failures = failed > 0 ? `  ${failed} FAILED` : '';
  say(`${what.padEnd(33)} ${rate(perSecond)}  ${cpu}  p99 ${p99} ms${failures}  ${ratios.join(', ')}`.trimEnd());
}

function rate(perSecond: number): string {
  return `${Math.round(perSecond)}/s`.padStart(8);
}
