import { byId } from '../authz/object-ref.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import type { Comparison, Difference, Held, PeopleGroup } from '../simulation/comparison.ts';
import { createEndCheck, type Outlook, outlooksOf, type UserInGroup } from '../simulation/end-dates.ts';
import type { ObjectPairs } from '../simulation/object-pairs.ts';
import type { Simulation } from '../simulation/simulation.ts';

/** Something that a user gains or loses, and until when they hold it, or would have held it. */
export interface TimedHeld extends Held {
  /** Undefined if it does not end by itself. */
  readonly until: Date | undefined;
}

/** Something that a user can do before and after the changes, but not for as long, or for longer. */
export interface KeptHeld extends TimedHeld {
  readonly untilBefore: Date | undefined;
}

export interface View {
  readonly seesPeople: boolean;
  sees(object: string): boolean;
  knows(group: PeopleGroup, user: string): boolean;
  /** Whether also when what they hold ends: that may depend on each of their teams. */
  knowsEnds(group: PeopleGroup, user: string): boolean;
}

/**
 * What the caller may know of the answer: what changes for themselves; what changes for other users if they may see the
 * members, or all the teams through which it changes; and only objects that they may see now.
 */
export function viewOf({ before, organization, caller }: Simulation, { touchedTeams, wasSeenBy }: Comparison): View {
  const held = before.answers.relationsOn(before.classOf(caller), organization);
  const seesPeople = held.includes('can_view_members');
  const seesRoles = held.includes('can_view_roles');
  // The assignments of a user are seen by callers who may view roles.
  const hasNoOwn = (user: string) => seesRoles || !before.classOf(user).assigned.some(isAssignment);
  const sees = (object: string) => object === organization || wasSeenBy(caller, object);
  const seesTeams = (ids: readonly bigint[]) => ids.every((id) => sees(`team:${id}`));
  const knows = ({ teamIds, isRobot }: PeopleGroup, user: string) => {
    if (isRobot) return user === caller || sees(user);
    if (user === caller || seesPeople) return true;
    const touched = teamIds.filter((id) => touchedTeams.has(id));
    return touched.length > 0 && seesTeams(touched);
  };
  const knowsEnds = ({ teamIds, isRobot }: PeopleGroup, user: string) =>
    user === caller || (isRobot ? seesRoles && sees(user) : seesPeople || (seesTeams(teamIds) && hasNoOwn(user)));
  return { seesPeople, sees, knows, knowsEnds };
}

/** What the caller is told about a user. */
export interface ShownImpact {
  readonly gains: readonly TimedHeld[];
  readonly loses: readonly TimedHeld[];
  readonly keeps: readonly KeptHeld[];
  /** How many effects on single objects are left out. */
  readonly more: number;
}

export interface VisibleImpact {
  /** Ordered by ID; those after the first thousand are left out. Users who are alike share what is said. */
  readonly shown: ReadonlyMap<string, ShownImpact>;
  readonly total: number;
}

type Ends = ReadonlyMap<string, Date | undefined>;

const MAX_PEOPLE = 1000;
const MAX_OBJECTS = 100;
const NOTHING: Difference = { gains: [], loses: [], lost: [] };
const NO_ENDS: Ends = new Map();

/** Whom the changes affect, as far as the caller may know. */
export async function visibleImpact(
  simulation: Simulation,
  comparison: Comparison,
  view: View,
): Promise<VisibleImpact> {
  const { groups, differences, objects } = comparison;
  const canEnd = createEndCheck(simulation);
  const candidates = firstOnes(MAX_PEOPLE, byPerson);
  /** Those to whom nothing changes, except when what they hold ends. */
  const others = new Set<string>();
  let affected = 0;
  const yieldIfDue = createYielder();
  const isSeen = ({ object }: Held) => view.sees(object);
  const seenOf = (group: PeopleGroup) => {
    const { gains, loses } = differences.get(group) ?? NOTHING;
    return { gains: gains.filter(isSeen), loses: loses.filter(isSeen) };
  };
  for (const group of groups) {
    const { gains, loses } = seenOf(group);
    const isAffected = gains.length + loses.length > 0;
    // Site administrators from outside are no part of the organization.
    if ((group.teamIds.length === 0 && !group.isRobot) || (!isAffected && !group.isTouched)) continue;
    for (const user of group.users) {
      const rest = yieldIfDue();
      if (rest) await rest;
      const one = { user, group };
      if (!view.knows(group, user)) continue;
      if (isAffected) affected++;
      else if (canEnd(one) && view.knowsEnds(group, user)) others.add(user);
      else continue;
      candidates.add(one);
    }
  }
  const first = candidates.list();
  const ending = first.filter((one) => canEnd(one) && view.knowsEnds(one.group, one.user));
  const outlooks = ending.length === 0 ? undefined : await outlooksOf(simulation, comparison, ending);
  const impacts = new Map<PeopleGroup, Map<Outlook | undefined, ShownImpact>>();
  const shown = new Map<string, ShownImpact>();
  for (const { user, group } of first) {
    const impact = impactOf(group, outlooks?.get(user));
    if (impact.gains.length + impact.loses.length + impact.keeps.length > 0) shown.set(user, impact);
  }
  const changed = shown.keys().filter((user) => others.has(user));
  return { shown, total: affected + [...changed].length };

  function impactOf(group: PeopleGroup, outlook: Outlook | undefined): ShownImpact {
    const known = impacts.get(group) ?? new Map<Outlook | undefined, ShownImpact>();
    const found = known.get(outlook);
    if (found) return found;
    const { gains, loses } = seenOf(group);
    const keeps = outlook ? keptIn(outlook, simulation.organization, objects).filter(isSeen) : [];
    const impact = shortened(timed(gains, outlook, 'after'), timed(loses, outlook, 'before'), keeps);
    impacts.set(group, known.set(outlook, impact));
    return impact;
  }

  /** Adds until when it lasts, at one of the two moments. */
  function timed(list: readonly Held[], outlook: Outlook | undefined, side: keyof Outlook): TimedHeld[] {
    return list.map(({ object, relation }) => {
      const sample = objects?.pairOf.get(object)?.[side]?.sample ?? '';
      const ends = outlook?.[side].get(object) ?? outlook?.[side].get(sample);
      return { object, relation, until: ends?.get(relation) };
    });
  }
}

/** What lasts longer, or less long. On ordinary objects that follows from the organization, and is not listed. */
function keptIn({ before, after }: Outlook, organization: string, objects: ObjectPairs | undefined): KeptHeld[] {
  const found: KeptHeld[] = [];
  compare([organization], before.get(organization), after.get(organization));
  for (const pair of objects?.pairs ?? []) {
    if (!pair.before || !pair.after || objects?.isOrdinary(pair)) continue;
    const listed = pair.objects.filter((object) => !after.has(object));
    compare(listed, before.get(pair.before.sample), after.get(pair.after.sample), pair.type);
  }
  for (const object of after.keys()) {
    const pair = objects?.pairOf.get(object);
    if (pair) compare([object], before.get(object), after.get(object), pair.type);
  }
  return found;

  function compare(listed: readonly string[], had: Ends = NO_ENDS, has: Ends = NO_ENDS, type = ''): void {
    const usual = objects?.ordinary.get(type)?.sample ?? '';
    const [hadUsually, hasUsually] = [before.get(usual) ?? NO_ENDS, after.get(usual) ?? NO_ENDS];
    for (const [relation, until] of has) {
      const untilBefore = had.get(relation);
      if (!had.has(relation) || isSame(until, untilBefore)) continue;
      const follows =
        hadUsually.has(relation) &&
        hasUsually.has(relation) &&
        isSame(hadUsually.get(relation), untilBefore) &&
        isSame(hasUsually.get(relation), until);
      if (!follows) for (const object of listed) found.push({ object, relation, until, untilBefore });
    }
  }
}

/** Keeps the first of tens of thousands without sorting all of them. */
function firstOnes<T>(max: number, order: (one: T, other: T) => number) {
  let kept: T[] = [];
  let last: T | undefined;
  const list = (): readonly T[] => {
    kept = kept.sort(order).slice(0, max);
    return kept;
  };
  return {
    list,
    add(one: T): void {
      if (last !== undefined && order(one, last) > 0) return;
      kept.push(one);
      if (kept.length >= 2 * max) last = list().at(-1);
    },
  };
}

/** Users by their numbers, and then robots. */
function byPerson(one: UserInGroup, other: UserInGroup): number {
  return Number(one.group.isRobot) - Number(other.group.isRobot) || byId(one.user, other.user);
}

function isAssignment({ object }: { readonly object: string }): boolean {
  return object.startsWith('assignment:');
}

function isSame(one: Date | undefined, other: Date | undefined): boolean {
  return one?.getTime() === other?.getTime();
}

/** A user may lose sight of thousands of roles. What they gain and lose on the organization is always shown. */
function shortened(gains: readonly TimedHeld[], loses: readonly TimedHeld[], keeps: readonly KeptHeld[]): ShownImpact {
  const few = { gains: firstOf(gains), loses: firstOf(loses), keeps: firstOf(keeps) };
  const all = gains.length + loses.length + keeps.length;
  return { ...few, more: all - few.gains.length - few.loses.length - few.keeps.length };
}

function firstOf<T extends Held>(list: readonly T[]): T[] {
  const onOrganization = list.filter(({ object }) => object.startsWith('organization:'));
  const onObjects = list.filter(({ object }) => !object.startsWith('organization:'));
  return [...onOrganization, ...onObjects.slice(0, MAX_OBJECTS)];
}
