import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { createRandom, SEED } from '../../support/checks/random.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

const HEAD = { apiVersion: 'atrium/v1', kind: 'Organization', organization: 'acme' };
const PEOPLE = ['ann', 'bob', 'cat', 'dan'];
const ACTIONS = ['view clusters', 'connect to clusters', 'reconfigure clusters', 'remove clusters'];

type Effects = Readonly<Record<string, readonly string[]>>;

describe('Random files of an organization', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  const random = createRandom();
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await atrium.as('ann')(method, `/orgs/acme/${path}`, body);
    assert.equal(answer.status, 200, `${method} ${path} with ${JSON.stringify(body)}, seed ${SEED}: ${answer.text}`);
    return answer;
  };

  /** What everybody holds on the organization, as the engine says it. */
  async function held(): Promise<Effects> {
    const entries = PEOPLE.map(async (name) => {
      const path = `/authz/users/${name}/access?org=acme&type=organization`;
      const { body } = await atrium.as('ann')('GET', path);
      return [name, relationsIn(body)] as const;
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  function randomFile(): object {
    const teams = random.some(['alpha', 'beta', 'gamma', 'delta'], 0.7).map((name) => ({
      ...{ name, permission: random.pick(['none', 'read', 'write']), members: random.some(PEOPLE, 0.5) },
      ...(random.chance(0.3) && { description: `of ${name}` }),
    }));
    const roles = random.some(['one', 'two', 'three'], 0.7).map((name) => {
      const actions = random.some(ACTIONS, 0.5);
      return {
        name,
        ...(actions.length > 0 && { permissions: { cluster_mgmt: actions } }),
        teams: random.some(
          teams.map((team) => team.name),
          0.4,
        ),
      };
    });
    const robots = random.some(['r1', 'r2', 'r3'], 0.6).map((name) => ({ name }));
    const usable = roles.filter(({ permissions }) => permissions);
    const assignments = usable.flatMap(({ name }) => [
      ...(random.chance(0.5) ? [{ role: name, to: { user: 'ann' }, on: { cluster: 'prod' } }] : []),
      ...robots.slice(0, 1).map((robot) => ({ role: name, to: { robot: robot.name } })),
    ]);
    const prune = random.chance(0.6);
    const part = (items: readonly unknown[]) => (prune ? { prune: true, items } : items);
    // With prune, Viewers would lose whoever is not named, and everybody must stay a member.
    const viewers = { name: 'Viewers', members: PEOPLE };
    return {
      ...HEAD,
      teams: part([viewers, ...teams]),
      roles: part(roles),
      robots: part(robots),
      assignments: part(assignments),
    };
  }

  it(`A plan equals what applying the file does, and the file then changes nothing, ${COUNTS.organizationFiles} times`, async () => {
    let changed = 0;
    for (let round = 0; round < COUNTS.organizationFiles; round++) {
      const file = randomFile();
      const before = await held();
      const { body: planned } = await call('POST', 'plan', file);
      assert.deepEqual(planned.refusals, [], JSON.stringify(file));
      const { body: applied } = await call('PUT', 'file', file);
      assert.deepEqual(applied.changes, planned.changes);
      changed += applied.changes.length;
      // Who gains and loses what on the organization is what the engine then says.
      assert.deepEqual(differenceOf(before, await held()), effectsIn(planned.impact), JSON.stringify(file));
      assert.deepEqual((await call('POST', 'plan', file)).body.changes, [], 'it is as in the file');
      const exported = (await call('GET', 'file?format=json')).body;
      assert.deepEqual((await call('PUT', 'file', exported)).body.changes, [], 'what is exported changes nothing');
      assert.deepEqual((await call('GET', 'file?format=json')).body, exported);
    }
    assert.ok(changed > COUNTS.organizationFiles, `${changed} changes`);
  });
});

function relationsIn(body: unknown): string[] {
  const text = JSON.stringify(body);
  return [...new Set([...text.matchAll(/"relation":"(can_\w+)"/g)].map(([, relation = '']) => relation))].sort();
}

function differenceOf(before: Effects, after: Effects): object {
  return Object.fromEntries(
    PEOPLE.flatMap((name) => {
      const [was, is] = [before[name] ?? [], after[name] ?? []];
      const gains = is.filter((one) => !was.includes(one));
      const loses = was.filter((one) => !is.includes(one));
      return gains.length + loses.length === 0 ? [] : [[name, { gains, loses }]];
    }),
  );
}

interface Shown {
  readonly user: { readonly name: string; readonly type?: string };
  readonly gains: readonly { readonly object: { readonly type: string }; readonly relation: string }[];
  readonly loses: Shown['gains'];
}

function effectsIn({ users }: { readonly users: readonly Shown[] }): object {
  const own = (list: Shown['gains']) =>
    list
      .filter(({ object }) => object.type === 'organization')
      .map(({ relation }) => relation)
      .sort();
  return Object.fromEntries(
    users.flatMap(({ user, gains, loses }) => {
      const [more, less] = [own(gains), own(loses)];
      return user.type || more.length + less.length === 0 ? [] : [[user.name, { gains: more, loses: less }]];
    }),
  );
}
