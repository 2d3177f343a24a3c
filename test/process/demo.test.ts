import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { DEMO_SETTINGS, openDemo } from '../../src/operations/demo/demo.ts';
import { itLong } from '../support/checks/long.ts';
import { lockTable } from '../support/faults/table-lock.ts';
import { migrated, newPlace, temporaryFolder } from '../support/server/db.ts';
import { get, type ServerProcess, startServer } from '../support/server/process.ts';
import { reopen } from '../support/server/reopen.ts';
import { TEST_KEY } from '../support/server/server.ts';
import { onServer } from '../support/services/postgres.ts';
import { lacks } from '../support/services/requirements.ts';

interface Demo {
  readonly baseUrl: string;
  readonly users: Record<string, { id: number; token?: string; password?: string; email?: string }>;
  readonly orgs: Record<string, { id: number; teams: Record<string, number>; roles: Record<string, number> }>;
  readonly clusters: Record<string, { id: number; uid: string; org?: string; owner?: string }>;
  readonly contracts: Record<string, number>;
  readonly robots: Record<string, number>;
  readonly tokens: Record<string, number>;
}

const PEOPLE = ['root', 'ann', 'bob', 'cat', 'dan', 'eve', 'mia', 'zed'];

describe('The demo world', { skip: lacks('postgresql') }, () => {
  let server: ServerProcess;
  let demo: Demo;
  let path = '';
  let address = '';
  let databaseUrl = '';
  const rows = async (text: string) => (await onServer<{ line: string }>(databaseUrl, text)).map((row) => row.line);
  const call = async (name: string, url = '/api/v1/user') => await get(`${address}${url}`, demo.users[name]?.token);

  before(async () => {
    databaseUrl = (await newPlace('postgres', migrated())).databaseUrl ?? '';
    // With PostgreSQL and ATRIUM_KEY, nothing else creates the folder.
    path = join(temporaryFolder(), 'new', 'demo.json');
    const env = { DATA_DIR: dirname(path), DATABASE_URL: databaseUrl, ATRIUM_KEY: TEST_KEY };
    server = startServer({ args: ['demo'], env });
    address = await server.listening();
    assert.ok(existsSync(path) && !existsSync(`${path}.unfinished`));
    demo = JSON.parse(readFileSync(path, 'utf8'));
  });
  after(() => server.kill('SIGKILL'));

  itLong('A demo killed while creating its world reports how to recover', async () => {
    const place = await newPlace('postgres', migrated());
    const unfinished = join(place.dataDir, 'demo.json.unfinished');
    // Followers are created late, when there are already users.
    const lock = await lockTable(place.databaseUrl ?? '', 'follow');
    const env = { DATA_DIR: place.dataDir, DATABASE_URL: place.databaseUrl ?? '' };
    const killed = startServer({ args: ['demo'], env });
    await lock.untilSomebodyWaits();
    killed.kill('SIGKILL');
    await killed.ended;
    await lock.release();
    assert.ok(existsSync(unfinished) && !existsSync(join(place.dataDir, 'demo.json')));
    const second = await reopen(place, DEMO_SETTINGS);
    await assert.rejects(
      openDemo(second, second.config, '', () => undefined),
      /an earlier start was interrupted .*; empty the database of .* and remove .*demo\.json\.unfinished and .*atrium\.key/,
    );
    await second.close(0);
  });

  it('The clusters of the demo report that they are active', async () => {
    const clusters = (await (await call('ann', '/api/v1/user/clusters?all=true')).json()) as {
      name: string;
      status: { response: { phase: string } };
    }[];
    assert.deepEqual(
      clusters.map(({ name, status }) => [name, status.response.phase]),
      [
        ['prod', 'Active'],
        ['staging', 'Active'],
        ['laptop', 'Active'],
      ],
    );
  });

  it('The audit log of the demo shows who created what, as if they had done it themselves', async () => {
    const { items } = (await (await call('ann', '/api/v1/orgs/acme/audit?limit=100')).json()) as {
      items: { action: string; actor: { name: string } }[];
    };
    const created = items.filter(({ action }) => action.endsWith('.create')).map(({ action }) => action);
    assert.deepEqual(
      new Set(items.filter(({ action }) => action !== 'cluster.phase').map(({ actor }) => actor.name)),
      new Set(['ann']),
    );
    for (const noun of ['organization', 'team', 'role', 'cluster', 'contract', 'robot', 'token']) {
      assert.ok(created.includes(`${noun}.create`), noun);
    }
  });

  it('The demo world is written to a file that only its owner can read, and printed as a table', () => {
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(demo.baseUrl, address);
    for (const name of PEOPLE) {
      const { token = '-', password = '-' } = demo.users[name] ?? {};
      assert.ok(server.stdout().includes(`${password.padEnd(20)}${token}`), name);
    }
    assert.doesNotMatch(server.stderr(), /atr_[0-9A-Za-z]{33}/);
  });

  it('Demo tokens identify their users, and inactive or prohibited users are rejected with 403', async () => {
    for (const name of ['root', 'ann', 'bob', 'cat', 'dan', 'eve']) {
      const answer = await call(name);
      assert.equal(answer.status, 200, name);
      const user = (await answer.json()) as Record<string, unknown>;
      assert.equal(user.id, demo.users[name]?.id);
      assert.equal(user.login, name);
      assert.equal(user.is_admin, name === 'root');
      assert.equal(user.orgAdmin, name === 'ann' || name === 'eve');
    }
    assert.match(await (await call('mia')).text(), /not activated/);
    assert.match(await (await call('zed')).text(), /prohibited from signing in/);
    assert.equal((await call('mia')).status, 403);
    assert.equal((await call('zed')).status, 403);
  });

  it('A demo user can sign in with the listed password', async () => {
    const body = JSON.stringify({ username: 'ann', password: demo.users.ann?.password });
    const headers = { 'Content-Type': 'application/json', Connection: 'close' };
    const answer = await fetch(`${address}/api/v1/user/signin`, { method: 'POST', headers, body });
    assert.equal(answer.status, 200);
    assert.equal(demo.users.ann?.email, 'ann@example.com');
  });

  it('The demo world has the expected organizations, teams and members', async () => {
    const members = await rows(
      `select o.name || '/' || t.name || '(' || t.permission || '): ' || coalesce(string_agg(a.name, ',' order by a.name), '') as line
         from team t join account o on o.id = t.organization_id left join team_member m on m.team_id = t.id
         left join account a on a.id = m.account_id group by o.name, t.id order by t.id`,
    );
    assert.deepEqual(members.sort(), [
      'acme/Editors(write): bob',
      'acme/Owners(owner): ann',
      'acme/Viewers(read): cat',
      'acme/operators(none): dan',
      'globex/Editors(write): ',
      'globex/Owners(owner): eve',
      'globex/Viewers(read): ',
      'globex/traders(read): ',
    ]);
    assert.deepEqual(Object.keys(demo.orgs), ['acme', 'globex']);
    assert.deepEqual(Object.keys(demo.orgs.acme?.teams ?? {}), ['Owners', 'Editors', 'Viewers', 'operators']);
  });

  it('The demo world has the expected clusters, contracts, robot account and token', async () => {
    assert.deepEqual(
      await rows(
        'select c.name || $$ of $$ || a.name as line from cluster c join account a on a.id = c.owner_id order by c.id',
      ),
      ['prod of acme', 'staging of acme', 'laptop of ann', 'globex of globex'],
    );
    assert.equal(demo.clusters.prod?.org, 'acme');
    assert.equal(demo.clusters.laptop?.owner, 'ann');
    for (const { id, uid } of Object.values(demo.clusters)) {
      assert.deepEqual(await rows(`select uid::text as line from cluster where id = ${id}`), [uid]);
    }
    assert.deepEqual(
      await rows('select a.name as line from contract c join account a on a.id = c.owner_id order by c.id'),
      ['acme', 'globex'],
    );
    assert.deepEqual(Object.keys(demo.contracts), ['acme', 'globex']);
    assert.deepEqual(
      await rows(
        `select k.id || ' ' || r.name || ' of ' || a.name as line from token k join robot r on r.id = k.robot_id
           join account a on a.id = r.owner_id`,
      ),
      [`${demo.tokens.acme} ci of acme`],
    );
    assert.equal(typeof demo.robots.ci, 'number');
  });

  it('The demo world has the expected followers and email addresses', async () => {
    const follows = await rows(
      `select a.name || ' follows ' || b.name as line from follow f join account a on a.id = f.follower_id
         join account b on b.id = f.followed_id order by a.name`,
    );
    const fans = Array.from({ length: 45 }, (_, index) => `fan${String(index + 1).padStart(2, '0')}`);
    assert.deepEqual(follows, ['ann follows bob', 'bob follows ann', ...fans.map((fan) => `${fan} follows root`)]);
    for (const fan of fans) assert.deepEqual(Object.keys(demo.users[fan] ?? {}), ['id']);
    assert.deepEqual(
      await rows(
        `select address || ' ' || verified as line from email where account_id = ${demo.users.ann?.id} order by id`,
      ),
      ['ann@example.com true', 'ann.archer@example.org false'],
    );
  });

  it('A second start keeps the demo world and updates only its base URL', async () => {
    const written = readFileSync(path, 'utf8');
    server.kill('SIGTERM');
    assert.equal((await server.ended).code, 0);
    const accounts = await rows('select count(*)::text as line from account');
    const atrium = await reopen({ dataDir: dirname(path), databaseUrl }, { ...DEMO_SETTINGS, ATRIUM_KEY: TEST_KEY });
    address = await atrium.listen();
    const said: string[] = [];
    await openDemo(atrium, atrium.config, address, (line) => void said.push(line));
    assert.match(said.join('\n'), /^the example data already exists; its tokens are in .*demo\.json$/);
    assert.equal(readFileSync(path, 'utf8'), written.replace(demo.baseUrl, address));
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(await rows('select count(*)::text as line from account'), accounts);
    assert.equal((await call('ann')).status, 200);
    await atrium.close(0);
  });
});
