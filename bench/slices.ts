import { spawn } from 'node:child_process';
import { CATALOG } from '../src/roles/catalog.ts';
import { DRIVERS } from '../test/support/db.ts';
import { openTestServer, type TestServer } from '../test/support/server.ts';
import { fillOrganization } from './slices/fill.ts';

/**
 * How long one request keeps all others waiting: the processor time of the server's thread between two turns of its
 * event loop, at most. Everything is at its default limit. The client is a process of its own.
 */
const MEMBERS = Number(process.env.BENCH_MEMBERS ?? 50_000);
const HEAD = 'apiVersion: atrium/v1\nkind: Roles\norganization: acme\nroles:\n';
const CLIENT = `const chunks = [];
process.stdin.on('data', (chunk) => chunks.push(chunk)).on('end', async () => {
  const body = Buffer.concat(chunks);
  const [url, method, headers] = JSON.parse(process.argv[1]);
  const answer = await fetch(url, { method, headers, ...(body.length > 0 && { body }) });
  process.stdout.write(answer.status + ' ' + (await answer.arrayBuffer()).byteLength);
});`;

for (const driver of DRIVERS) {
  const atrium = await openTestServer({ driver, env: { RATE_LIMIT: '0' } });
  await fillOrganization(atrium.instance.db, atrium.world.orgs.acme?.id ?? 0n, MEMBERS);
  await fillCredentials(atrium);
  await measureAll(atrium, driver);
  await atrium.close();
}
process.exit();

async function fillCredentials(atrium: TestServer): Promise<void> {
  const spec = {
    type: 'Rancher',
    rancher: { endpoint: 'https://x' },
    list: Array(20_000).fill(1),
    pad: 'x'.repeat(40_000),
  };
  for (let number = 0; number < 98; number++) {
    await atrium.as('ann')('POST', '/user/credentials', { name: `c${number}`, ...spec });
  }
}

async function measureAll(atrium: TestServer, driver: string): Promise<void> {
  const json = 'application/json';
  const yaml = 'application/yaml';
  const viewers = Number(atrium.world.orgs.acme?.teams.Viewers);
  const permissions = CATALOG.map(({ namespace, action }) => ({ namespace, action }));
  const preview = JSON.stringify({ name: 'new', permissions, teamIDs: [viewers] });
  const measure = async (what: string, method: string, path: string, body = '', type = json) => {
    for (let round = 0; round < 2; round++) {
      const stop = watch();
      const answer = await request(atrium, method, path, body, type);
      const { longest, all } = stop();
      process.stdout.write(`${driver.padEnd(9)} ${what.padEnd(32)} ${longest} ms of ${all} ms  (${answer})\n`);
    }
  };
  await measure('nothing', 'GET', '/user');
  await measure('roles', 'GET', '/authz/roles?org=acme');
  await measure('role preview', 'POST', '/authz/roles/preview?org=acme', preview);
  await measure('export, YAML', 'GET', '/authz/roles/export?org=acme');
  await measure('export, JSON', 'GET', '/authz/roles/export?org=acme&format=json');
  await measure('dry run, 500 roles', 'PUT', '/authz/roles/import?org=acme&dry_run=true', file(500, 30), yaml);
  await measure('import, 500 roles', 'PUT', '/authz/roles/import?org=acme', file(500, 30), yaml);
  await measure('import, 6,500 roles', 'PUT', '/authz/roles/import?org=acme', file(6500, 0).slice(0, 1_040_000), yaml);
  await measure('import, long list', 'PUT', '/authz/roles/import?org=acme', `${HEAD}${'  - a\n'.repeat(60_000)}`, yaml);
  await measure('credentials', 'GET', '/user/credentials');
  await measure('credentials of a platform', 'GET', '/user/credentials?mgmt_endpoint=https://x');
}

function file(roles: number, teams: number): string {
  const namespaces = Map.groupBy(teams > 0 ? CATALOG : CATALOG.slice(0, 2), ({ namespace }) => namespace);
  const permissions = [...namespaces]
    .map(([namespace, found]) => `      ${namespace}: [${found.map(({ action }) => action).join(', ')}]\n`)
    .join('');
  const list = Array(teams).fill('Viewers').join(', ');
  const one = (number: number) =>
    `  - name: role number ${number + 1}\n    description: changed\n    permissions:\n${permissions}    teams: [${list}]\n`;
  return HEAD + Array.from({ length: roles }, (_, number) => one(number)).join('');
}

function watch() {
  const used = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const begin = used();
  let [last, longest, isOn] = [begin, 0, true];
  const tick = () => {
    const now = used();
    longest = Math.max(longest, now - last);
    last = now;
    if (isOn) setImmediate(tick);
  };
  setImmediate(tick);
  return () => {
    isOn = false;
    return { longest: Math.round(longest), all: Math.round(used() - begin) };
  };
}

function request(atrium: TestServer, method: string, path: string, body: string, type: string): Promise<string> {
  const headers = {
    Authorization: `token ${atrium.world.users.ann?.token}`,
    ...(body !== '' && { 'Content-Type': type }),
  };
  const child = spawn(
    process.execPath,
    ['-e', CLIENT, JSON.stringify([`${atrium.url}/api/v1${path}`, method, headers])],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  child.stdin.end(body);
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  return new Promise((resolve) => child.on('close', () => resolve(said)));
}
