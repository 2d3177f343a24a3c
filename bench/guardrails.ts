import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { sql } from '../src/db/db.ts';
import { DRIVERS } from '../test/support/server/db.ts';
import { openTestServer, type TestServer } from '../test/support/server/server.ts';
import { median } from './support/figures.ts';

const CLUSTERS = Number(process.env.BENCH_CLUSTERS ?? 9_000);
const GUARDRAILS = 50;
const WRITES = Number(process.env.BENCH_WRITES ?? 150);
const PEOPLE = 200;
const ASSERTIONS = 1_000;
const FILL = sql(
  'bench.clusters',
  `insert into cluster (owner_id, name, uid) select $1, 'c' || n, gen_random_uuid()::text from generate_series(1, $2) n`,
);
const ms = (value: number) => `${value.toFixed(2)} ms`;

/** What 50 guardrails cost a write, in an organization of about 10,000 tuples, and a thousand assertions of a policy. */
const rows: string[][] = [];
for (const driver of DRIVERS) await measure(driver);
process.stdout.write(`\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}; medians.\n\n`);
process.stdout.write('| what | measured | target |\n|---|---|---|\n');
for (const row of rows) process.stdout.write(`| ${row.join(' | ')} |\n`);
// The database of the tests would stay open.
process.exit();

async function measure(driver: (typeof DRIVERS)[number]): Promise<void> {
  const atrium = await openTestServer({ driver, env: { RATE_LIMIT: '0' } });
  try {
    const { id: acme = 0n, teams = {} } = atrium.world.orgs.acme ?? {};
    await atrium.instance.db.query(FILL, [acme, CLUSTERS]);
    for (let place = 0; place < PEOPLE; place++) await addPerson(atrium, place, Number(teams.Viewers));
    const { body: role } = await call(atrium, 'POST', '/authz/roles', { name: 'bench', permissions: [] });
    const without = await writes(atrium, role.id, Number(teams.operators));
    for (let place = 0; place < GUARDRAILS; place++) await call(atrium, 'POST', '/authz/guardrails', rule(place));
    const guarded = await writes(atrium, role.id, Number(teams.operators));
    rows.push([`a role write on ${driver}`, ms(without), '']);
    const ratio = (guarded / without).toFixed(2);
    rows.push([`the same with ${GUARDRAILS} guardrails on ${driver}`, `${ms(guarded)}, × ${ratio}`, '< × 2']);
    rows.push([`${ASSERTIONS} assertions by atrium test on ${driver}`, ms(await policy(atrium)), '< 2000 ms']);
  } finally {
    await atrium.close();
  }
}

async function call(atrium: TestServer, method: string, path: string, body?: object) {
  const answer = await atrium.as('ann')(method, `${path}?org=acme`, body);
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
  return answer;
}

async function addPerson({ instance, as }: TestServer, place: number, team: number): Promise<void> {
  const name = `p${place}`;
  await instance.features.users.create({ name, email: `${name}@example.com` });
  await as('ann')('PUT', `/teams/${team}/members/${name}`);
}

/** Users, teams, numbers, single objects and whole types. */
function rule(place: number): object {
  const name = `rule ${place}`;
  const relation = ['can_view', 'can_edit', 'can_remove', 'can_connect'][place % 4] ?? '';
  const object = { type: 'cluster', name: `c${1 + place}` };
  switch (place % 5) {
    case 0:
      return { name, never: { users: ['eve'], relation, object } };
    case 1:
      return { name, never: { team: 'Viewers', relation: 'can_remove', object: { type: 'cluster' } } };
    case 2:
      return { name, at_least: { count: 1, relation: 'can_edit_roles' } };
    case 3:
      return { name, at_most: { count: 1000, relation, object } };
    default:
      return { name, always: { users: ['ann'], team: 'Viewers', relation: 'can_view', object } };
  }
}

async function writes(atrium: TestServer, id: number, team: number): Promise<number> {
  const took: number[] = [];
  for (let place = 0; place < WRITES; place++) {
    const permissions = [{ namespace: 'cluster_mgmt', action: place % 2 === 0 ? 'view clusters' : 'import clusters' }];
    const from = performance.now();
    await call(atrium, 'PUT', `/authz/roles/${id}`, { permissions, teamIDs: [team] });
    took.push(performance.now() - from);
  }
  return median(took);
}

/** With the start of the program. */
async function policy(atrium: TestServer): Promise<number> {
  const lines = Array.from({ length: ASSERTIONS }, (_, place) => {
    return `- {user: p${place % PEOPLE}, ${place % 2 === 0 ? 'can: view' : 'cannot: edit'}, object: 'cluster:c${1 + place}'}`;
  });
  const file = join(atrium.dataDir, 'policy.yaml');
  writeFileSync(file, `${lines.join('\n')}\n`);
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: atrium.dataDir,
    ATRIUM_URL: atrium.url,
    ATRIUM_TOKEN: atrium.world.users.ann?.token ?? '',
    ATRIUM_ORG: 'acme',
  };
  const took: number[] = [];
  for (let round = 0; round < 5; round++) {
    const from = performance.now();
    await promisify(execFile)(process.execPath, [resolve('bin/atrium.mjs'), 'test', file, '--quiet'], { env });
    took.push(performance.now() - from);
  }
  return median(took);
}
