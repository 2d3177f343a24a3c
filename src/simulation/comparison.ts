import { idOf } from '../authz/object-ref.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import { isPlacing, type ObjectClass, STRUCTURE } from './object-classes.ts';
import { type ObjectPair, type ObjectPairs, pairObjects } from './object-pairs.ts';
import type { PeopleClass } from './people-classes.ts';
import type { Side, Simulation } from './simulation.ts';

/** A relation that users hold, or would hold, on an object. */
export interface Held {
  readonly object: string;
  readonly relation: string;
}

/** Users who are alike before, and alike after the changes. */
export interface PeopleGroup {
  readonly before: PeopleClass;
  readonly after: PeopleClass;
  readonly users: readonly string[];
  /** Their teams, before or after. */
  readonly teamIds: readonly bigint[];
  /** Roles that are assigned to themselves in the whole organization, before or after. */
  readonly ownRoles: readonly string[];
  /** A single robot, which is in no team. */
  readonly isRobot: boolean;
  /** A change is about one of their teams or about a role of one. What they hold by themselves stays the same otherwise. */
  readonly isTouched: boolean;
  /** They hold everything as site administrators, whatever changes. */
  readonly isAdmin: boolean;
}

/** What the users of a group gain and lose. */
export interface Difference {
  readonly gains: readonly Held[];
  readonly loses: readonly Held[];
  /** What they lose on objects that stay, also what follows from what they lose on the organization. */
  readonly lost: readonly Held[];
}

type Relations = readonly string[];
type HeldOn = (object: string) => Relations;

export type Comparison = Awaited<ReturnType<typeof compare>>;

/** Who gains and loses what by the changes. */
export async function compare(simulation: Simulation, withObjects: boolean) {
  const { before, after, organization } = simulation;
  const touchedTeams = touchedBy(simulation);
  const groups = await groupsOf(simulation, touchedTeams);
  const objects = withObjects ? await pairObjects(simulation) : undefined;
  const shifting = (objects?.pairs ?? []).filter(hasChangedItself).flatMap(samplesOf);
  const yieldIfDue = createYielder();
  const asking = groups.filter(({ isTouched }) => isTouched || shifting.length > 0);
  await before.answers.enterAll(asking.flatMap((group) => [group.before, group.after]));
  // One after the other, because the graph has to be changed in between.
  for (const side of ['after', 'before'] as const) {
    await simulation.show(side);
    for (const group of asking) {
      for (const object of askedOf(group)) {
        heldOn(side, group, object);
        const rest = yieldIfDue();
        // There may be a million, and to wait for nothing takes as long as most answers.
        if (rest) await rest;
      }
    }
  }
  const differences = new Map<PeopleGroup, Difference>();
  for (const group of asking) {
    const asked = askedOf(group);
    const among = (side: Side) => (object: string) => (asked.has(object) ? heldOn(side, group, object) : []);
    const own = group.isTouched ? ownOf(group) : [];
    const difference = differenceOf(organization, among('before'), among('after'), own, objects);
    if (difference.gains.length + difference.loses.length + difference.lost.length > 0)
      differences.set(group, difference);
    await yieldIfDue();
  }
  return { groups, differences, objects, touchedTeams, unattended, wasSeenBy };

  function heldOn(side: Side, group: PeopleGroup, object: string): Relations {
    return simulation[side].answers.relationsOn(group[side], object, group.isAdmin);
  }

  /** To those whom no change is about, only objects that change themselves can make a difference. */
  function askedOf(group: PeopleGroup): Set<string> {
    if (!group.isTouched) return new Set(shifting);
    return new Set([organization, ...(objects?.samples ?? []), ...ownOf(group)]);
  }

  function ownOf({ teamIds, ownRoles }: PeopleGroup): string[] {
    return objects ? [...new Set([...objects.ownOf(teamIds, touchedTeams), ...ownRoles])] : [];
  }

  /**
   * What users could do before, and no user except site administrators could do after. What follows from what is lost on
   * the organization is left out, as in the effects on users.
   */
  async function unattended(): Promise<Held[]> {
    const candidates = new Map<string, Held>();
    const enter = (held: Held) => candidates.set(`${held.object} ${held.relation}`, held);
    for (const [group, { lost }] of differences) {
      if (group.isAdmin || group.isRobot) continue;
      for (const held of lost) enter(held);
      const asked = askedOf(group);
      for (const { sample } of objects?.ordinary.values() ?? []) {
        if (!asked.has(sample)) continue;
        const gone = without(heldOn('before', group, sample), heldOn('after', group, sample));
        for (const relation of gone) enter({ object: sample, relation });
      }
    }
    const found = await nobodyCan([...candidates.values()]);
    const usual = new Set(found.map(({ object, relation }) => `${object} ${relation}`));
    const isListed = ({ object, relation }: Held) => {
      const pair = objects?.pairOf.get(object);
      return pair ? !usual.has(`${objects?.ordinary.get(pair.type)?.sample} ${relation}`) : true;
    };
    const samples = new Set(objects?.samples);
    return found.filter((held) => !samples.has(held.object) && isListed(held));
  }

  async function nobodyCan(candidates: readonly Held[]): Promise<Held[]> {
    if (candidates.length === 0) return [];
    await simulation.show('after');
    // Owners can do nearly everything, so they are asked first.
    const isOwner = ({ teamIds }: PeopleGroup) => teamIds.some((id) => after.teams.get(id)?.permission === 'owner');
    const people = groups.filter(({ isAdmin, isRobot }) => !isAdmin && !isRobot);
    const likely = people.sort((a, b) => Number(isOwner(b)) - Number(isOwner(a)));
    const found: Held[] = [];
    for (const held of candidates) {
      let isHeld = false;
      for (const group of likely) {
        isHeld = heldOn('after', group, held.object).includes(held.relation);
        if (isHeld) break;
        await yieldIfDue();
      }
      if (!isHeld) found.push(held);
    }
    await simulation.show('before');
    return found;
  }

  /** Whether a user may see an object now. What the changes create is no secret to their caller. */
  function wasSeenBy(user: string, object: string): boolean {
    const pair = objects?.pairOf.get(object);
    if (pair && !pair.before) return true;
    // What it was before: the object itself may have changed.
    const sample = pair && !STRUCTURE.has(pair.type) ? pair.before?.sample : undefined;
    return before.answers.relationsOn(before.classOf(user), sample ?? object).includes('can_view');
  }
}

/** Teams that a change is about, and teams with a role that a change is about. */
function touchedBy(simulation: Simulation): Set<bigint> {
  const { changedTeams, changedRoles, changedAssignments, before, after, rolePlaces } = simulation;
  const touched = new Set(changedTeams);
  for (const id of changedAssignments) {
    for (const { assignments } of [before, after]) {
      const to = assignments.get(id)?.to;
      if (to?.startsWith('team:')) touched.add(idOf(to));
    }
  }
  for (const id of changedRoles) {
    for (const team of rolePlaces.get(`role:${id}`)?.teamIds ?? []) touched.add(team);
    for (const { roles } of [before, after]) for (const team of roles.get(id)?.teamIds ?? []) touched.add(team);
  }
  return touched;
}

/** Roles that a change is about, and where they are assigned on single objects; and assignments that one is about. */
function changedObjects({ changedRoles, changedAssignments, assignments, rolePlaces }: Simulation): Set<string> {
  const roles = [...changedRoles].map((id) => `role:${id}`);
  const placed = [...assignments.values()].filter(({ roleId }) => changedRoles.has(roleId));
  return new Set([
    ...roles.flatMap((role) => [role, ...(rolePlaces.get(role)?.assignments ?? [])]),
    ...placed.map(({ id }) => `assignment:${id}`),
    ...[...changedAssignments].map((id) => `assignment:${id}`),
  ]);
}

/** Robots to which something is assigned, before or after the changes. Nothing else about them can change. */
function robotsOf({ before, after, copy, changedRoles, changedAssignments }: Simulation): PeopleGroup[] {
  const all = [before, after].flatMap(({ assignments }) => [...assignments.values()]);
  const byRobot = Map.groupBy(
    all.filter(({ to }) => to.startsWith('robot_ac:')),
    ({ to }) => to,
  );
  return [...byRobot].map(([robot, own]) => {
    const one = copy.people.classOf(robot);
    const ownRoles = own.flatMap(({ on, roleId }) => (on === undefined ? [`role:${roleId}`] : []));
    const isTouched = own.some(({ id, roleId }) => changedAssignments.has(id) || changedRoles.has(roleId));
    const pair = { before: one, after: one, users: [robot], teamIds: [], ownRoles: [...new Set(ownRoles)] };
    return { ...pair, isTouched, isAdmin: false, isRobot: true };
  });
}

async function groupsOf(simulation: Simulation, touched: ReadonlySet<bigint>): Promise<PeopleGroup[]> {
  const { copy, movedUsers, after } = simulation;
  const changed = changedObjects(simulation);
  const yieldIfDue = createYielder();
  const moved = new Map<PeopleClass, Map<PeopleClass, { before: PeopleClass; after: PeopleClass; users: string[] }>>();
  for (const [user, was] of movedUsers) {
    const is = after.classOf(user);
    const others = moved.get(was) ?? new Map();
    if (others.size === 0) moved.set(was, others);
    const group = others.get(is) ?? { before: was, after: is, users: [] };
    if (group.users.push(user) === 1) others.set(is, group);
    const rest = yieldIfDue();
    if (rest) await rest;
  }
  const stayed = copy.people.all.flatMap((one) => {
    const users = movedUsers.size === 0 ? [...one.users] : [...one.users].filter((user) => !movedUsers.has(user));
    return users.length === 0 ? [] : [{ before: one, after: one, users }];
  });
  const people = [...stayed, ...[...moved.values()].flatMap((some) => [...some.values()])].flatMap((pair) => {
    const teamIds = [...new Set([...pair.before.teamIds, ...pair.after.teamIds])];
    // The assignments of users themselves count as well.
    const hasChanged = [pair.before, pair.after].some(({ objects }) => !objects.isDisjointFrom(changed));
    const isTouched = hasChanged || teamIds.some((id) => touched.has(id));
    const own = [pair.before, pair.after].flatMap(({ objects }) => [...objects]);
    const ownRoles = [...new Set(own.filter((object) => object.startsWith('role:')))];
    const isAdmin = pair.before.isAdministrator;
    const group = { ...pair, teamIds, ownRoles, isTouched, isAdmin, isRobot: false };
    // What site administrators hold as members: no user is in these groups.
    return group.isAdmin ? [group, { ...group, users: [], isAdmin: false }] : [group];
  });
  return [...people, ...robotsOf(simulation)];
}

/**
 * What a group gains and loses: on the organization, and on its objects as far as that does not follow. On ordinary
 * objects, everything follows from the organization, so on others only the rest is listed.
 */
function differenceOf(
  organization: string,
  had: HeldOn,
  has: HeldOn,
  own: readonly string[],
  objects: ObjectPairs | undefined,
): Difference {
  const gains: Held[] = [];
  const loses: Held[] = [];
  const lost: Held[] = [];
  addObjects([organization], had(organization), has(organization), undefined);
  const listed = new Set(own);
  for (const pair of objects?.pairs ?? []) {
    if (objects?.isOrdinary(pair)) continue;
    const [now, then] = [pair.before ? had(pair.before.sample) : [], pair.after ? has(pair.after.sample) : []];
    if (isSame(now, then)) continue;
    const others = pair.objects.filter((object) => !listed.has(object));
    addObjects(others, now, then, pair);
  }
  for (const object of own) {
    const pair = objects?.pairOf.get(object);
    if (pair) addObjects([object], had(object), has(object), pair);
  }
  return { gains, loses, lost };

  function addObjects(list: readonly string[], now: Relations, then: Relations, pair: ObjectPair | undefined): void {
    if (isSame(now, then)) return;
    const usual = pair && objects?.ordinary.get(pair.type)?.sample;
    const [usually, usuallyThen] = usual === undefined ? [[], []] : [had(usual), has(usual)];
    const [gained, gone] = [without(then, now), without(now, then)];
    // Users who may edit teams may edit a new one, and can edit a deleted one no longer.
    const gainsHere = without(gained, pair && !pair.before ? usuallyThen : without(usuallyThen, usually));
    const losesHere = without(gone, pair && !pair.after ? usually : without(usually, usuallyThen));
    for (const object of list) {
      for (const relation of gainsHere) gains.push({ object, relation });
      for (const relation of losesHere) loses.push({ object, relation });
      if (!pair || (pair.before && pair.after)) for (const relation of gone) lost.push({ object, relation });
    }
  }
}

/**
 * Whether more has changed than assignments on the objects. Those give something to their assignees only, and what is
 * assigned to users of a group, or to a team of theirs, is a change about the group.
 */
function hasChangedItself({ before, after }: ObjectPair): boolean {
  if (before === after) return false;
  const own = (one: ObjectClass | undefined) => one?.tuples.filter((tuple) => !isPlacing(tuple)).map(factIn);
  return !before || !after || own(before)?.join() !== own(after)?.join();
}

function factIn({ relation, user }: ObjectClass['tuples'][number]): string {
  return `${relation} ${user}`;
}

function samplesOf({ before, after }: ObjectPair): string[] {
  return [before, after].flatMap((one) => (one ? [one.sample] : []));
}

/** Relations have an order. */
function isSame(some: Relations, others: Relations): boolean {
  return some.length === others.length && some.every((one, place) => one === others[place]);
}

function without(some: Relations, others: Relations): Relations {
  return some.filter((one) => !others.includes(one));
}
