import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { createGraphStore } from '../../../src/authz/graphs.store.ts';
import { structureOf } from '../../../src/changes/derived-tuples.ts';
import { sql } from '../../../src/db/db.ts';
import { readScene } from '../../../src/impact/scene.ts';
import { membershipsOf } from '../../../src/impact/team-state.ts';
import { allowed } from '../../../src/rebac/engine.ts';
import { createGraph, type Graph } from '../../../src/rebac/graph.ts';
import { type Model, readModel } from '../../../src/rebac/model.ts';
import { CATALOG } from '../../../src/roles/catalog.ts';
import { roleTuples } from '../../../src/roles/role-preview.ts';
import { COUNTS } from '../../counts.ts';
import { makeForReal, type Planned, randomChange, type Things } from '../../support/planned-changes.ts';
import { createRandom, SEED } from '../../support/random.ts';
import { openTestServer, type TestServer } from '../../support/server.ts';

const ROUNDS = COUNTS.previewedPlans;
const PEOPLE = ['ann', 'bob', 'cat', 'dan', 'eve', 'root'];
const NAMES = sql(
  'test.impactNames',
  `select 'team:' || id as object, name from team union all select 'role:' || id, name from role
   union all select 'organization:' || id, name from account where kind = 'organization'`,
);
/** The permission on the organization from which one on an ordinary object follows. */
const FOLLOWS: Readonly<Record<string, string>> = {
  'team can_view': 'can_view_teams',
  'team can_edit': 'can_edit_teams',
  'team can_delete': 'can_delete_teams',
  'team can_add_member': 'can_manage_team_members',
  'team can_remove_member': 'can_manage_team_members',
  'role can_view': 'can_view_roles',
  'role can_edit': 'can_edit_roles',
  'role can_delete': 'can_delete_roles',
  'cluster can_view': 'can_view_clusters',
  'cluster can_edit': 'can_edit_clusters',
  'cluster can_remove': 'can_remove_clusters',
  'cluster can_connect': 'can_connect_clusters',
  'cluster can_view_orchestratorconfig': 'can_view_cluster_config',
  'contract can_view': 'can_view_contracts',
  'contract can_edit': 'can_edit_contracts',
  'contract can_delete': 'can_delete_contracts',
  'robot_ac can_view': 'can_view_robots',
  'robot_ac can_edit': 'can_edit_robots',
  'robot_ac can_delete': 'can_delete_robots',
  'token can_view': 'can_view_tokens',
  'token can_delete': 'can_delete_tokens',
};

interface Moment {
  readonly objects: readonly string[];
  readonly names: ReadonlyMap<string, string>;
  /** `type name`, which is the same for an object before and after it gets its number. */
  nameOf(object: string): string;
  held(user: string, object: string): readonly string[];
  /** The same without the rights of site administrators. */
  heldAsMember(user: string, object: string): readonly string[];
}

describe('Agreement of previews with what happens', () => {
  let atrium: TestServer;
  let model: Model;
  let acme: bigint;
  before(async () => {
    atrium = await openTestServer();
    model = await readModel(readFileSync('src/authz/platform.fga', 'utf8'));
    acme = atrium.world.orgs.acme?.id ?? 0n;
  });
  after(() => atrium.close());

  it(`${ROUNDS} random plans have the impact that was previewed, and are rejected as was said, with seed ${SEED}`, async () => {
    const random = createRandom();
    const outcomes = { made: 0, rejected: 0, refused: 0, unattended: 0, effects: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const earlier = await look();
      const things = thingsIn(earlier);
      const length = 1 + random.below(4);
      const changes = Array.from({ length }, (_, place) => randomChange(random, things, `new ${round} ${place}`));
      const who = random.pick(['ann', 'ann', 'ann', 'root', 'bob']);
      const title = `round ${round}, ${who}: ${JSON.stringify(changes)}`;
      const preview = await atrium.as(who)('POST', '/authz/preview?org=acme', { changes });
      if (preview.status !== 200) {
        outcomes.rejected++;
        const place = Number(/^changes\[(\d+)\]/.exec(preview.body.message)?.[1] ?? 0);
        await makeAll(who, changes.slice(0, place));
        const isInside = (await look()).held(userOf(who), `organization:${acme}`).length > 0;
        const { status, reason } = await makeAll(who, changes.slice(place, place + 1));
        // The calls of somebody who is no longer a member are rejected for that alone, each in its own words.
        if (isInside)
          assert.deepEqual([status, reason], [preview.status, preview.body.reason], `${title} ${preview.text}`);
        else assert.ok(status >= 400, title);
        await rescue();
        continue;
      }
      const [refusal] = preview.body.refusals;
      if (refusal) {
        outcomes.refused++;
        const { place, reason } = await makeAll(who, changes);
        assert.deepEqual([place, reason], [refusal.change, refusal.reason], `${title} ${preview.text}`);
        await rescue();
        continue;
      }
      const { status, text } = await makeAll(who, changes);
      assert.ok(status < 300, `${title} ${text}`);
      outcomes.made++;
      const later = await look();
      const expected = expectedImpact(earlier, later, who);
      await rescue();
      if (!expected) continue;
      const { users, unattended } = shownImpact(preview.body);
      assert.deepEqual(users, expected.users, title);
      assert.deepEqual(unattended, expected.unattended, title);
      outcomes.unattended += unattended.length;
      outcomes.effects += Object.keys(users).length;
      await requireDerivation();
    }
    if (ROUNDS >= 1000) {
      for (const [what, count] of Object.entries(outcomes)) assert.ok(count > 10, `${what}: ${count} of ${ROUNDS}`);
    }
    assert.ok(outcomes.effects > 0);
  });

  const userOf = (name: string) => `user:${atrium.world.users[name]?.id}`;

  /** Makes ann an owner again, whatever happened. */
  async function rescue(): Promise<void> {
    const owners = atrium.world.orgs.acme?.teams.Owners;
    const { status } = await atrium.as('root')('PUT', `/teams/${owners}/members/ann`);
    assert.equal(status, 204);
  }

  async function makeAll(who: string, changes: readonly Planned[]) {
    let last = { place: -1, status: 0, reason: undefined as string | undefined, text: '' };
    for (const [place, change] of changes.entries()) {
      const { status, body, text } = await makeForReal(atrium, who, change);
      last = { place, status, reason: body?.reason, text };
      if (status >= 300) break;
    }
    return last;
  }

  async function look(): Promise<Moment> {
    const { tuples } = await createGraphStore(atrium.instance.db).load(acme);
    const all = [...tuples];
    const whole = createGraph(model, all);
    const plain = createGraph(
      model,
      all.filter(({ relation, object }) => !(relation === 'platform' && object.startsWith('organization:'))),
    );
    const rows = await atrium.instance.db.query<{ object: string; name: string }>(NAMES);
    const names = new Map(rows.map(({ object, name }) => [object, name]));
    const objects = [...new Set(all.map(({ object }) => object))].filter((object) => !object.startsWith('platform:'));
    const ask = (graph: Graph) => (user: string, object: string) => allowed(graph, user, object, { prefix: 'can_' });
    const nameOf = (object: string) => {
      const [type, id] = object.split(':');
      return `${type} ${names.get(object) ?? id}`;
    };
    return { objects, names, nameOf, held: ask(whole), heldAsMember: ask(plain) };
  }

  function thingsIn({ names }: Moment): Things {
    const of = (type: string) =>
      [...names].flatMap(([object, name]) => {
        const [found, id] = object.split(':');
        return found === type ? [{ id: Number(id), name }] : [];
      });
    const own = new Set([...Object.values(atrium.world.orgs.globex?.teams ?? {})].map(Number));
    return {
      users: PEOPLE.filter((name) => name !== 'root'),
      teams: of('team').filter(({ id }) => !own.has(id)),
      roles: of('role'),
      permissions: CATALOG.map(({ namespace, action }) => ({ namespace, action })),
    };
  }

  /** What the answer must be, from what everybody holds before and after. Undefined if the caller may not see members. */
  function expectedImpact(earlier: Moment, later: Moment, who: string) {
    const organization = `organization:${acme}`;
    const caller = userOf(who);
    if (!earlier.held(caller, organization).includes('can_view_members')) return undefined;
    const objects = [...new Set([...earlier.objects, ...later.objects])].filter((object) => object !== organization);
    const sees = (object: string) =>
      !earlier.objects.includes(object) || earlier.held(caller, object).includes('can_view');
    const follows = (object: string, relation: string, from: readonly string[]) =>
      from.includes(FOLLOWS[`${object.split(':')[0]} ${relation}`] ?? 'nothing');
    const users: Record<string, { gains: string[]; loses: string[] }> = {};
    for (const name of PEOPLE.filter((one) => one !== 'root')) {
      const user = userOf(name);
      const [had, has] = [earlier.held(user, organization), later.held(user, organization)];
      const [gained, lost] = [minus(has, had), minus(had, has)];
      const gains = gained.map((relation) => `organization acme ${relation}`);
      const loses = lost.map((relation) => `organization acme ${relation}`);
      for (const object of objects.filter(sees)) {
        const isNew = !earlier.objects.includes(object);
        const isGone = !later.objects.includes(object);
        const [before, after] = [earlier.held(user, object), later.held(user, object)];
        const nameOf = isNew ? later.nameOf : earlier.nameOf;
        for (const relation of minus(after, before)) {
          if (!follows(object, relation, isNew ? has : gained)) gains.push(`${nameOf(object)} ${relation}`);
        }
        for (const relation of minus(before, after)) {
          if (!follows(object, relation, isGone ? had : lost)) loses.push(`${nameOf(object)} ${relation}`);
        }
      }
      if (gains.length + loses.length > 0) users[name] = { gains: gains.sort(), loses: loses.sort() };
    }
    const holders = (moment: Moment, object: string) =>
      new Set(PEOPLE.flatMap((name) => moment.heldAsMember(userOf(name), object)));
    const abandoned = (object: string) => minus([...holders(earlier, object)], [...holders(later, object)]);
    const whole = abandoned(organization);
    const rest = objects
      .filter((object) => earlier.objects.includes(object) && later.objects.includes(object) && sees(object))
      .flatMap((object) =>
        abandoned(object)
          .filter((relation) => !follows(object, relation, whole))
          .map((relation) => `${earlier.nameOf(object)} ${relation}`),
      );
    return { users, unattended: [...whole.map((relation) => `organization acme ${relation}`), ...rest].sort() };
  }

  /** The rules in this language and the view of the database say the same about every team and role. */
  async function requireDerivation(): Promise<void> {
    const { tuples } = await createGraphStore(atrium.instance.db).load(acme);
    const stated = [...tuples].filter(({ source }) => /^(team|role):/.test(source));
    const graphs = {
      copyOf: async (_id: bigint, keep: (tuple: (typeof stated)[number]) => boolean) =>
        createGraph(model, stated.filter(keep)),
    };
    const scene = await readScene(graphs, acme, { teams: [], roles: [] });
    const derived = [
      ...[...scene.teams.values()].flatMap((team) => [...structureOf(acme, team), ...membershipsOf(acme, team)]),
      ...[...scene.roles.values()].flatMap((role) => roleTuples(acme, role.id, role)),
    ];
    const texts = (list: readonly { object: string; relation: string; user: string }[]) =>
      list.map(({ object, relation, user }) => `${object} ${relation} ${user}`).sort();
    assert.deepEqual(texts(derived), texts(stated));
  }
});

function minus(some: readonly string[], others: readonly string[]): string[] {
  return some.filter((one) => !others.includes(one));
}

interface ShownEffect {
  readonly object: { readonly type: string; readonly id: number; readonly name: string };
  readonly relation: string;
}

function shownImpact(body: {
  users: readonly { user: { name: string }; gains: ShownEffect[]; loses: ShownEffect[]; more: number }[];
  unattended: ShownEffect[];
}) {
  const words = (effects: readonly ShownEffect[]) =>
    effects.map(({ object, relation }) => `${object.type} ${object.name} ${relation}`).sort();
  const users = Object.fromEntries(
    body.users.map(({ user, gains, loses }) => [user.name, { gains: words(gains), loses: words(loses) }]),
  );
  return { users, unattended: words(body.unattended) };
}
