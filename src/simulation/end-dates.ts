/**
 * Until when users hold what they hold, if nothing happens but that memberships and assignments end.
 *
 * 1. Time passes from one end to the next. At each, only those users are looked at for whom it may make a difference.
 * 2. Usually less is held when something ends. The exception is that an owners' team may be left with a single member:
 *    that member can neither leave nor be removed. So all users are looked at when a team gets there, or loses that
 *    member too. A relation that is held again later has ended nevertheless.
 * 3. Callers who may assign roles decide how much ends, so the work is limited: what would take seconds is rejected.
 */

import type { Tuple } from '../../packages/rebac/src/rebac.ts';
import { idOf } from '../authz/object-ref.ts';
import { AppError } from '../base/errors.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import { membershipOf, structureOf } from '../changes/derived-tuples.ts';
import type { Comparison, PeopleGroup } from './comparison.ts';
import { type AssignmentState, type OrganizationState, roleTuples, type TeamState } from './organization-state.ts';
import { type Assignment, isPerson, type PeopleClass } from './people-classes.ts';
import type { Side, Simulation, World } from './simulation.ts';

/** By object: the relations that a user holds on it, and until when; undefined if it does not end. */
export type EndDates = ReadonlyMap<string, ReadonlyMap<string, Date | undefined>>;

/** The same user before and after the changes. */
export interface Outlook {
  readonly before: EndDates;
  readonly after: EndDates;
}

export interface UserInGroup {
  readonly user: string;
  readonly group: PeopleGroup;
}

/** Users who are alike, also in when their memberships end. */
interface Timeline {
  readonly user: string;
  readonly group: PeopleGroup;
  readonly start: PeopleClass;
  readonly ownEnds: ReadonlySet<number>;
  readonly asked: readonly string[];
  /** The relations that are still held. */
  readonly open: Map<string, Set<string>>;
  readonly ends: Map<string, Map<string, Date | undefined>>;
}

/** Tuples that are stated again, and ten for each object that is asked about: about a second. */
const MAX_WORK = 1_000_000;
const WORK_OF_QUESTION = 10;

/** Whether what a user holds can end by itself, before or after the changes. */
export function createEndCheck({ before, after }: Simulation) {
  const worlds: readonly OrganizationState[] = [before, after];
  const hasFlips = worlds.some((world) => ownerTeams(world).some((team) => flipsOf(team).length > 0));
  const ending = new Set(
    worlds.flatMap(({ roles }) => [...roles.values()].flatMap(({ teamExpiries }) => [...teamExpiries.keys()])),
  );
  const endingTo = new Set(worlds.flatMap((world) => endingIn(world).map(({ to }) => to)));
  const isEnding = (user: string, id: bigint) =>
    ending.has(id) || endingTo.has(`team:${id}`) || worlds.some(({ teams }) => teams.get(id)?.ends.has(user));
  return ({ user, group: { teamIds } }: UserInGroup): boolean =>
    hasFlips || endingTo.has(user) || teamIds.some((id) => isEnding(user, id));
}

/** Afterwards, both worlds are as they were. */
export async function outlooksOf(
  simulation: Simulation,
  { objects }: Pick<Comparison, 'objects'>,
  people: readonly UserInGroup[],
): Promise<Map<string, Outlook>> {
  const { organizationId, organization, copy } = simulation;
  const yieldIfDue = createYielder();
  let work = 0;
  const [before, after] = [await endDatesIn('before'), await endDatesIn('after')];
  await simulation.show('before');
  // Users who are alike in everything share one.
  const shared = new Map<EndDates, Map<EndDates, Outlook>>();
  return new Map(people.map(({ user }) => [user, outlookOf(before.get(user), after.get(user))]));

  function outlookOf(had: EndDates = new Map(), has: EndDates = new Map()): Outlook {
    const known = shared.get(had) ?? new Map<EndDates, Outlook>();
    const outlook = known.get(has) ?? { before: had, after: has };
    shared.set(had, known.set(has, outlook));
    return outlook;
  }

  async function endDatesIn(side: Side): Promise<Map<string, EndDates>> {
    const world = simulation[side];
    await simulation.show(side);
    const { graph } = world.answers;
    const timelines = new Map<string, Timeline>();
    const found = new Map<string, EndDates>();
    const placed = endingIn(world);
    const placedTo = Map.groupBy(placed, ({ to }) => to);
    for (const one of people) {
      const own = ownEndsOf(world, one, placedTo.get(one.user) ?? []);
      const key = `${one.group.before.subject} ${one.group.after.subject} ${own.key}`;
      const timeline = timelines.get(key) ?? (await begin(world, one, one.group[side], own.times));
      timelines.set(key, timeline);
      found.set(one.user, timeline.ends);
    }
    const ending = [...world.roles.values()].filter(({ teamExpiries }) => teamExpiries.size > 0);
    const assignments = ending.flatMap(({ id, teamExpiries }) =>
      [...teamExpiries].map(([team, end]) => ({ id, team, time: end.getTime(), source: `role:${id} team:${team}` })),
    );
    const owners = ownerTeams(world).filter((team) => flipsOf(team).length > 0);
    // What ends is stated apart from the rest, so that little has to be stated again at each time.
    for (const role of ending) {
      const teamIds = role.teamIds.filter((team) => !role.teamExpiries.has(team));
      restate(`role:${role.id}`, roleTuples(organizationId, { ...role, teamIds }));
    }
    for (const { id, team, source } of assignments) {
      restate(source, [{ object: `role:${id}`, relation: 'assignee', user: `team:${team}#member` }]);
      await yieldIfDue();
    }
    const assignmentsAt = Map.groupBy(assignments, ({ time }) => time);
    const placedAt = Map.groupBy(placed, ({ expiresAt }) => expiresAt?.getTime() ?? 0);
    const flips = new Set(owners.flatMap(flipsOf));
    const times = new Set([
      ...assignmentsAt.keys(),
      ...placedAt.keys(),
      ...flips,
      ...timelines.values().flatMap(({ ownEnds }) => ownEnds),
    ]);
    for (const time of [...times].sort((a, b) => a - b)) {
      const ended = assignmentsAt.get(time) ?? [];
      const endedPlaces = placedAt.get(time) ?? [];
      for (const { source } of ended) restate(source, []);
      for (const { id } of endedPlaces) restate(`assignment:${id}`, []);
      if (flips.has(time)) for (const team of owners) enterTeam(team, sizeAt(team, time));
      if (ended.length + endedPlaces.length > 0 || flips.has(time)) world.answers.forget();
      const concerned = new Set([...ended.map(({ team }) => `team:${team}`), ...endedPlaces.map(({ to }) => to)]);
      for (const timeline of timelines.values()) {
        const { ownEnds, group } = timeline;
        if (flips.has(time) || ownEnds.has(time) || group.teamIds.some((id) => concerned.has(`team:${id}`))) {
          await advance(world, timeline, time);
        }
        await yieldIfDue();
      }
    }
    for (const { source } of assignments) graph.replaceSource(source, []);
    for (const { id } of placed) restate(`assignment:${id}`, simulation.inGraph(world, id));
    for (const role of ending) restate(`role:${role.id}`, roleTuples(organizationId, role));
    for (const team of owners) enterTeam(team, team.members.size);
    world.answers.forget();
    return found;

    function restate(source: string, tuples: readonly Tuple[]): void {
      spend(tuples.length);
      graph.replaceSource(source, tuples);
    }

    /** Users of other teams look at an object of the same class. */
    function enterTeam(team: TeamState, size: number): void {
      const name = `team:${team.id}`;
      const tuples = structureOf(organizationId, { ...team, members: { size } });
      restate(name, tuples);
      const sample = objects?.pairOf.get(name)?.[side]?.sample;
      if (sample === undefined) return;
      const about = tuples.filter(({ object }) => object === name);
      restate(
        sample,
        about.map((tuple) => ({ ...tuple, object: sample })),
      );
    }
  }

  async function begin(world: World, one: UserInGroup, start: PeopleClass, ownEnds: Set<number>): Promise<Timeline> {
    const { teamIds } = one.group;
    const own = objects ? [...objects.ownOf(teamIds, new Set(teamIds)), ...one.group.ownRoles] : [];
    const asked = [...new Set([organization, ...(objects?.samples ?? []), ...own])];
    spend(asked.length * WORK_OF_QUESTION);
    const [open, ends] = [new Map<string, Set<string>>(), new Map<string, Map<string, Date | undefined>>()];
    for (const object of asked) {
      const held = world.answers.relationsOn(start, object);
      open.set(object, new Set(held));
      ends.set(object, new Map(held.map((relation) => [relation, undefined])));
      await yieldIfDue();
    }
    return { ...one, start, ownEnds, asked, open, ends };
  }

  /** Notes what has ended at this time. */
  async function advance(world: World, timeline: Timeline, time: number): Promise<void> {
    const { asked, open, ends } = timeline;
    const isRobot = !isPerson(timeline.user);
    const people = isRobot ? timeline.start : copy.people.classFor(assignedAt(world, timeline, time));
    spend(asked.length * WORK_OF_QUESTION);
    for (const object of asked) {
      const left = open.get(object);
      if (!left || left.size === 0) continue;
      const held = world.answers.relationsOn(people, object);
      for (const relation of left) {
        if (held.includes(relation)) continue;
        left.delete(relation);
        ends.get(object)?.set(relation, new Date(time));
      }
      await yieldIfDue();
    }
  }

  function assignedAt({ teams, assignments }: World, { user, start }: Timeline, time: number) {
    const others = start.assigned.filter(({ relation }) => relation !== 'member' && relation !== 'last_owner');
    const gone = new Set(
      start.assigned.flatMap(({ object }) => {
        const own = object.startsWith('assignment:') ? assignments.get(idOf(object)) : undefined;
        if (!own?.expiresAt || own.expiresAt.getTime() > time) return [];
        return [object, ...(own.on === undefined ? [`role:${own.roleId}`] : [])];
      }),
    );
    const memberships = start.teamIds.flatMap((id) => {
      const team = teams.get(id);
      const end = team?.ends.get(user);
      if (!team || (end && end.getTime() <= time)) return [];
      // Only of owners does it matter how many they are.
      const members = team.permission === 'owner' ? { size: sizeAt(team, time) } : team.members;
      return membershipOf(organizationId, { ...team, members }, user);
    });
    // The assignments of users who leave the organization end.
    const isGone = ({ object }: Assignment) =>
      gone.has(object) || (memberships.length === 0 && /^(assignment|role):/.test(object));
    return [...others.filter((one) => !isGone(one)), ...memberships];
  }

  function spend(more: number): void {
    work += more;
    if (work <= MAX_WORK) return;
    throw new AppError(
      'malformed',
      'too many memberships and assignments of this organization end at different times to say what lasts how long: ' +
        'preview a change that affects fewer people',
    );
  }
}

/** Assignments that end. */
function endingIn({ assignments }: OrganizationState): AssignmentState[] {
  return [...assignments.values()].filter(({ expiresAt }) => expiresAt !== null);
}

function ownEndsOf(
  { teams }: OrganizationState,
  { user, group: { teamIds } }: UserInGroup,
  assigned: readonly AssignmentState[],
) {
  const memberships = teamIds.flatMap((id) => {
    const end = teams.get(id)?.ends.get(user);
    return end ? [{ id: String(id), time: end.getTime() }] : [];
  });
  const own = [
    ...memberships,
    ...assigned.map(({ id, expiresAt }) => ({ id: `assignment ${id}`, time: expiresAt?.getTime() ?? 0 })),
  ];
  return { key: own.map(({ id, time }) => `${id}@${time}`).join(' '), times: new Set(own.map(({ time }) => time)) };
}

function ownerTeams({ teams }: OrganizationState): TeamState[] {
  return [...teams.values()].filter(({ permission }) => permission === 'owner');
}

/** When a single member is left, and when no member is, as far as the other memberships end. */
function flipsOf({ members, ends }: TeamState): number[] {
  const times = [...ends.values()].map((end) => end.getTime()).sort((a, b) => a - b);
  return [members.size - 2, members.size - 1].flatMap((place) => times[place] ?? []);
}

function sizeAt({ members, ends }: TeamState, time: number): number {
  return members.size - [...ends.values()].filter((end) => end.getTime() <= time).length;
}
