import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readJson } from '../../src/base/json.ts';
import type { DemoWorld } from '../../src/operations/demo/world.ts';
import { IS_LONG } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { DRIVERS, newPlace } from '../support/server/db.ts';
import { previousRelease, type Release } from '../support/server/previous-release.ts';
import { startServer } from '../support/server/process.ts';
import { TEST_KEY } from '../support/server/server.ts';

const release = IS_LONG ? previousRelease() : 'only in the long suite';
if (typeof release === 'string' && IS_LONG) progress(`NOT TESTED: answers after an upgrade: ${release}`);
const CALLERS = ['ann', 'bob', 'cat', 'dan', 'eve', 'root'];
/** An assignment ends within ten years. */
const LATER = new Date(Date.now() + 30 * 86_400_000).toISOString();
/** Members that tell the time, or how long ago something was. */
const TIMES = new Set(['heartbeatAt', 'age', 'at', 'last_login']);
/** The permissions that this release adds, wherever they are listed. */
const ADDED =
  /^"can_(?:assign_roles|administer|review)"$|"relation":"can_(?:assign_roles|administer|review)"|"action":"(?:assign roles|administer clusters|review requests)"/;

interface Running {
  ask(
    who: string,
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; text: string; total: string }>;
  stop(): Promise<void>;
}

describe('An upgrade of a database', { skip: typeof release === 'string' && release }, () => {
  for (const driver of DRIVERS) {
    it(`Roles, teams and their ends are answered as by the release before, on ${driver}`, async () => {
      const place = await newPlace(driver);
      const old = await start((release as Release).main, ['demo']);
      const world = readJson(readFileSync(join(place.dataDir, 'demo.json'))) as DemoWorld;
      await fill(old);
      const questions = await questionsOf(old);
      const before = await answersOf(old, questions);
      await old.stop();
      const upgraded = await start('src/main.ts');
      const after = await answersOf(upgraded, questions);
      const assignments = await upgraded.ask('ann', 'GET', '/authz/assignments?org=acme&limit=100');
      await upgraded.stop();
      assert.ok(before.size > 200, `${before.size} answers`);
      assert.ok([...before.values()].filter(({ status }) => status === 200).length > before.size / 3);
      const changed = [...before].flatMap(([question, answer]) => {
        const differs = difference(answer, after.get(question), '');
        return differs === undefined ? [] : [`${question}: ${differs}`];
      });
      assert.deepEqual(changed.slice(0, 20), []);
      // What was a team of a role is an assignment to it now, once.
      const rows: { role: { name: string }; to: { type: string; name: string }; on: { type: string } }[] = JSON.parse(
        assignments.text,
      );
      const shown = rows.map(({ role, to, on }) => `${role.name} ${to.type} ${to.name} ${on.type}`).sort();
      assert.deepEqual(shown, [
        'cluster-operator team operators organization',
        'deputies team crew organization',
        'deputies team operators organization',
        'readers team crew organization',
      ]);
      progress(`${before.size} answers on ${driver} are those of ${(release as Release).name}`);

      async function start(main: string, args: readonly string[] = []): Promise<Running> {
        const settings = { DATA_DIR: place.dataDir, RATE_LIMIT: '0', LOG_LEVEL: 'error', RUN_MODE: 'dev' };
        const env = { ...settings, DATABASE_URL: place.databaseUrl ?? '', ATRIUM_KEY: TEST_KEY, ADMIN_PORT: '0' };
        const server = startServer({ env, main, args });
        const url = await server.listening();
        return {
          async ask(who, method, path, body) {
            const answer = await fetch(`${url}/api/v1${path}`, {
              method,
              headers: { Authorization: `token ${world.users[who]?.token}`, 'Content-Type': 'application/json' },
              ...(body && { body: JSON.stringify(body) }),
            });
            const text = (await answer.text()).replaceAll(url, '');
            return { status: answer.status, text, total: answer.headers.get('x-total-count') ?? '' };
          },
          async stop() {
            server.kill('SIGTERM');
            assert.equal((await server.ended).code, 0, server.stderr());
          },
        };
      }
    });
  }
});

/** Teams, roles and memberships as the release before writes them, some until a time. */
async function fill({ ask }: Running): Promise<void> {
  const made = async (method: string, path: string, body?: object) => {
    const { status, text } = await ask('ann', method, path, body);
    assert.ok(status >= 200 && status < 300, `${method} ${path}: ${status} ${text}`);
    return method === 'POST' ? (JSON.parse(text) as { id: number }).id : 0;
  };
  const crew = await made('POST', '/orgs/acme/teams', { name: 'crew', permission: 'none' });
  const teams: { id: number; name: string }[] = JSON.parse((await ask('ann', 'GET', '/orgs/acme/teams')).text);
  const operators = teams.find(({ name }) => name === 'operators')?.id ?? 0;
  const permissions = (...actions: string[]) => actions.map((action) => ({ namespace: 'cluster_mgmt', action }));
  const readers = { name: 'readers', permissions: permissions('view clusters'), teamIDs: [crew] };
  await made('POST', '/authz/roles?org=acme', readers);
  const many = permissions('reconfigure clusters', 'remove clusters', 'import clusters');
  const org = ['view teams', 'manage team members', 'edit roles'].map((action) => ({ namespace: 'org_mgmt', action }));
  const deputies = await made('POST', '/authz/roles?org=acme', { name: 'deputies', permissions: [...many, ...org] });
  await made('PUT', `/teams/${crew}/roles/${deputies}`, {});
  await made('PUT', `/teams/${operators}/roles/${deputies}`, { expires_at: LATER });
  await made('PUT', `/teams/${crew}/members/eve`, { expires_at: LATER });
  await made('PUT', `/teams/${crew}/members/cat`);
  await made('POST', '/orgs/acme/clusters', { name: 'grouped', uid: crypto.randomUUID(), clusterSetName: 'eu' });
}

/** Everything that the answers of the release before name. */
async function questionsOf({ ask }: Running): Promise<(readonly [method: string, path: string, body?: object])[]> {
  const ids = async (path: string): Promise<number[]> =>
    JSON.parse((await ask('root', 'GET', path)).text).map(({ id }: { id: number }) => id);
  const lists = { cluster: 'clusters', contract: 'contracts', robot_ac: 'robots', team: 'teams' };
  const questions: (readonly [string, string, object?])[] = [];
  for (const org of ['acme', 'globex']) {
    for (const list of ['', '/members', '/teams', '/clusters', '/contracts', '/robots', '/overview', '/teams/search']) {
      questions.push(['GET', `/orgs/${org}${list}`]);
    }
    for (const path of ['roles', 'roles/available_permissions', 'roles/export', 'guardrails']) {
      questions.push(['GET', `/authz/${path}?org=${org}`]);
    }
    for (const id of await ids(`/authz/roles?org=${org}`)) {
      questions.push(['GET', `/authz/roles/${id}?org=${org}`], ['GET', `/authz/roles/${id}/principals?org=${org}`]);
    }
    for (const id of await ids(`/orgs/${org}/teams`)) {
      for (const part of ['', '/members', '/roles']) questions.push(['GET', `/teams/${id}${part}`]);
    }
    for (const [type, list] of Object.entries(lists)) {
      for (const id of await ids(`/orgs/${org}/${list}`)) {
        const object = `/authz/objects/${type}/${id}`;
        questions.push(['GET', `${object}/allowed-permissions?org=${org}`], ['GET', `/${list}/${id}`]);
        for (const who of ['dan', 'cat', 'eve']) {
          questions.push(['GET', `${object}/explain?org=${org}&relation=can_edit&user=${who}`]);
        }
      }
      questions.push(['GET', `/authz/objects/${type}?org=${org}&relation=can_edit`]);
    }
    for (const who of ['bob', 'dan']) questions.push(['GET', `/authz/users/${who}/access?org=${org}`]);
    questions.push(['POST', `/authz/matrix?org=${org}`, { type: 'cluster' }]);
  }
  for (const path of ['/user', '/user/teams', '/user/orgs', '/user/clusters?all=true', '/search?q=o&org=acme']) {
    questions.push(['GET', path]);
  }
  return questions;
}

async function answersOf({ ask }: Running, questions: Awaited<ReturnType<typeof questionsOf>>) {
  const answers = new Map<string, { readonly status: number; readonly body: unknown; readonly total: string }>();
  for (const who of CALLERS) {
    for (const [method, path, body] of questions) {
      const { status, text, total } = await ask(who, method, path, body);
      const isJson = /^[[{]/.test(text);
      answers.set(`${who} ${method} ${path}`, { status, body: isJson ? JSON.parse(text) : text, total });
    }
  }
  return answers;
}

/** Where a later answer lacks or changes what an earlier one said. It may say more. */
function difference(earlier: unknown, later: unknown, at: string): string | undefined {
  if (Array.isArray(earlier) && Array.isArray(later)) {
    const known = later.filter((one) => !ADDED.test(JSON.stringify(one)));
    if (known.length !== earlier.length) return `${at} has ${known.length} entries instead of ${earlier.length}`;
    return earlier
      .map((one, index) => difference(one, known[index], `${at}[${index}]`))
      .find((one) => one !== undefined);
  }
  if (typeof earlier === 'object' && earlier !== null && typeof later === 'object' && later !== null) {
    const now = later as Readonly<Record<string, unknown>>;
    return Object.entries(earlier)
      .filter(([name]) => !TIMES.has(name))
      .map(([name, value]) => difference(value, now[name], `${at}.${name}`))
      .find((one) => one !== undefined);
  }
  return earlier === later ? undefined : `${at} was ${JSON.stringify(earlier)} and is ${JSON.stringify(later)}`;
}
