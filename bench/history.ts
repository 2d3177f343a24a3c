import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DemoWorld } from '../src/operations/demo/world.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { median, spread } from './support/figures.ts';
import { startServer } from './support/server.ts';

const ROLES = 1000;
const CHANGED_ROLES = 600;
const JOINED_AND_LEFT = 200;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const TARGET_MS = 300;

const CHANGES = CHANGED_ROLES + 2 * JOINED_AND_LEFT;
const rows: string[][] = [];

/** Questions about a moment a thousand changes ago, in an organization of ten thousand tuples, on both databases. */
const postgres = await startPostgres();
try {
  await measure('PGlite', {});
  await measure('PostgreSQL', { DATABASE_URL: await postgres.createDatabase() });
} finally {
  await postgres.stop();
}
process.stdout.write(
  `\n${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}; ${ROUNDS} rounds, medians, nothing cached.\n\n`,
);
process.stdout.write('| what | measured | spread | target |\n|---|---|---|---|\n');
for (const row of rows) process.stdout.write(`| ${row.join(' | ')} |\n`);

async function measure(name: string, settings: Record<string, string>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  const server = await startServer(['src/main.ts', 'demo'], {
    DATA_DIR: folder,
    ADMIN_PORT: '0',
    RATE_LIMIT: '0',
    RUN_MODE: 'prod',
    LIMIT_ROLES_PER_ORGANIZATION: String(2 * ROLES),
    ...settings,
  });
  try {
    const world = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as DemoWorld;
    const call = async (method: string, path: string, body?: string) => {
      const start = performance.now();
      const answer = await fetch(`${server.address}/api/v1${path}`, {
        method,
        headers: {
          Authorization: `token ${world.users.ann?.token}`,
          ...(body !== undefined && { 'Content-Type': 'application/yaml' }),
        },
        ...(body !== undefined && { body }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
      return { took: performance.now() - start, changes: answer.headers.get('x-changed-since') };
    };
    await call('PUT', '/authz/roles/import?org=acme', document(ROLES, 'first'));
    const at = new Date(Date.now() + 1).toISOString();
    await new Promise((resolve) => setTimeout(resolve, 10));
    await call('PUT', '/authz/roles/import?org=acme', document(CHANGED_ROLES, 'second'));
    for (let count = 0; count < JOINED_AND_LEFT; count++) {
      await call('PUT', `/teams/${world.orgs.acme?.teams.Editors}/members/cat`);
      await call('DELETE', `/teams/${world.orgs.acme?.teams.Editors}/members/cat`);
    }
    const object = `/authz/objects/cluster/${world.clusters.prod?.id}`;
    const questions = [
      ['explain', `${object}/explain?org=acme&relation=can_edit&user=cat&at=${at}`],
      ['principals', `${object}/principals?org=acme&relation=can_edit&at=${at}`],
      ['roles', `/authz/roles?org=acme&at=${at}`],
      ['roles, now', '/authz/roles?org=acme'],
      ['explain, now', `${object}/explain?org=acme&relation=can_edit&user=cat`],
    ] as const;
    for (const [what, path] of questions) {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const { took, changes } = await call('GET', path);
        if (changes !== null && Number(changes) !== CHANGES) throw new Error(`${changes} changes, not ${CHANGES}`);
        times.push(took);
      }
      const isPast = path.includes('&at=');
      const title = isPast ? `${what}, ${CHANGES} changes ago` : what;
      rows.push([
        `${name}: ${title}`,
        `${median(times).toFixed(0)} ms`,
        spread(times),
        isPast ? `< ${TARGET_MS} ms` : '',
      ]);
    }
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function document(count: number, description: string): string {
  const roles = Array.from(
    { length: count },
    (_, place) => `  - name: role ${place}
    description: ${description}
    permissions: {cluster_mgmt: [view clusters, ${place % 2 === 0 ? 'connect to clusters' : 'import clusters'}], org_mgmt: [view members, view teams, view roles, ${description === 'first' ? 'view audit log' : 'edit roles'}]}
    teams: [Editors, operators]
`,
  );
  return `apiVersion: atrium/v1\nkind: Roles\norganization: acme\nroles:\n${roles.join('')}`;
}
