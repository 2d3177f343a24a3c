import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type Model, readModel } from '../../../packages/rebac/src/rebac.ts';
import { createGraphStore } from '../../../src/authz/graphs.store.ts';
import { membershipOf, structureOf } from '../../../src/changes/derived-tuples.ts';
import { CATALOG } from '../../../src/roles/catalog.ts';
import { CopyReader } from '../../../src/simulation/organization-copy.ts';
import { NO_DETAILS, roleTuples, stateFrom } from '../../../src/simulation/organization-state.ts';
import { COUNTS } from '../../counts.ts';
import { createRandom, type Random, SEED } from '../../support/checks/random.ts';
import { type Answer, openTestServer, type TestServer } from '../../support/server/server.ts';
import { inHours } from '../../support/world/expiry.ts';
import { expectedImpact, lookAt, type Moment, shownImpact } from '../../support/world/impact-moments.ts';
import { makeForReal, type Planned, randomChange, type Things } from '../../support/world/planned-changes.ts';
import { makeRobot } from '../../support/world/robots.ts';

const ROUNDS = COUNTS.previewedPlans;
const GUARDED_ROUNDS = COUNTS.guardedPlans;
const GUARDRAILS = 6;
const TEAM_ASSIGNMENTS = 6;
const EFFECTS = { unattended: 0, effects: 0, ends: 0, keeps: 0, later: 0, single: 0 };
const PEOPLE = ['ann', 'bob', 'cat', 'dan', 'eve', 'root'];
describe('Agreement of previews with what happens', () => {
  let atrium: TestServer;
  let model: Model;
  let acme: bigint;
  before(async () => {
    atrium = await openTestServer();
    model = await readModel(readFileSync('src/authz/platform.fga', 'utf8'));
    acme = atrium.world.orgs.acme?.id ?? 0n;
    await makeRobot(atrium, 'deploy');
    await makeRobot(atrium, 'sweeper');
  });
  after(() => atrium.close());

  it(`${ROUNDS} random plans have the impact that was previewed, and are rejected as was said, with seed ${SEED}`, async () => {
    const random = createRandom();
    const outcomes = { made: 0, rejected: 0, refused: 0, ...EFFECTS };
    const ends = [24, 48, 72].map(inHours);
    for (let round = 0; round < ROUNDS; round++) {
      await assignToTeams(random, ends);
      const earlier = await look();
      const things = { ...thingsIn(earlier), assignments: await assignmentIds(), ends };
      const length = 1 + random.below(4);
      const changes = Array.from({ length }, (_, place) => randomChange(random, things, `new ${round} ${place}`));
      const who = random.pick(['ann', 'ann', 'ann', 'root', 'bob']);
      const at = random.chance(0.2) ? random.pick([...ends, inHours(60)]) : undefined;
      const title = `round ${round}, ${who}, ${at}: ${JSON.stringify(changes)}`;
      const preview = await atrium.as(who)('POST', '/authz/preview?org=acme', { changes, ...(at && { at }) });
      const outcome = await make(who, changes, preview, title);
      outcomes[outcome]++;
      if (outcome !== 'made') {
        await rescue();
        continue;
      }
      const later = await look(at);
      if (isAboutAssigned(preview.body.users)) outcomes.single++;
      const expected = expectedImpact(earlier, later, scopeOf(who, earlier));
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
    if (ROUNDS >= 80) assert.ok(outcomes.single > 0, 'no plan changed what a user holds on a single cluster');
  });

  it(`${GUARDED_ROUNDS} random plans violate the guardrails that was said, by the people that were named, with seed ${SEED}`, async () => {
    const random = createRandom(SEED + 1);
    const outcomes = { made: 0, rejected: 0, refused: 0, guarded: 0, watched: 0 };
    const root = atrium.as('root');
    const prod = `cluster:${atrium.world.clusters.prod?.id}`;
    for (let round = 0; round < GUARDED_ROUNDS; round++) {
      const now = await look();
      const things = { ...thingsIn(now), assignments: await assignmentIds(), ends: [] };
      const holds: Holds = (name, relation, isCluster) =>
        now.held(userOf(name), isCluster ? prod : `organization:${acme}`).includes(relation);
      for (let count = (await guardrails()).length; count < GUARDRAILS; count++) {
        const body = randomGuardrail(random, things, holds, `rule ${round} ${count}`);
        const { status } = await root('POST', '/authz/guardrails?org=acme', body);
        if (status === 409) await root('POST', '/authz/guardrails?org=acme', { ...body, enforce: false });
      }
      const before = await guardrails();
      const length = 1 + random.below(2);
      const changes = Array.from({ length }, (_, place) => randomChange(random, things, `ruled ${round} ${place}`));
      const who = random.pick(['ann', 'ann', 'ann', 'root', 'bob']);
      const title = `round ${round}, ${who}: ${JSON.stringify(changes)} with ${JSON.stringify(before)}`;
      const preview = await atrium.as(who)('POST', '/authz/preview?org=acme', { changes });
      const isReader = now.held(userOf(who), `organization:${acme}`).includes('can_view_roles');
      const outcome = await make(who, changes, preview, title);
      outcomes[outcome]++;
      if (preview.body.refusals?.[0]?.guardrail) outcomes.guarded++;
      if (outcome === 'made') {
        const expected = isReader ? worse(before, await guardrails()) : {};
        const told = preview.body.guardrails.map((one: Told) => [
          one.name,
          one.violated_by.map(({ user }) => user.name),
        ]);
        assert.deepEqual(Object.fromEntries(told), expected, title);
        outcomes.watched += told.length;
      }
      // Some stay, so that there are also those that others have violated.
      for (const { id } of random.some(before, 0.3)) await root('DELETE', `/authz/guardrails/${id}?org=acme`);
      if (!(await isRescued())) {
        for (const { id } of await guardrails()) await root('DELETE', `/authz/guardrails/${id}?org=acme`);
        await rescue();
      }
    }
    if (GUARDED_ROUNDS >= 150) {
      for (const [what, count] of Object.entries(outcomes)) assert.ok(count > 0, `${what}: ${count}`);
    }
    assert.ok(outcomes.made > 0, JSON.stringify(outcomes));
  });

  /**
   * Teams that have roles on single clusters, so that joining and leaving them, and deleting them, changes what users hold
   * there and nowhere else. Left to chance, hardly any plan would be about that.
   */
  async function assignToTeams(random: Random, ends: readonly string[]): Promise<void> {
    const root = atrium.as('root');
    // Hardly anyone holds it in the whole organization.
    const permissions = [{ namespace: 'cluster_mgmt', action: 'administer clusters' }];
    const role = { name: 'on single clusters', permissions };
    await root('POST', '/authz/roles?org=acme', role);
    const { body } = await root('GET', '/authz/assignments?org=acme&limit=50');
    const present = body.filter(({ to, on }: Assigned) => to.type === 'team' && on.type === 'cluster').length;
    if (present >= TEAM_ASSIGNMENTS) return;
    const { teams, clusters = [] } = thingsIn(await look());
    for (let count = present; count < TEAM_ASSIGNMENTS; count++) {
      const [team, cluster] = [random.pick(teams), random.pick(clusters)];
      const end = random.chance(0.3) ? { expires_at: random.pick(ends) } : {};
      const named = {
        role: { name: role.name },
        to: { type: 'team', id: team.id },
        on: { type: 'cluster', id: cluster },
      };
      const { status, text } = await root('POST', '/authz/assignments?org=acme', { ...named, ...end });
      assert.ok(status === 201 || status === 409, text);
    }
  }

  async function assignmentIds(): Promise<number[]> {
    const { body } = await atrium.as('root')('GET', '/authz/assignments?org=acme&limit=50');
    return body.map(({ id }: { id: number }) => id);
  }

  async function guardrails(): Promise<Shown[]> {
    return (await atrium.as('root')('GET', '/authz/guardrails?org=acme')).body;
  }

  /** Makes the changes, and requires that it ends as the preview says. */
  async function make(who: string, changes: readonly Planned[], preview: Answer, title: string) {
    if (preview.status !== 200) {
      const place = Number(/^changes\[(\d+)\]/.exec(preview.body.message)?.[1] ?? 0);
      await makeAll(who, changes.slice(0, place));
      const isInside = (await look()).held(userOf(who), `organization:${acme}`).length > 0;
      const { status, reason } = await makeAll(who, changes.slice(place, place + 1));
      // The calls of somebody who is no longer a member are rejected for that alone, each in its own words.
      if (isInside)
        assert.deepEqual([status, reason], [preview.status, preview.body.reason], `${title} ${preview.text}`);
      else assert.ok(status >= 400, title);
      return 'rejected';
    }
    const [refusal] = preview.body.refusals;
    const { place, status, reason, body, text } = await makeAll(who, changes);
    if (!refusal) {
      assert.ok(status < 300, `${title} ${text}`);
      return 'made';
    }
    assert.deepEqual([place, reason], [refusal.change, refusal.reason], `${title} ${preview.text}`);
    if (refusal.guardrail) {
      assert.deepEqual([status, body.guardrail, body.message], [409, refusal.guardrail, refusal.message], title);
    }
    return 'refused';
  }

  const look = (at?: string) => lookAt(atrium.instance.db, model, acme, at === undefined ? undefined : new Date(at));
  const scopeOf = (who: string, earlier: Moment) => {
    const people = new Map(PEOPLE.map((name) => [name, userOf(name)]));
    const robots = earlier.objects.filter((object) => object.startsWith('robot_ac:'));
    const members = new Map([
      ...[...people].filter(([name]) => name !== 'root'),
      ...robots.map((robot) => [earlier.names.get(robot) ?? '', robot] as const),
    ]);
    return { organization: `organization:${acme}`, organizationName: 'acme', caller: userOf(who), people, members };
  };
  const userOf = (name: string) => `user:${atrium.world.users[name]?.id}`;

  /** Makes ann an owner for good, whatever happened. */
  async function rescue(): Promise<void> {
    assert.ok(await isRescued());
  }

  async function isRescued(): Promise<boolean> {
    const owners = atrium.world.orgs.acme?.teams.Owners;
    const { status } = await atrium.as('root')('PUT', `/teams/${owners}/members/ann`, { expires_at: null });
    return status === 204;
  }

  async function makeAll(who: string, changes: readonly Planned[]) {
    let last = { place: -1, status: 0, reason: undefined as string | undefined, text: '', body: {} as Answer['body'] };
    for (const [place, change] of changes.entries()) {
      const { status, body, text } = await makeForReal(atrium, who, change);
      last = { place, status, reason: body?.reason, text, body };
      if (status >= 300) break;
    }
    return last;
  }

  function thingsIn({ names, objects }: Moment): Omit<Things, 'ends'> {
    const of = (type: string) =>
      [...names].flatMap(([object, name]) => {
        const [found, id] = object.split(':');
        return found === type ? [{ id: Number(id), name }] : [];
      });
    const idsIn = (type: string) =>
      objects.filter((object) => object.startsWith(`${type}:`)).map((object) => Number(object.split(':')[1]));
    const own = new Set([...Object.values(atrium.world.orgs.globex?.teams ?? {})].map(Number));
    return {
      users: PEOPLE.filter((name) => name !== 'root'),
      teams: of('team').filter(({ id }) => !own.has(id)),
      roles: of('role'),
      clusters: idsIn('cluster'),
      robots: idsIn('robot_ac'),
      permissions: CATALOG.map(({ namespace, action }) => ({ namespace, action })),
    };
  }

  /** The rules in this language and the view of the database say the same about every team and role. */
  async function requireDerivation(): Promise<void> {
    const { tuples } = await createGraphStore(atrium.instance.db).load(acme);
    const stated = [...tuples].filter(({ source }) => /^(team|role):/.test(source));
    const reader = new CopyReader();
    for (const tuple of stated) reader.note(tuple);
    const { people } = await reader.copy(model);
    const { teams, roles } = await stateFrom(reader.structure, people, NO_DETAILS);
    const derived = [
      ...[...teams.values()].flatMap((team) => [
        ...structureOf(acme, team),
        ...[...team.members].flatMap((user) => membershipOf(acme, team, user)),
      ]),
      ...[...roles.values()].flatMap((role) => roleTuples(acme, role)),
    ];
    const texts = (list: readonly { object: string; relation: string; user: string }[]) =>
      list.map(({ object, relation, user }) => `${object} ${relation} ${user}`).sort();
    assert.deepEqual(texts(derived), texts(stated));
  }
});

interface Assigned {
  readonly to: { readonly type: string };
  readonly on: { readonly type: string };
}

interface Affected {
  readonly gains: readonly { readonly object: { readonly type: string } }[];
  readonly loses: Affected['gains'];
}

function isAboutAssigned(users: readonly Affected[]): boolean {
  return users.some(({ gains, loses }) => [...gains, ...loses].some(({ object }) => object.type === 'cluster'));
}

interface Told {
  readonly name: string;
  readonly violated_by: readonly { readonly user: { readonly name: string } }[];
}

interface Shown {
  readonly id: number;
  readonly name: string;
  readonly at_least?: object;
  readonly at_most?: object;
  readonly state: { readonly holds: boolean; readonly count?: number; readonly violated_by: Told['violated_by'] };
}

/** Guardrails that hold less than before, and who violates them anew. */
function worse(before: readonly Shown[], after: readonly Shown[]): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const { id, name, at_least, at_most, state } of after) {
    const earlier = before.find((one) => one.id === id)?.state;
    const known = new Set(earlier?.violated_by.map(({ user }) => user.name));
    const anew = state.violated_by.map(({ user }) => user.name).filter((user) => !known.has(user));
    const [count = 0, earlierCount = 0] = [state.count, earlier?.count];
    const isFurther = at_least ? count < earlierCount : at_most ? count > earlierCount : anew.length > 0;
    if (!state.holds && (earlier?.holds || isFurther)) found[name] = anew;
  }
  return found;
}

/** Mostly one that just holds. */
function randomGuardrail(random: Random, { users, teams }: Things, holds: Holds, name: string): object {
  const relation = random.pick(['can_edit', 'can_delete', 'can_view_audit_log', 'can_edit_roles', 'can_view']);
  const isCluster = random.chance(0.3) && (relation === 'can_edit' || relation === 'can_view');
  const prod = { type: 'cluster', name: 'prod' };
  const object = isCluster ? { object: random.chance(0.5) ? prod : { type: 'cluster' } } : {};
  const isTight = random.chance(0.8);
  const holders = users.filter((user) => holds(user, relation, isCluster));
  const others = users.filter((user) => !holders.includes(user));
  const some = (list: readonly string[]) => {
    const found = random.some(isTight ? list : users, 0.4);
    return found.length > 0 ? found : [random.pick(list.length > 0 ? list : users)];
  };
  const team = isTight ? {} : { team: random.pick(teams).id };
  const enforce = random.chance(0.8);
  const robots = random.chance(0.4) ? { robots: random.some(['deploy', 'sweeper'], 0.7) } : {};
  switch (random.below(4)) {
    case 0:
      return { name, enforce, never: { users: some(others), ...robots, ...team, relation, ...object } };
    case 1:
      return {
        name,
        enforce,
        always: {
          users: some(holders),
          ...(isTight ? {} : robots),
          ...team,
          relation,
          ...(isCluster && { object: prod }),
        },
      };
    case 2:
      return { name, enforce, at_most: { count: isTight ? holders.length : random.below(4), relation, ...object } };
    default:
      return { name, enforce, at_least: { count: isTight ? Math.max(1, holders.length) : 2, relation } };
  }
}

type Holds = (user: string, relation: string, isCluster: boolean) => boolean;
