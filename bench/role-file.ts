import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../test/support/services/postgres.ts';
import { median } from './support/figures.ts';
import { startServer } from './support/server.ts';

const ROLES = Number(process.env.BENCH_ROLES ?? 1000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const HEAD = 'apiVersion: atrium/v1\nkind: Roles\norganization: acme\n';

const ms = (value: number) => `${value.toFixed(0)} ms`;

/** A thousand roles as one file, over HTTP, on both databases: imported, changed, imported again, exported, deleted. */
const postgres = await startPostgres();
const rows: string[][] = [];
try {
  await measure('PGlite', {});
  await measure('PostgreSQL', { DATABASE_URL: await postgres.createDatabase() });
} finally {
  await postgres.stop();
}
process.stdout.write(
  `\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}; ${ROLES} roles, medians.\n\n`,
);
process.stdout.write('| what | measured | slowest | × PostgreSQL | target |\n|---|---|---|---|---|\n');
for (const row of rows) process.stdout.write(`| ${row.join(' | ')} |\n`);

async function measure(name: string, settings: Record<string, string>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const server = await startServer(['src/main.ts', 'demo'], {
    DATA_DIR: folder,
    ADMIN_PORT: '0',
    RUN_MODE: 'prod',
    LIMIT_ROLES_PER_ORGANIZATION: String(2 * ROLES),
    ...settings,
  });
  try {
    const { token } = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')).users.ann;
    const call = async (method: string, path: string, body?: string) => {
      const start = performance.now();
      const answer = await fetch(`${server.address}/api/v1/authz/roles/${path}`, {
        method,
        headers: { Authorization: `token ${token}`, ...(body !== undefined && { 'Content-Type': 'application/yaml' }) },
        ...(body !== undefined && { body }),
      });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`);
      return { took: performance.now() - start, text };
    };
    const file = document('first');
    const steps: readonly (readonly [what: string, run: () => Promise<{ took: number; text: string }>])[] = [
      ['import of new roles', () => call('PUT', 'import?org=acme&prune=true', file)],
      ['import of the same', () => call('PUT', 'import?org=acme&prune=true', file)],
      ['dry run of a change to each', () => call('PUT', 'import?org=acme&dry_run=true', document('second'))],
      ['import of a change to each', () => call('PUT', 'import?org=acme', document('second'))],
      ['export as YAML', () => call('GET', 'export?org=acme')],
      ['export as JSON', () => call('GET', 'export?org=acme&format=json')],
      ['deleting all', () => call('PUT', 'import?org=acme&prune=true', `${HEAD}roles: []\n`)],
    ];
    const times = new Map(steps.map(([what]) => [what, [] as number[]]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const [what, run] of steps) times.get(what)?.push((await run()).took);
    }
    for (const [what, all] of times) {
      rows.push([`${name}: ${what}`, ms(median(all)), ms(Math.max(...all)), '', '< 2,000 ms']);
    }
    if (name === 'PostgreSQL') {
      for (const [place, [, own]] of [...times].entries()) {
        const other = rows[place];
        if (other) other[3] = (Number.parseFloat(other[1] ?? '') / median(own)).toFixed(1);
      }
    }
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function document(word: string): string {
  const roles = Array.from(
    { length: ROLES },
    (_, number) => `  - name: Role number ${number}
    description: The ${word} words about role ${number}, in a sentence.
    permissions:
      org_mgmt: [edit, view members${word === 'second' ? ', view teams' : ''}]
      cluster_mgmt: [view clusters, connect to clusters]
    teams: [Editors, Viewers, operators]
`,
  );
  return `${HEAD}roles:\n${roles.join('')}`;
}
