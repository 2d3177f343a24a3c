/**
 * Until when somebody holds what they hold, if nothing happens but that memberships and assignments end.
 *
 * 1. Less is held when something ends, so the end of a relation is searched by halves. The exception is that an owners'
 *    team may be left with a single member: that one cannot leave, and nobody can be removed. So the times at which a
 *    team gets there, and at which it loses that member too, are looked at by themselves.
 * 2. People who are alike but for the ends of their memberships are not alike here. The representative of their group
 *    stands in for each of them.
 * 3. Whoever may assign roles decides how much ends, so the work is limited: what would take seconds is rejected.
 */
import { AppError } from '../base/errors.ts';
import { createPace } from '../base/slices.ts';
import { assignmentsOf, membershipOf, structureOf } from '../changes/derived-tuples.ts';
import { allowedMany } from '../rebac/engine.ts';
import type { Tuple } from '../rebac/tuple.ts';
import { roleTuples } from '../roles/role-preview.ts';
import type { Group } from './crowd.ts';
import { type Comparison, SHOWN } from './holdings.ts';
import type { Hypothesis } from './hypothesis.ts';
import type { ObjectClasses } from './object-classes.ts';
import type { RoleState, Scene } from './scene.ts';
import type { TeamState } from './team-state.ts';

/** What somebody holds on an object of the graph, and until when; undefined if it does not end. */
export type Lasting = ReadonlyMap<string, ReadonlyMap<string, Date | undefined>>;

/** The same person before and after the changes. */
export interface Outlook {
  readonly before: Lasting;
  readonly after: Lasting;
}

export interface Somebody {
  readonly user: string;
  readonly group: Group;
}

const NOTHING: Lasting = new Map();
/** Tuples that are stated anew, and ten for each object that is asked about: about a second. */
const MAX_WORK = 1_000_000;
const WORK_OF_QUESTION = 10;
const OBJECTS_IN_PIECE = 20;

type Moment = 'before' | 'after';
type State = Pick<Scene, 'teams' | 'roles'>;

/** Whether what this group holds can end by itself, before or after the changes. */
export function createEndings(scene: Scene, world: Hypothesis) {
  const moments: readonly State[] = [scene, world];
  const hasFlips = moments.some((state) => ownerTeams(state).some((team) => flipsOf(team).length > 0));
  const ending = new Set<bigint>();
  for (const { roles } of moments) {
    for (const { teamExpiries } of roles.values()) for (const team of teamExpiries.keys()) ending.add(team);
  }
  return ({ user, group: { teamIds } }: Somebody): boolean =>
    hasFlips ||
    teamIds.some((id) => ending.has(id) || moments.some(({ teams }) => teams.get(id)?.ends.has(user) === true));
}

/** People for whom nothing can end are left out. The graph is as it was before the changes, and is so again afterwards. */
export async function outlooksOf(
  scene: Scene,
  world: Hypothesis,
  { samples, enter }: Pick<Comparison, 'samples' | 'enter'>,
  objects: ObjectClasses | undefined,
  people: readonly Somebody[],
): Promise<Map<string, Outlook>> {
  const pace = createPace();
  let work = 0;
  const before = await lastingOf('before');
  await enter('after');
  const after = await lastingOf('after');
  await enter('before');
  // People who are alike in everything share one.
  const shared = new Map<Lasting, Map<Lasting, Outlook>>();
  return new Map(people.map(({ user }) => [user, outlookOf(before.get(user) ?? NOTHING, after.get(user) ?? NOTHING)]));

  function outlookOf(had: Lasting, has: Lasting): Outlook {
    const known = shared.get(had) ?? new Map<Lasting, Outlook>();
    const outlook = known.get(has) ?? { before: had, after: has };
    shared.set(had, known.set(has, outlook));
    return outlook;
  }

  async function lastingOf(moment: Moment): Promise<Map<string, Lasting>> {
    const state = moment === 'before' ? scene : world;
    const known = new Map<string, Lasting>();
    const found = new Map<string, Lasting>();
    const ending = [...state.roles.values()].filter(({ teamExpiries }) => teamExpiries.size > 0);
    // What ends is stated apart from the rest, so that little has to be stated anew for each time.
    for (const role of ending) {
      const lasting = role.teamIds.filter((id) => !role.teamExpiries.has(id));
      restate(`role:${role.id}`, roleTuples(scene.organizationId, role.id, { ...role, teamIds: lasting }));
      restateEnding(role, endingTeams(role));
      await pace();
    }
    for (const somebody of people) {
      const timeline = timelineOf(state, somebody);
      const key = `${somebody.group.representative} ${timeline.key}`;
      const lasting = known.get(key) ?? (await lastingIn(moment, state, somebody, timeline.times));
      known.set(key, lasting);
      found.set(somebody.user, lasting);
      await pace();
    }
    for (const role of ending) {
      restate(`role:${role.id}`, roleTuples(scene.organizationId, role.id, role));
      scene.graph.replaceSource(endingSource(role), []);
      await pace();
    }
    return found;
  }

  async function lastingIn(
    moment: Moment,
    state: State,
    { user, group }: Somebody,
    times: readonly Time[],
  ): Promise<Lasting> {
    const { graph, organizationId } = scene;
    const { representative, teamIds } = group;
    const own = objects ? objects.ownOf(teamIds, new Set(teamIds)) : [];
    const asked = [`organization:${organizationId}`, ...samples, ...own];
    const roles = [...state.roles.values()].filter(({ teamExpiries }) => teamIds.some((id) => teamExpiries.has(id)));
    const owners = ownerTeams(state).filter((team) => flipsOf(team).length > 0);
    /** What the graph says by now, by source. */
    const stated = new Map([
      ...roles.map((role) => [endingSource(role), endingTeams(role).join()] as const),
      ...owners.map((team) => [`team:${team.id}`, String(team.members.size)] as const),
    ]);
    const now = await heldAt(undefined);
    const ends = now.map(
      (relations) => new Map(relations.map((relation) => [relation, undefined as Date | undefined])),
    );
    let open: Open = now.map((relations) => new Set(relations));
    let start = 0;
    for (const place of times.keys()) {
      // From one flip up to the next, only less is held.
      const isBoundary = place + 1 === times.length || times[place + 1]?.isFlip;
      if (!isBoundary) continue;
      open = await search(start, place, open);
      start = place + 1;
    }
    await heldAt(undefined);
    return new Map(asked.map((object, place) => [object, ends[place] ?? new Map()]));

    /** Finds what of these ends at one of these times. The rest lasts longer. */
    async function search(first: number, last: number, candidates: Open): Promise<Open> {
      const held = await heldAt(times[last]?.moment);
      const kept = candidates.map((relations, place) => relations.intersection(new Set(held[place])));
      const gone = candidates.map((relations, place) => relations.difference(kept[place] ?? new Set()));
      if (gone.every(({ size }) => size === 0)) return kept;
      if (first === last) {
        for (const [place, relations] of gone.entries()) {
          for (const relation of relations) ends[place]?.set(relation, times[last]?.moment);
        }
        return kept;
      }
      const middle = Math.floor((first + last - 1) / 2);
      await search(middle + 1, last, await search(first, middle, gone));
      return kept;
    }

    async function heldAt(time: Date | undefined): Promise<string[][]> {
      await pace();
      const isThere = (end: Date | undefined) => end === undefined || time === undefined || end > time;
      for (const role of roles) {
        const left = endingTeams(role).filter((id) => isThere(role.teamExpiries.get(id)));
        if (isNews(endingSource(role), left.join())) restateEnding(role, left);
      }
      for (const team of owners) {
        const size = sizeAt(team, time);
        if (isNews(`team:${team.id}`, String(size))) enterTeam(team, size);
      }
      restate(representative, time ? tuplesAt(time, isThere) : group[moment]);
      spend(asked.length * WORK_OF_QUESTION);
      const held: string[][] = [];
      for (let first = 0; first < asked.length; first += OBJECTS_IN_PIECE) {
        const some = asked.slice(first, first + OBJECTS_IN_PIECE);
        for (const relations of allowedMany(graph, representative, some, SHOWN)) held.push([...relations]);
        await pace();
      }
      return held;
    }

    function isNews(source: string, text: string): boolean {
      if (stated.get(source) === text) return false;
      stated.set(source, text);
      return true;
    }

    function tuplesAt(time: Date, isThere: (end: Date | undefined) => boolean): Tuple[] {
      const others = group[moment].filter(({ relation }) => relation !== 'member' && relation !== 'last_owner');
      const teams = teamIds.flatMap((id) => state.teams.get(id) ?? []);
      const left = teams.filter((team) => team.members.has(user) && isThere(team.ends.get(user)));
      return [
        ...others,
        ...left.flatMap((team) => {
          // Only of owners does it matter how many they are.
          const members = team.permission === 'owner' ? { size: sizeAt(team, time) } : team.members;
          return membershipOf(organizationId, { ...team, members }, representative);
        }),
      ];
    }

    function enterTeam(team: TeamState, size: number): void {
      const name = `team:${team.id}`;
      const tuples = structureOf(organizationId, { ...team, members: { size } });
      restate(name, tuples);
      const sample = objects?.kinOf.get(name)?.[moment];
      if (!sample) return;
      const about = tuples.filter(({ object }) => object === name);
      restate(
        sample.sample,
        about.map((tuple) => ({ ...tuple, object: sample.sample })),
      );
    }
  }

  function restateEnding(role: RoleState, teamIds: readonly bigint[]): void {
    restate(endingSource(role), assignmentsOf(scene.organizationId, role.id, [], teamIds));
  }

  function restate(source: string, tuples: readonly Tuple[]): void {
    spend(tuples.length);
    scene.graph.replaceSource(source, tuples);
  }

  function spend(more: number): void {
    work += more;
    if (work > MAX_WORK) throw tooMuch();
  }
}

function tooMuch(): AppError {
  return new AppError(
    'malformed',
    'too many memberships and assignments of this organization end at different times to say what lasts how long: ' +
      'preview a change that affects fewer people',
  );
}

/** Relations by the place of their object. */
type Open = readonly ReadonlySet<string>[];

interface Time {
  readonly moment: Date;
  /** An owners' team gets or loses its only member: then more may be held than before. */
  readonly isFlip: boolean;
}

/** The times at which what somebody holds may change by itself, and what they depend on. */
function timelineOf(state: State, { user, group: { teamIds } }: Somebody) {
  const own = teamIds.flatMap((id) => {
    const end = state.teams.get(id)?.ends.get(user);
    return end ? [{ id, end: end.getTime() }] : [];
  });
  const assigned = [...state.roles.values()].flatMap((role) => endsOf(role, teamIds));
  const flips = new Set(ownerTeams(state).flatMap(flipsOf));
  const times = [...new Set([...own.map(({ end }) => end), ...assigned, ...flips])].sort((a, b) => a - b);
  return {
    /** The rest is the same for everybody in the group. */
    key: own.map(({ id, end }) => `${id}@${end}`).join(' '),
    times: times.map((time): Time => ({ moment: new Date(time), isFlip: flips.has(time) })),
  };
}

function endsOf({ teamExpiries }: RoleState, teamIds: readonly bigint[]): number[] {
  return teamIds.flatMap((id) => teamExpiries.get(id)?.getTime() ?? []);
}

/** Those that the role is assigned to for some time. */
function endingTeams({ teamIds, teamExpiries }: RoleState): bigint[] {
  return teamIds.filter((id) => teamExpiries.has(id));
}

function endingSource({ id }: RoleState): string {
  return `role:${id} for some time`;
}

function ownerTeams({ teams }: State): TeamState[] {
  return [...teams.values()].filter(({ permission }) => permission === 'owner');
}

/** When one member is left, and when nobody is, as far as the other memberships end. */
function flipsOf({ members, ends }: TeamState): number[] {
  const times = [...ends.values()].map((end) => end.getTime()).sort((a, b) => a - b);
  return [members.size - 2, members.size - 1].flatMap((place) => times[place] ?? []);
}

function sizeAt({ members, ends }: TeamState, time: Date | undefined): number {
  return time
    ? members.size -
        ends
          .values()
          .filter((end) => end <= time)
          .toArray().length
    : members.size;
}
