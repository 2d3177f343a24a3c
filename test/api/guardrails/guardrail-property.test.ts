import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { createGraph, listUsers, type Model, readModel, type Tuple } from '../../../packages/rebac/src/rebac.ts';
import { sql } from '../../../src/db/db.ts';
import type { Instance } from '../../../src/instance.ts';
import { COUNTS } from '../../counts.ts';
import { createRandom, SEED } from '../../support/checks/random.ts';
import { type Answer, openQuietly, openTestServer, TEST_KEY, type TestServer } from '../../support/server/server.ts';
import { lacks } from '../../support/services/requirements.ts';
import { createTeam, makeOrganization, makePerson } from '../../support/world/people.ts';

const PEOPLE = 6;
const AT_ONCE = 4;
const TUPLES = sql(
  'test.guardedTuples',
  `select object_type || ':' || object_id as object, relation, subject as "user" from tuple where store in ($1, 0)`,
);
const RELATIONS = ['can_view_roles', 'can_edit_roles', 'can_import_clusters', 'can_view_audit_log', 'can_delete'];
const PERMISSIONS = [
  { namespace: 'org_mgmt', action: 'view roles' },
  { namespace: 'org_mgmt', action: 'edit roles' },
  { namespace: 'org_mgmt', action: 'view audit log' },
  { namespace: 'cluster_mgmt', action: 'import clusters' },
  { namespace: 'cluster_mgmt', action: 'remove clusters' },
];

interface Shown {
  readonly id: number;
  readonly name: string;
  readonly enforce: boolean;
  readonly never?: About;
  readonly always?: About;
  readonly at_least?: About;
  readonly at_most?: About;
  readonly state: {
    readonly holds: boolean;
    readonly total: number;
    readonly violated_by: { user: { name: string } }[];
  };
}

interface About {
  readonly users?: readonly { readonly id: number }[];
  readonly team?: { readonly id: number };
  readonly count?: number;
  readonly relation: string;
  readonly object: { readonly type: string; readonly id?: number };
}

describe('Random guardrails and random changes on two servers', { skip: lacks('postgresql') }, () => {
  let atrium: TestServer;
  let second: Instance;
  let model: Model;
  let urls: readonly string[];
  before(async () => {
    atrium = await openTestServer({ driver: 'postgres' });
    second = await openQuietly(
      { DATABASE_URL: atrium.instance.config.DATABASE_URL ?? '', ATRIUM_KEY: TEST_KEY, DATA_DIR: atrium.dataDir },
      [],
    );
    urls = [atrium.url, await second.listen()];
    model = await readModel(readFileSync('src/authz/platform.fga', 'utf8'));
  });
  after(async () => {
    await second.close();
    await atrium.close();
  });

  it(`No change of ${COUNTS.guardedChanges} leaves an enforced guardrail violated, and every refusal is justified, with seed ${SEED}`, async () => {
    const random = createRandom();
    const org = await makeOrganization(atrium, 'root');
    const people: Awaited<ReturnType<typeof makePerson>>[] = [];
    for (let place = 0; place < PEOPLE; place++) people.push(await makePerson(atrium));
    const teams = [org.team('Owners'), org.team('Editors'), org.team('Viewers')];
    for (const name of ['red', 'blue']) {
      teams.push(Number(await createTeam(atrium.instance, { organizationId: org.id, name, permission: 'none' })));
    }
    const roles: number[] = [];
    const token = `token ${atrium.world.users.root?.token}`;
    const send = async (method: string, path: string, body?: unknown, server = random.below(2)): Promise<Answer> =>
      await atrium.call(method, `/api/v1${path}`, body, { Authorization: token }, urls[server]);
    const inOrg = (path: string) => `${path}?org=${org.name}`;
    const refused = { count: 0, passed: 0 };

    for (let done = 0; done < COUNTS.guardedChanges; done += AT_ONCE) {
      const changes = Array.from({ length: AT_ONCE }, () => randomChange());
      if (random.chance(0.5)) {
        const answers = await Promise.all(changes.map((change, server) => send(...change, server % 2)));
        for (const answer of answers) note(answer);
      } else {
        for (const change of changes) await justified(change, note(await send(...change)));
      }
      await assertTrue();
    }
    assert.ok(refused.count > 0 && refused.passed > 0, JSON.stringify(refused));

    function note(answer: Answer): Answer {
      const isGuarded = answer.body?.reason === 'guardrail_violated';
      // A team may lack its last owner, and a role may have been deleted meanwhile.
      const isKnown = isGuarded || answer.status < 300 || [404, 409, 422].includes(answer.status);
      assert.ok(isKnown, `${answer.status} ${answer.text}`);
      if (isGuarded) refused.count++;
      else if (answer.status < 300) refused.passed++;
      if (answer.status === 201 && answer.body.permissions) roles.push(answer.body.id);
      return answer;
    }

    /** Without the guardrail that it names, the change is made, and the guardrail is violated by those whom it named. */
    async function justified(change: readonly [string, string, unknown?], answer: Answer): Promise<void> {
      if (answer.body?.reason !== 'guardrail_violated') return;
      const { id, violated_by } = answer.body.guardrail;
      if (change[1].startsWith('/authz/guardrails')) {
        // The guardrail itself was refused: as one that is only watched, it is red.
        if (change[0] !== 'POST') return;
        const watched = await send('POST', change[1], { ...(change[2] as object), enforce: false });
        assert.deepEqual([watched.status, watched.body.state?.holds], [201, false], watched.text);
        return;
      }
      assert.equal((await send('PUT', inOrg(`/authz/guardrails/${id}`), { enforce: false })).status, 200);
      const again = await send(...change);
      if (again.body?.reason === 'guardrail_violated') {
        assert.notEqual(again.body.guardrail.id, id, 'another guardrail refuses it');
        return;
      }
      assert.ok(again.status < 300, again.text);
      const { body } = await send('GET', inOrg(`/authz/guardrails/${id}`));
      assert.equal(body.state.holds, false, `${answer.body.message}, but it holds after ${JSON.stringify(change)}`);
      const red = body.state.violated_by.map((one: Shown['state']['violated_by'][0]) => one.user.name);
      for (const { user } of violated_by) assert.ok(red.includes(user.name), user.name);
    }

    /** Every guardrail is shown as a plain evaluation sees it, by both servers, and those that are enforced hold. */
    async function assertTrue(): Promise<void> {
      const tuples = await atrium.instance.db.query<Tuple & Record<string, unknown>>(TUPLES, [org.id]);
      for (const server of [0, 1]) {
        const { body } = await send('GET', inOrg('/authz/guardrails'), undefined, server);
        for (const guardrail of body as Shown[]) {
          const found = violatorsOf(model, tuples, guardrail);
          const { state } = guardrail;
          assert.equal(state.holds, found === undefined, `${JSON.stringify(guardrail)} is ${JSON.stringify(found)}`);
          if (!guardrail.at_least) assert.equal(state.total, found?.length ?? 0, JSON.stringify(guardrail));
          // What is enforced held when it was created, and no change of this test is a fact.
          if (guardrail.enforce) assert.ok(state.holds, JSON.stringify(guardrail));
        }
      }
    }

    function randomChange(): readonly [string, string, unknown?] {
      const team = random.pick(teams);
      const { name } = random.pick(people);
      const body = () => ({ permissions: random.some(PERMISSIONS, 0.4), teamIDs: random.some(teams, 0.4) });
      switch (random.below(8)) {
        case 0:
        case 1:
        case 2:
          return ['PUT', `/teams/${team}/members/${name}`];
        case 3:
          return ['DELETE', `/teams/${team}/members/${name}`];
        case 4:
          return ['POST', inOrg('/authz/roles'), { name: `role ${random.below(1e9)}`, ...body() }];
        case 5:
          return roles.length === 0
            ? ['PUT', `/teams/${team}/members/${name}`]
            : ['PUT', inOrg(`/authz/roles/${random.pick(roles)}`), body()];
        case 6:
          return roles.length < 4
            ? ['PUT', `/teams/${team}/members/${name}`]
            : ['DELETE', inOrg(`/authz/roles/${roles.shift()}`)];
        default:
          return ['POST', inOrg('/authz/guardrails'), { name: `rule ${random.below(1e9)}`, ...randomStatement() }];
      }
    }

    function randomStatement(): object {
      const relation = random.pick(RELATIONS);
      const users = random.some(people, 0.3).map(({ name }) => name);
      const about = { relation, users: users.length > 0 ? users : [people[0]?.name] };
      const team = random.chance(0.4) ? { team: random.pick(teams) } : {};
      const kind = random.below(4);
      if (kind === 0) return { never: { ...about, ...team } };
      if (kind === 1) return { always: { ...about, ...team } };
      if (kind === 2) return { at_least: { relation, count: 1 + random.below(3) } };
      return { at_most: { relation, count: 1 + random.below(4) } };
    }
  });
});

/** The plainest evaluation: everybody who holds it, in a new graph. Undefined if the guardrail holds. */
function violatorsOf(model: Model, tuples: readonly Tuple[], guardrail: Shown): string[] | undefined {
  const about = guardrail.never ?? guardrail.always ?? guardrail.at_least ?? guardrail.at_most;
  assert.ok(about);
  const isCounted = guardrail.at_least !== undefined || guardrail.at_most !== undefined;
  const graph = createGraph(model, isCounted ? tuples.filter(({ object }) => object !== 'platform:atrium') : tuples);
  const object = `${about.object.type}:${about.object.id}`;
  const holders = new Set(listUsers(graph, { object, relation: about.relation, filter: 'user' }));
  if (guardrail.at_least) return holders.size < (about.count ?? 0) ? [] : undefined;
  if (guardrail.at_most) return holders.size > (about.count ?? 0) ? [...holders] : undefined;
  const members = tuples.filter((one) => one.object === `team:${about.team?.id}` && one.relation === 'member');
  const subjects = new Set([...(about.users ?? []).map(({ id }) => `user:${id}`), ...members.map(({ user }) => user)]);
  const found = [...subjects].filter((user) => holders.has(user) === (guardrail.never !== undefined));
  return found.length > 0 ? found : undefined;
}
