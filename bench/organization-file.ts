import { cpus } from 'node:os';
import { DRIVERS } from '../test/support/server/db.ts';
import { openTestServer } from '../test/support/server/server.ts';
import { statement } from '../test/support/server/statement.ts';
import { median } from './support/figures.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const PEOPLE = 500;
const CLUSTERS = 200;
const TARGETS: Readonly<Record<string, number>> = { plan: 2000, apply: 5000 };
const ACTIONS = ['view clusters', 'connect to clusters', 'reconfigure clusters', 'remove clusters'];
const JSON_TYPE = { 'Content-Type': 'application/json' };

/**
 * The file of an organization with 2,000 entries: 150 teams of ten, 150 roles, 1,550 assignments and 150 robots. It is
 * planned and applied over HTTP in an organization that has nothing of it, changed, and deleted again.
 */
const rows: string[][] = [];
for (const driver of DRIVERS) {
  const atrium = await openTestServer({
    driver,
    env: { RATE_LIMIT: '0', LOG_LEVEL: 'error', LIMIT_ROBOTS_PER_ORGANIZATION: '1000' },
  });
  const { db } = atrium.instance;
  const acme = atrium.world.orgs.acme?.id ?? 0n;
  await db.query(
    statement(`insert into account (kind, name) select 'user', 'person-' || n from generate_series(1, ${PEOPLE}) n`),
  );
  await db.query(
    statement(
      `insert into cluster (owner_id, name, uid)
       select $1::bigint, 'cluster-' || k, 'bench-' || k from generate_series(1, ${CLUSTERS}) k`,
    ),
    [acme],
  );
  if (driver === 'postgres') await db.query(statement('analyze'));
  await db.query(statement('update revision set value = value + 1, pruned = value + 1'));
  const ann = atrium.as('ann');
  const before = (await ann('GET', '/orgs/acme/file?format=json')).body;
  const times = new Map<string, number[]>();
  for (let round = 0; round < ROUNDS; round++) {
    const [first, second] = [fileOf(''), fileOf('changed')];
    await step('plan of a file that is all new', 'plan', first);
    await step('applying it', 'apply', first);
    await step('plan of the same', 'plan', first);
    await step('plan of a change to each', 'plan', second);
    await step('applying it to each', 'apply', second);
    await step('deleting everything', 'apply', { ...before, ...pruned(before) });
  }
  for (const [what, all] of times) {
    const target = TARGETS[what.startsWith('plan') ? 'plan' : 'apply'] ?? 0;
    const figures = [all[0] ?? 0, median(all), Math.max(...all)].map((value) => `${value.toFixed(0)} ms`);
    rows.push([`${driver}: ${what}`, ...figures, `< ${target.toLocaleString('en')} ms`]);
  }
  await atrium.close();

  async function step(what: string, kind: 'plan' | 'apply', file: object): Promise<void> {
    const [method, path] = kind === 'plan' ? (['POST', 'plan'] as const) : (['PUT', 'file'] as const);
    const start = performance.now();
    const answer = await ann(method, `/orgs/acme/${path}`, JSON.stringify(file), JSON_TYPE);
    times.set(what, [...(times.get(what) ?? []), performance.now() - start]);
    if (answer.status !== 200) throw new Error(`${what}: ${answer.status} ${answer.text.slice(0, 1000)}`);
    if (answer.body.refusals?.length > 0) throw new Error(`${what}: ${JSON.stringify(answer.body.refusals[0])}`);
  }
}
process.stdout.write(`\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}; 2,000 entries.\n\n`);
process.stdout.write('| what | first | median | slowest | target |\n|---|---|---|---|---|\n');
for (const row of rows) process.stdout.write(`| ${row.join(' | ')} |\n`);

function fileOf(word: string): object {
  const list = <T>(length: number, make: (place: number) => T) => Array.from({ length }, (_, place) => make(place));
  return {
    ...{ apiVersion: 'atrium/v1', kind: 'Organization', organization: 'acme' },
    teams: list(150, (k) => ({
      ...{ name: `team-${k}`, description: `team ${k} ${word}`, permission: 'none' },
      members: list(10, (n) => `person-${((k * 7 + n * 41) % PEOPLE) + 1}`),
    })),
    roles: list(150, (k) => ({
      ...{ name: `role-${k}`, description: `role ${k} ${word}` },
      permissions: { cluster_mgmt: ACTIONS.slice(0, 1 + (k % ACTIONS.length)) },
      teams: [`team-${k}`],
    })),
    robots: list(150, (k) => ({ name: `robot-${k}`, description: `robot ${k} ${word}` })),
    assignments: list(1550, (k) => ({
      role: `role-${k % 150}`,
      to: k % 5 === 0 ? { robot: `robot-${k % 150}` } : { user: `person-${(((k % 150) * 7) % PEOPLE) + 1}` },
      on: { cluster: `cluster-${((k + 7 * Math.floor(k / 150)) % CLUSTERS) + 1}` },
      reason: `reason ${k} ${word}`,
    })),
  };
}

function pruned(file: Readonly<Record<string, unknown>>): object {
  const sections = ['teams', 'roles', 'robots', 'assignments'];
  return Object.fromEntries(sections.map((name) => [name, { prune: true, items: file[name] ?? [] }]));
}
