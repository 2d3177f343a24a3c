import { randomBytes } from 'node:crypto';
import { readConfig } from '../../src/base/config/config.ts';
import { createLog } from '../../src/base/log.ts';
import { sql } from '../../src/db/db.ts';
import { openInstance } from '../../src/instance.ts';
import { CATALOG } from '../../src/roles/catalog.ts';
import { freePort } from '../../test/support/services/ports.ts';
import { addMember } from '../../test/support/world/people.ts';
import { median, spread } from '../support/figures.ts';
import { startServer } from '../support/server.ts';
import { fillLargeWorld, LARGE } from './large-world.ts';

export interface Cold {
  readonly tuples: number;
  /** The first answer of each process, which is also the first about its organization, in milliseconds. */
  readonly first: readonly number[];
  /** The first answers about all other large organizations. */
  readonly cold: readonly number[];
  readonly again: readonly number[];
}

const COUNT = sql('bench.count', 'select count(*)::integer as count from tuple where store = $1');
// PostgreSQL does this by itself a minute after such a change.
const VACUUM = sql('bench.vacuum', 'vacuum analyze');
const PLACES = sql(
  'bench.places',
  `select a.id, a.name, t.id as team, c.id as cluster from account a
     join team t on t.organization_id = a.id and t.name = 'Viewers'
     join cluster c on c.owner_id = a.id and c.name = 'cluster-7'
    where a.name = any ($1) order by a.id`,
);

const PROCESSES = Number(process.env.BENCH_PROCESSES ?? 5);

/** How long a caller waits for the first answer about an organization that the process has not loaded yet. */
export async function measureCold(databaseUrl: string, dataDir: string): Promise<Cold> {
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ATRIUM_KEY: randomBytes(32).toString('base64') };
  const settings = { ...env, PORT: '0', ADMIN_PORT: '0', RATE_LIMIT: '0', DATABASE_TIMEOUT_MS: '300000' };
  const atrium = await openInstance(readConfig(settings), { log: createLog('error'), say: () => undefined });
  await fillLargeWorld(atrium.db, CATALOG);
  await atrium.db.query(VACUUM);
  const names = Array.from({ length: LARGE }, (_, at) => `org-${at + 1}`);
  const places = await atrium.db.query<{ id: bigint; name: string; team: bigint; cluster: bigint }>(PLACES, [names]);
  const person = await atrium.features.users.create({ name: 'viewer', email: 'viewer@example.com' });
  for (const { team } of places) await addMember(atrium, team, person);
  const { text } = await atrium.identity.tokens.issue({ accountId: person, name: 'bench', scopes: ['all'] });
  const [row] = await atrium.db.query<{ count: number }>(COUNT, [places[0]?.id]);
  await atrium.close();

  const measured = { tuples: row?.count ?? 0, first: [] as number[], cold: [] as number[], again: [] as number[] };
  for (let round = 0; round < PROCESSES; round++) {
    const adminPort = await freePort();
    const server = await startServer(['src/main.ts'], { ...settings, ADMIN_PORT: String(adminPort) });
    await untilReady(`http://127.0.0.1:${adminPort}/readyz`);
    const ask = async ({ name, cluster }: { name: string; cluster: bigint }): Promise<number> => {
      const url = `${server.address}/api/v1/authz/objects/cluster/${cluster}/allowed-permissions?org=${name}`;
      const began = performance.now();
      const answer = await fetch(url, { headers: { authorization: `token ${text}` } });
      const body = await answer.text();
      if (!body.includes('"can_view"')) throw new Error(`${answer.status} ${body}`);
      return performance.now() - began;
    };
    // A process that has never fetched anything needs some milliseconds for it, which are not the server's.
    for (let time = 0; time < 50; time++) await (await fetch(`${server.address}/api/v1/version`)).text();
    const [veryFirst, ...others] = places;
    if (veryFirst) measured.first.push(await ask(veryFirst));
    for (const place of others) measured.cold.push(await ask(place));
    for (const place of places) measured.again.push(await ask(place));
    await server.stop();
  }
  return measured;
}

/** Load balancers send the first request when this is true. The answer itself waits for up to two seconds. */
async function untilReady(url: string): Promise<void> {
  for (let tries = 0; tries < 60; tries++) if ((await fetch(url, { headers: { Connection: 'close' } })).ok) return;
  throw new Error('the server did not become ready');
}

export function rowsOfCold({ tuples, first, cold, again }: Cold): string[][] {
  const what = `first answer for an organization of ${tuples} tuples, of a million`;
  return [
    [what, `${median(cold).toFixed(1)} ms`, spread(cold, 1), '< 25 ms'],
    [
      '… when it is also the first question to the process',
      `${median(first).toFixed(1)} ms`,
      spread(first, 1),
      '< 80 ms',
    ],
    ['… and the second answer', `${median(again).toFixed(1)} ms`, spread(again, 1), ''],
  ];
}
