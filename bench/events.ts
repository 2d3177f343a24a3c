import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, type ClientRequest, request } from 'node:http';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../src/base/config/config.ts';
import { createLog } from '../src/base/log.ts';
import { openInstance } from '../src/instance.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { median, spread } from './support/figures.ts';
import { type BenchServer, startServer } from './support/server.ts';

const LISTENERS = Number(process.env.BENCH_LISTENERS ?? 1000);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 20);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const PER_USER = 20;
const SETTLE_MS = 10_000;
const KEY = Buffer.alloc(32, 'bench key').toString('base64');

const say = (line: string) => process.stderr.write(`${line}\n`);
const percent = (share: number) => `${(share * 100).toFixed(2)} %`;

const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
const postgres = await startPostgres();
try {
  const places = {
    PostgreSQL: { DATA_DIR: join(folder, 'postgres'), DATABASE_URL: await postgres.createDatabase() },
    PGlite: { DATA_DIR: join(folder, 'pglite'), DATABASE_URL: '' },
  };
  const rows: string[][] = [];
  for (const [name, place] of Object.entries(places)) rows.push(...(await measure(name, place)));
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}`;
  process.stdout.write(`\n${machine}; ${ROUNDS} rounds of ${SECONDS} s, ${LISTENERS} listeners, medians.\n\n`);
  process.stdout.write('| what | measured | spread | target |\n|---|---|---|---|\n');
  for (const row of rows) process.stdout.write(`| ${row.join(' | ')} |\n`);
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measure(name: string, place: Readonly<Record<string, string>>): Promise<string[][]> {
  const tokens = await people(place);
  const server = await startServer(['src/main.ts'], { ...place, ATRIUM_KEY: KEY, ADMIN_PORT: '0' });
  try {
    await pause(3000);
    const none: number[] = [];
    const idle: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      none.push(await shareOf(server));
      const open = await listen(server.address, tokens);
      // What opening a thousand connections leaves behind is collected by then.
      await pause(SETTLE_MS);
      idle.push(await shareOf(server));
      for (const one of open) one.destroy();
      await pause(2000);
      say(
        `${name}, round ${round + 1}: ${percent(none.at(-1) ?? 0)} without, ${percent(idle.at(-1) ?? 0)} with listeners`,
      );
    }
    const more = idle.map((share, round) => share - (none[round] ?? 0));
    return [
      [
        `${name}: a core, without listeners`,
        percent(median(none)),
        spread(
          none.map((one) => one * 100),
          2,
        ),
        '',
      ],
      [
        `${name}: a core, with ${LISTENERS} idle listeners`,
        percent(median(idle)),
        spread(
          idle.map((one) => one * 100),
          2,
        ),
        '',
      ],
      [
        `${name}: the difference`,
        percent(median(more)),
        spread(
          more.map((one) => one * 100),
          2,
        ),
        '< 1 %',
      ],
    ];
  } finally {
    await server.stop();
  }
}

/** A user for each 20 streams, all members of one organization. */
async function people(place: Readonly<Record<string, string>>): Promise<string[]> {
  const config = readConfig({ ...place, ATRIUM_KEY: KEY, PORT: '0', ADMIN_PORT: '0' });
  const instance = await openInstance(config, { log: createLog('fatal'), say: () => undefined });
  const { users, organizations, members } = instance.features;
  const tokens: string[] = [];
  let actor = { id: 0n, name: 'bench', requestId: 'bench' };
  let organization: Awaited<ReturnType<typeof organizations.create>> | undefined;
  for (let number = 0; number < Math.ceil(LISTENERS / PER_USER); number++) {
    const name = `listener${number}`;
    const accountId = await users.create({ name, email: `${name}@example.com` });
    if (number === 0) actor = { ...actor, id: accountId };
    organization ??= await organizations.create({ name: 'acme', founderId: accountId }, actor);
    const viewers = organization.teams.get('Viewers') ?? 0n;
    if (number > 0) await members.addToTeam(organization.id, viewers, name, actor);
    tokens.push((await instance.identity.tokens.issue({ accountId, name: 'bench', scopes: ['all'] })).text);
  }
  await instance.close();
  return tokens;
}

async function listen(address: string, tokens: readonly string[]): Promise<ClientRequest[]> {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  const open: ClientRequest[] = [];
  for (let number = 0; number < LISTENERS; number++) {
    const headers = { Authorization: `token ${tokens[Math.floor(number / PER_USER)]}` };
    open.push(
      await new Promise<ClientRequest>((resolve, reject) => {
        const one = request(`${address}/api/v1/events`, { agent, headers }, (response) => {
          if (response.statusCode !== 200) reject(new Error(`listener ${number} got ${response.statusCode}`));
          response.resume().on('error', () => undefined);
          resolve(one);
        });
        one.on('error', reject);
        one.end();
      }),
    );
  }
  return open;
}

/** Of one core, over a while. */
async function shareOf(server: BenchServer): Promise<number> {
  const [cpu, time] = [server.cpuMicroseconds(), performance.now()];
  await pause(SECONDS * 1000);
  return (server.cpuMicroseconds() - cpu) / 1000 / (performance.now() - time);
}
