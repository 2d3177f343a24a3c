/**
 * Until when somebody holds what they hold, if nothing happens but that memberships and assignments end.
 *
 * 1. Less is held when something ends, so the end of a relation is searched by halves. The exception is that an owners'
 *    team may be left with a single member: that one cannot leave, and nobody can be removed. So the times at which a
 *    team gets there, and at which it loses that member too, are looked at by themselves.
 * 2. People who are alike but for the ends of their memberships are not alike here. The representative of their group
 *    stands in for each of them.
 */
import { createPace } from '../base/slices.ts';
import { membershipOf, structureOf } from '../changes/derived-tuples.ts';
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
    for (const somebody of people) {
      const timeline = timelineOf(state, somebody);
      const key = `${somebody.group.representative} ${timeline.key}`;
      const lasting = known.get(key) ?? lastingIn(moment, state, somebody, timeline.times);
      known.set(key, lasting);
      found.set(somebody.user, lasting);
      await pace();
    }
    return found;
  }

  function lastingIn(moment: Moment, state: State, { user, group }: Somebody, times: readonly Time[]): Lasting {
    const { graph, organizationId } = scene;
    const { representative, teamIds } = group;
    const own = objects ? objects.ownOf(teamIds, new Set(teamIds)) : [];
    const asked = [`organization:${organizationId}`, ...samples, ...own];
    const roles = [...state.roles.values()].filter(({ teamExpiries }) => teamIds.some((id) => teamExpiries.has(id)));
    const owners = ownerTeams(state).filter((team) => flipsOf(team).length > 0);
    const now = heldAt(undefined);
    const ends = now.map(
      (relations) => new Map(relations.map((relation) => [relation, undefined as Date | undefined])),
    );
    let open: Open = now.map((relations) => new Set(relations));
    let start = 0;
    for (const place of times.keys()) {
      // From one flip up to the next, only less is held.
      const isBoundary = place + 1 === times.length || times[place + 1]?.isFlip;
      if (!isBoundary) continue;
      open = search(start, place, open);
      start = place + 1;
    }
    reset();
    return new Map(asked.map((object, place) => [object, ends[place] ?? new Map()]));

    /** Finds what of these ends at one of these times. The rest lasts longer. */
    function search(first: number, last: number, candidates: Open): Open {
      const held = heldAt(times[last]?.moment);
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
      search(middle + 1, last, search(first, middle, gone));
      return kept;
    }

    function heldAt(time: Date | undefined): string[][] {
      const isThere = (end: Date | undefined) => end === undefined || time === undefined || end > time;
      for (const role of roles) {
        const left = role.teamIds.filter((id) => isThere(role.teamExpiries.get(id)));
        graph.replaceSource(`role:${role.id}`, roleTuples(organizationId, role.id, { ...role, teamIds: left }));
      }
      for (const team of owners) enterTeam(team, sizeAt(team, time));
      graph.replaceSource(representative, time ? tuplesAt(time, isThere) : group[moment]);
      return allowedMany(graph, representative, asked, SHOWN).map((relations) => [...relations]);
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
      graph.replaceSource(name, tuples);
      const sample = objects?.kinOf.get(name)?.[moment];
      if (!sample) return;
      const about = tuples.filter(({ object }) => object === name);
      graph.replaceSource(
        sample.sample,
        about.map((tuple) => ({ ...tuple, object: sample.sample })),
      );
    }

    function reset(): void {
      for (const role of roles) graph.replaceSource(`role:${role.id}`, roleTuples(organizationId, role.id, role));
      for (const team of owners) enterTeam(team, team.members.size);
      graph.replaceSource(representative, group[moment]);
    }
  }
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
