import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import {
  type AskedType,
  allowedPlainly,
  holds,
  type PlainGrant,
  type PlainOrganization,
  type PlainPerson,
  type PlainTeam,
  type PlainWorld,
} from '../../long/plain-rules.ts';
import { openRandomWorld } from '../../long/random-world.ts';
import { progress } from '../../support/checks/progress.ts';
import { createRandom, type Random, SEED } from '../../support/checks/random.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

const CHANGE_EVERY = 3;
const MAX_DRAWN = 14;
/** What every member has of the organization, whatever their teams and roles give. */
const OF_MEMBERS = ['can_view', 'can_leave'];
const IN_SET = -1;

interface Shown {
  readonly people: readonly {
    readonly key: string;
    readonly type: string;
    readonly id: number;
    readonly name: string;
  }[];
  readonly teams: readonly { readonly key: string; readonly id: number; readonly people: number }[];
  readonly grants: readonly {
    readonly key: string;
    readonly role: { readonly id: number } | null;
    readonly permission: string | null;
    readonly namespaces: readonly string[];
    readonly relations: readonly string[];
    readonly people: number;
  }[];
  readonly places: readonly {
    readonly key: string;
    readonly type: string;
    readonly id: number | null;
    readonly name: string;
  }[];
  readonly lines: readonly {
    readonly from: string;
    readonly to: string;
    readonly why: { user: string; relation: string; object: { type: AskedType; id: number } } | null;
  }[];
  readonly left_out: Readonly<Record<'people' | 'teams' | 'grants' | 'places', number>>;
}

/** A role or the permission of teams in one place, and who has it, as the plain records say. */
interface Expected {
  readonly role?: number;
  readonly permission?: string;
  /** As in the records: empty for the organization. */
  readonly place: string;
  readonly namespaces: readonly string[];
  /** As `team:4`, `robot:7` or the name of a user. */
  readonly holders: Set<string>;
}

interface Filters {
  readonly to?: string;
  readonly role?: number;
  readonly on?: string | undefined;
}

describe('The map of access in random worlds', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ env: { RATE_LIMIT: '0' } });
  });
  after(() => atrium.close());

  it(`${COUNTS.mapQuestions} maps have all that the caller may see, and nothing else, with seed ${SEED}`, async () => {
    const random = createRandom(SEED + 11);
    const { world, change, organization } = await openRandomWorld(atrium, random);
    let [drawn, lines, rejected] = [0, 0, 0];
    for (let asked = 0; asked < COUNTS.mapQuestions; asked++) {
      if (asked % CHANGE_EVERY === 0) await change();
      const where = organization();
      const caller = random.pick([...world.people.values(), ...world.robots].filter(({ isActive }) => isActive));
      const filters = anyFilters(random, world, where);
      const query = Object.entries(filters).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
      const answer = await atrium.as(caller.name)('GET', `/authz/map?org=${where.name}${query.join('')}`);
      if (!isInside(caller, where) || !holds(caller, where, 'can_view_members')) {
        assert.equal(answer.status, 403, answer.text);
        rejected++;
        continue;
      }
      assert.equal(answer.status, 200, answer.text);
      const expected = expectedFor(world, caller, where, filters);
      const message = `${caller.name} in ${where.name} ${JSON.stringify(filters)}`;
      compare(answer.body, expected, where, filters, message);
      for (const { relations, place, grant } of grantsIn(answer.body)) {
        // A map of one object draws to it what is assigned there, on its set and on the organization.
        const alike = expected.filter((one) => textOf(one, filters) === textOf({ ...grant, place }, filters));
        const wanted = alike.map((one) => givenPlainly(world, caller, where, one, filters.on ?? one.place).join());
        assert.ok(
          wanted.includes(relations.join()),
          `${message}: ${JSON.stringify(grant)}: ${relations}, not ${wanted}`,
        );
        drawn++;
      }
      for (const { why } of (answer.body as Shown).lines) {
        if (why === null) continue;
        const user = personCalled(world, answer.body, why.user);
        if (user === undefined) continue;
        const held = allowedPlainly(world, user, where, why.object.type, why.object.id);
        assert.ok(held.includes(why.relation), `${message}: ${JSON.stringify(why)}`);
        lines++;
      }
      if (asked % 200 === 0) progress(`${asked} of ${COUNTS.mapQuestions}: ${drawn} grants, ${lines} lines`);
    }
    assert.ok(drawn > COUNTS.mapQuestions && rejected > 0, `${drawn} grants, ${rejected} rejected`);
    progress(`${drawn} grants are right, and ${lines} lines are a yes`);
  });
});

function anyFilters(random: Random, world: PlainWorld, where: PlainOrganization): Filters {
  const { teams, roles } = where;
  const owned = world.things.filter(({ owner, type }) => owner === where.name && type !== 'token');
  const robots = owned.flatMap(({ type, id }) => (type === 'robot_ac' ? [`robot:${id}`] : []));
  const to = random.pick([
    ...[...world.people.keys()].map((name) => `user:${name}`),
    ...[...teams.keys()].map((id) => `team:${id}`),
    ...robots,
  ]);
  const places = [
    ...owned.map(({ type, id }) => `${type}:${id}`),
    ...[...teams.keys()].map((id) => `team:${id}`),
    ...['cluster_set:eu', 'cluster_set:us', 'organization'],
  ];
  return {
    ...(random.chance(0.5) && { to }),
    ...(random.chance(0.15) && roles.size > 0 && { role: random.pick([...roles.keys()]) }),
    ...(random.chance(0.35) && { on: random.pick(places) }),
  };
}

/** What the caller may see of what the records say. */
function expectedFor(world: PlainWorld, caller: PlainPerson, where: PlainOrganization, filters: Filters): Expected[] {
  const seesRoles = holds(caller, where, 'can_view_roles');
  const found = new Map<string, Expected>();
  const note = (holder: string, grant: Omit<Expected, 'holders'>) => {
    const key = JSON.stringify([grant.role, grant.permission, grant.place, grant.namespaces]);
    const one = found.get(key) ?? { ...grant, holders: new Set<string>() };
    found.set(key, one);
    one.holders.add(holder);
  };
  const everywhere = { place: '', namespaces: [] };
  for (const { id, level } of where.teams.values()) {
    if (!isSeen(world, caller, where, `team:${id}`)) continue;
    if (level !== 'none') note(`team:${id}`, { permission: level, ...everywhere });
    for (const role of where.roles.values())
      if (role.teams.has(id)) note(`team:${id}`, { role: role.id, ...everywhere });
  }
  for (const { role, to, on: place, namespaces } of where.grants) {
    if (!seesRoles && !isMine(caller, where, to)) continue;
    const holder = 'person' in to ? to.person : 'team' in to ? `team:${to.team}` : `robot:${to.robot}`;
    const isHolderSeen = 'person' in to || holder === idOf(caller) || isSeen(world, caller, where, named(holder));
    if (!isHolderSeen || !isSeen(world, caller, where, place)) continue;
    note(holder, { role, place, namespaces: [...(namespaces ?? [])].sort() });
  }
  const { to, role, on } = filters;
  const mine = to === undefined ? undefined : holdersOf(where, to.replace(/^user:/, ''));
  return [...found.values()].flatMap((grant) => {
    const holders = mine === undefined ? grant.holders : grant.holders.intersection(mine);
    const isWanted = holders.size > 0 && (role === undefined || grant.role === role);
    return isWanted && isReaching(world, caller, where, grant, on) ? [{ ...grant, holders }] : [];
  });
}

function holdersOf({ teams }: PlainOrganization, to: string): ReadonlySet<string> {
  return new Set([to, ...[...teams.values()].flatMap(({ id, members }) => (members.has(to) ? [`team:${id}`] : []))]);
}

/** Whether a grant counts there: directly, through the set of a cluster, or through the organization. */
function isReaching(
  world: PlainWorld,
  caller: PlainPerson,
  where: PlainOrganization,
  grant: Expected,
  on: string | undefined,
): boolean {
  if (on === undefined) return true;
  const object = placeIn(on);
  if (!isSeen(world, caller, where, object)) return false;
  if (grant.place === object) return true;
  if (grant.place === '')
    return !on.startsWith('cluster_set:') && givenPlainly(world, caller, where, grant, on).length > 0;
  const cluster = world.things.find(({ type, id }) => `${type}:${id}` === object);
  return Boolean(cluster?.set) && grant.place === `set:${cluster?.set}`;
}

/** What a grant alone gives on an object: to a person who has nothing else, in a copy of the organization. */
function givenPlainly(
  world: PlainWorld,
  caller: PlainPerson,
  where: PlainOrganization,
  { role, permission, place, namespaces }: Omit<Expected, 'holders'>,
  on: string,
): string[] {
  const object = placeIn(on);
  const person: PlainPerson = { id: 0, name: '?', isAdmin: false, isActive: true };
  const isWhole = place === '';
  const own: PlainTeam = {
    ...{ id: 0, level: (permission ?? 'none') as PlainTeam['level'], isBuiltIn: false },
    members: new Set(permission !== undefined || isWhole ? ['?', 'other'] : []),
  };
  // No caller can remove the only owner.
  const others = [...where.teams.values()].map((team) => ({
    ...team,
    members: new Set(team.members.size === 1 ? ['other'] : ['other', 'another']),
  }));
  const given = where.roles.get(role ?? 0);
  const single: PlainGrant = {
    ...{ id: 0, role: role ?? 0, to: { person: '?' }, on: place },
    ...(namespaces.length > 0 && { namespaces }),
  };
  const alone: PlainOrganization = {
    ...where,
    teams: new Map([...others, own].map((team) => [team.id, team])),
    roles: new Map(given ? [[given.id, { ...given, teams: new Set(isWhole ? [0] : []) }]] : []),
    grants: isWhole || given === undefined ? [] : [single],
  };
  if (object === '') {
    const held = allowedPlainly(world, person, alone, 'organization', where.id);
    // Leaving comes from being in the organization, and so does a view of it, unless by the permission of a team.
    return held.filter((relation) => !OF_MEMBERS.includes(relation) || (permission && relation === 'can_view'));
  }
  if (!object.startsWith('set:')) {
    const [type = '', id = ''] = object.split(':');
    return allowedPlainly(world, person, alone, type as AskedType, Number(id));
  }
  const isEmpty = !world.things.some(
    ({ id, owner, set }) =>
      owner === where.name && `set:${set}` === object && isSeen(world, caller, where, `cluster:${id}`),
  );
  return isEmpty ? [] : allowedPlainly(withCluster(world, where, object), person, alone, 'cluster', IN_SET);
}

function isSeen(world: PlainWorld, caller: PlainPerson, where: PlainOrganization, object: string): boolean {
  if (object === '') return true;
  if (object.startsWith('set:')) {
    return allowedPlainly(withCluster(world, where, object), caller, where, 'cluster', IN_SET).includes('can_view');
  }
  const [type = '', id = ''] = object.split(':');
  return allowedPlainly(world, caller, where, type as AskedType, Number(id)).includes('can_view');
}

/** A set is seen like a cluster in it. */
function withCluster(world: PlainWorld, { name }: PlainOrganization, set: string): PlainWorld {
  return { ...world, things: [{ type: 'cluster', id: IN_SET, owner: name, set: set.slice(4) }] };
}

function isMine(caller: PlainPerson, { teams }: PlainOrganization, to: PlainGrant['to']): boolean {
  if ('person' in to) return to.person === caller.name;
  if ('robot' in to) return caller.robotOf !== undefined && to.robot === caller.id;
  return teams.get(to.team)?.members.has(caller.name) ?? false;
}

function isInside(caller: PlainPerson, { name, teams }: PlainOrganization): boolean {
  return (
    caller.isAdmin || caller.robotOf === name || [...teams.values()].some(({ members }) => members.has(caller.name))
  );
}

function compare(
  shown: Shown,
  expected: readonly Expected[],
  { teams }: PlainOrganization,
  { to, on }: Filters,
  message: string,
): void {
  const membersOf = (holder: string) => {
    if (!holder.startsWith('team:')) return [holder];
    const members = [...(teams.get(Number(holder.slice(5)))?.members ?? [])];
    // A map of one user counts no other user.
    return to === undefined || to.startsWith('team:') ? members : members.filter((one) => `user:${one}` === to);
  };
  const peopleOf = (holders: Iterable<string>) => new Set([...holders].flatMap(membersOf));
  const holders = new Set(expected.flatMap((grant) => [...grant.holders]));
  const all = {
    people: peopleOf(holders).size,
    teams: [...holders].filter((holder) => holder.startsWith('team:')).length,
    grants: expected.length,
    places: on === undefined ? new Set(expected.map(({ place }) => place)).size : Math.min(expected.length, 1),
  };
  for (const column of ['people', 'teams', 'grants', 'places'] as const) {
    const counted = shown[column].length + shown.left_out[column];
    assert.equal(counted, all[column], `${message}: ${column}`);
    if (column !== 'places') assert.equal(shown[column].length, Math.min(all[column], MAX_DRAWN), message);
  }
  const texts = Map.groupBy(expected, (one) => textOf(one, { on }));
  const isWhole = shown.left_out.people + shown.left_out.teams === 0;
  for (const { grant, place, people, holders: drawn } of grantsIn(shown)) {
    const candidates = texts.get(textOf({ ...grant, place }, { on })) ?? [];
    const wanted = candidates.find((one) => one.holders.isSupersetOf(drawn) && peopleOf(one.holders).size === people);
    assert.ok(wanted, `${message}: ${JSON.stringify(grant)} of ${[...drawn].join()} on ${place}`);
    if (isWhole)
      assert.ok(
        candidates.some((one) => one.holders.symmetricDifference(drawn).size === 0),
        message,
      );
    if (on !== undefined) assert.equal(place, placeIn(on), message);
  }
}

/** What a map tells of a grant. One of a single object does not tell where it is assigned. */
function textOf({ role, permission, place, namespaces }: Omit<Expected, 'holders'>, { on }: Filters): string {
  return JSON.stringify([role ?? permission, on === undefined ? place : '', namespaces]);
}

/** The grants of a map, with who has them and where they are, as in the records. */
function grantsIn({ people, teams, grants, places, lines }: Shown) {
  const holderOf = new Map<string, string>(teams.map(({ key, id }) => [key, `team:${id}`]));
  for (const { key, type, id, name } of people) holderOf.set(key, type === 'user' ? name : `robot:${id}`);
  const placeOf = new Map(
    places.map(({ key, type, id, name }) => [
      key,
      type === 'organization' ? '' : type === 'cluster_set' ? `set:${name}` : `${type}:${id}`,
    ]),
  );
  return grants.map(({ key, role, permission, namespaces, relations, people: count }) => {
    const place = placeOf.get(lines.find(({ from }) => from === key)?.to ?? '') ?? assert.fail(`${key} is nowhere`);
    const holders = lines.flatMap(({ from, to }) => (to === key ? [holderOf.get(from) ?? assert.fail(from)] : []));
    const grant = { ...(role && { role: role.id }), ...(permission && { permission }), place, namespaces };
    return { grant, place, relations, people: count, holders: new Set(holders) };
  });
}

/** Undefined for a robot that is left out, because the records have no names of robots. */
function personCalled(world: PlainWorld, { people, left_out: leftOut }: Shown, user: string): PlainPerson | undefined {
  if (!user.startsWith('robot:')) return world.people.get(user) ?? assert.fail(`no user is called ${user}`);
  const found = people.find(({ type, name }) => type === 'robot_ac' && `robot:${name}` === user);
  if (found === undefined && leftOut.people > 0) return undefined;
  const owner = world.things.find((one) => one.type === 'robot_ac' && one.id === found?.id)?.owner;
  return { id: found?.id ?? 0, name: user, robotOf: owner ?? assert.fail(user), isAdmin: false, isActive: true };
}

function placeIn(on: string): string {
  return on === 'organization' ? '' : on.replace('cluster_set:', 'set:');
}

function named(holder: string): string {
  return holder.replace(/^robot:/, 'robot_ac:');
}

function idOf({ id, name, robotOf }: PlainPerson): string {
  return robotOf === undefined ? name : `robot:${id}`;
}
