import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { createGraphStore } from '../../../src/authz/graphs.store.ts';
import { structureOf } from '../../../src/changes/derived-tuples.ts';
import { readScene } from '../../../src/impact/scene.ts';
import { membershipsOf } from '../../../src/impact/team-state.ts';
import { createGraph } from '../../../src/rebac/graph.ts';
import { type Model, readModel } from '../../../src/rebac/model.ts';
import { CATALOG } from '../../../src/roles/catalog.ts';
import { roleTuples } from '../../../src/roles/role-preview.ts';
import { COUNTS } from '../../counts.ts';
import { inHours } from '../../support/expiry.ts';
import { expectedImpact, lookAt, type Moment, shownImpact } from '../../support/impact-moments.ts';
import { makeForReal, type Planned, randomChange, type Things } from '../../support/planned-changes.ts';
import { createRandom, SEED } from '../../support/random.ts';
import { openTestServer, type TestServer } from '../../support/server.ts';

const ROUNDS = COUNTS.previewedPlans;
const PEOPLE = ['ann', 'bob', 'cat', 'dan', 'eve', 'root'];
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
    const outcomes = { made: 0, rejected: 0, refused: 0, unattended: 0, effects: 0, ends: 0, keeps: 0, later: 0 };
    const ends = [24, 48, 72].map(inHours);
    for (let round = 0; round < ROUNDS; round++) {
      const earlier = await look();
      const things = { ...thingsIn(earlier), ends };
      const length = 1 + random.below(4);
      const changes = Array.from({ length }, (_, place) => randomChange(random, things, `new ${round} ${place}`));
      const who = random.pick(['ann', 'ann', 'ann', 'root', 'bob']);
      const at = random.chance(0.2) ? random.pick([...ends, inHours(60)]) : undefined;
      const title = `round ${round}, ${who}, ${at}: ${JSON.stringify(changes)}`;
      const preview = await atrium.as(who)('POST', '/authz/preview?org=acme', { changes, ...(at && { at }) });
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
      const later = await look(at);
      const expected = expectedImpact(earlier, later, scopeOf(who));
      await rescue();
      if (!expected) continue;
      const { users, unattended } = shownImpact(preview.body);
      assert.deepEqual(users, expected.users, title);
      assert.deepEqual(unattended, expected.unattended, title);
      outcomes.unattended += unattended.length;
      outcomes.effects += Object.keys(users).length;
      const people = Object.values(users);
      outcomes.ends += people.filter(({ gains, loses }) =>
        [...gains, ...loses].some((one) => /until/.test(one)),
      ).length;
      outcomes.keeps += people.filter(({ keeps }) => keeps.length > 0).length;
      if (at && people.length > 0) outcomes.later++;
      await requireDerivation();
    }
    if (ROUNDS >= 1000) {
      for (const [what, count] of Object.entries(outcomes)) assert.ok(count > 10, `${what}: ${count} of ${ROUNDS}`);
    }
    assert.ok(outcomes.effects > 0);
  });

  const look = (at?: string) => lookAt(atrium.instance.db, model, acme, at === undefined ? undefined : new Date(at));
  const scopeOf = (who: string) => {
    const people = new Map(PEOPLE.map((name) => [name, userOf(name)]));
    const members = new Map([...people].filter(([name]) => name !== 'root'));
    return { organization: `organization:${acme}`, organizationName: 'acme', caller: userOf(who), people, members };
  };
  const userOf = (name: string) => `user:${atrium.world.users[name]?.id}`;

  /** Makes ann an owner for good, whatever happened. */
  async function rescue(): Promise<void> {
    const owners = atrium.world.orgs.acme?.teams.Owners;
    const { status } = await atrium.as('root')('PUT', `/teams/${owners}/members/ann`, { expires_at: null });
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

  function thingsIn({ names }: Moment): Omit<Things, 'ends'> {
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

  /** The rules in this language and the view of the database say the same about every team and role. */
  async function requireDerivation(): Promise<void> {
    const { tuples } = await createGraphStore(atrium.instance.db).load(acme);
    const stated = [...tuples].filter(({ source }) => /^(team|role):/.test(source));
    const graphs = {
      copyOf: async (_id: bigint, keep: (tuple: (typeof stated)[number]) => boolean) =>
        createGraph(model, stated.filter(keep)),
    };
    const scene = await readScene(graphs, acme, { teams: [], roles: [], memberEnds: [], roleEnds: [] });
    const derived = [
      ...[...scene.teams.values()].flatMap((team) => [...structureOf(acme, team), ...membershipsOf(acme, team)]),
      ...[...scene.roles.values()].flatMap((role) => roleTuples(acme, role.id, role)),
    ];
    const texts = (list: readonly { object: string; relation: string; user: string }[]) =>
      list.map(({ object, relation, user }) => `${object} ${relation} ${user}`).sort();
    assert.deepEqual(texts(derived), texts(stated));
  }
});
