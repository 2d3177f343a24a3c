import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../src/base/config.ts';
import { createLog } from '../src/base/log.ts';
import { openInstance } from '../src/instance.ts';
import { createAddressSet } from '../src/marketplace/ranges/address-set.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { bareInserts, type Load, load, startProcess } from './marketplace/load.ts';

/**
 * Deliveries per second on PostgreSQL, compared with a bare insert of the same body; and the cost of looking up an
 * address.
 */
const INSTALLERS = 30_000;
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

  const inserts = await bareInserts(databaseUrl, event);
  say(`bare insert, no HTTP              ${rate(inserts)}`);
  const bare = await startProcess('bench/marketplace/bare.ts', env);
  const postmaster = postgres.pid();
  const plain = await load(bare.url, event, { server: bare.child.pid, postmaster });
  bare.child.kill('SIGKILL');
  tell('bare insert behind a POST', plain);
  const marketplace = { DEPLOYMENT: 'marketplace', RUN_MODE: 'dev', CLOUD_B_SECRETS: 'bench' };
  const server = await startProcess('src/main.ts', { ...env, ...marketplace });
  const measured = { server: server.child.pid, postmaster };
  const base = `${server.url}/marketplace/api/v1/marketplaces`;
  const ofB = `${base}/cloudB/notification/resource?secret=bench`;
  tell('different events of B', await load(ofB, event, measured), plain, inserts);
  tell('different binds of A', await load(`${base}/cloudA/notification/resource`, bind, measured), plain, inserts);
  const same = event();
  tell('the same event of B', await load(ofB, () => same, measured), plain, inserts);
  server.child.kill('SIGKILL');
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

function tell(what: string, { perSecond, server, database, p99, failed }: Load, plain?: Load, inserts?: number): void {
  const ratio =
    plain && inserts
      ? `  ${(perSecond / plain.perSecond).toFixed(2)} of the POST, ${(perSecond / inserts).toFixed(2)} of the insert`
      : '';
  const cpu = `${Math.round(server)} + ${Math.round(database)} µs`;
  say(
    `${what.padEnd(33)} ${rate(perSecond)}  ${cpu.padStart(14)}  p99 ${p99} ms${failed > 0 ? `  ${failed} FAILED` : ''}${ratio}`,
  );
}

function rate(perSecond: number): string {
  return `${Math.round(perSecond)}/s`.padStart(8);
}
