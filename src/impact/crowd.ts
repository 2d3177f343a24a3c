import type { GraphTuple } from '../authz/graphs.ts';
import { idOf } from '../authz/object-ref.ts';
import { createPace } from '../base/slices.ts';
import type { Tuple } from '../rebac/tuple.ts';
import type { Hypothesis } from './hypothesis.ts';
import { type Scene, saidAbout } from './scene.ts';
import { membershipsOf } from './team-state.ts';

/**
 * Users about whom the same is said, before and after the changes. The model does not know users by name, so they hold
 * the same. An organization may have fifty thousand members, but they are in a few teams.
 */
export interface Group {
  /** The one whose tuples are in the graph. */
  readonly representative: string;
  readonly users: string[];
  readonly before: readonly Tuple[];
  readonly after: readonly Tuple[];
  /** Its teams, by number, before or after. */
  readonly teamIds: readonly bigint[];
  /** A change is about one of its teams or about a role of one. What it holds by itself stays the same otherwise. */
  readonly isTouched: boolean;
  /** They hold everything as site administrators, whatever changes. */
  readonly isAdmin: boolean;
}

export interface Crowd {
  readonly groups: readonly Group[];
  /** Site administrators as if they were none: what they hold as members. Nobody is in these groups. */
  readonly plainAdmins: readonly Group[];
  /** Teams that a change is about, and teams with a role that a change is about. */
  readonly touchedTeams: ReadonlySet<bigint>;
}

export async function readCrowd(scene: Scene, world: Hypothesis): Promise<Crowd> {
  const pace = createPace();
  const touchedTeams = touchedBy(scene, world);
  const changed = new Set([...world.changedTeams].map((id) => `team:${id}`));
  const joined = new Map<string, Tuple[]>();
  for (const id of world.changedTeams) {
    const team = world.teams.get(id);
    for (const tuple of team ? membershipsOf(scene.organizationId, team) : []) {
      const known = joined.get(tuple.user);
      if (known) known.push(tuple);
      else joined.set(tuple.user, [tuple]);
      await pace();
    }
  }
  const groups = new Map<string, Group>();
  for (const user of new Set([...scene.said.keys(), ...joined.keys()])) {
    const before = saidAbout(scene, user);
    const isChanged = joined.has(user) || before.some(({ source }) => changed.has(source));
    const after = isChanged
      ? [...before.filter(({ source }) => !changed.has(source)), ...(joined.get(user) ?? [])]
      : before;
    const key = `${user === world.caller ? user : ''}|${keyOf(before)}|${isChanged ? keyOf(after) : '='}`;
    const group = groups.get(key);
    if (group) group.users.push(user);
    else groups.set(key, groupOf(user, before, after, touchedTeams));
    await pace();
  }
  const all = [...groups.values()];
  const plainAdmins = all.flatMap((group, place) => (group.isAdmin ? [withoutOffice(group, place)] : []));
  return { groups: all, plainAdmins, touchedTeams };
}

function touchedBy(scene: Scene, world: Hypothesis): Set<bigint> {
  const touched = new Set(world.changedTeams);
  for (const id of world.changedRoles) {
    for (const role of [scene.roles.get(id), world.roles.get(id)]) {
      for (const team of role?.teamIds ?? []) touched.add(team);
    }
  }
  return touched;
}

function groupOf(
  user: string,
  before: readonly GraphTuple[],
  after: readonly Tuple[],
  touched: ReadonlySet<bigint>,
): Group {
  const teams = [...before, ...after].filter(({ relation }) => relation === 'member').map(({ object }) => idOf(object));
  const teamIds = [...new Set(teams)];
  return {
    representative: user,
    users: [user],
    before,
    after,
    teamIds,
    isTouched: teamIds.some((id) => touched.has(id)),
    isAdmin: before.some(isOffice),
  };
}

function withoutOffice({ before, after, ...group }: Group, place: number): Group {
  const representative = `user:plain-${place}`;
  const asMember = (tuples: readonly Tuple[]) =>
    tuples.filter((tuple) => !isOffice(tuple)).map((tuple) => ({ ...tuple, user: representative }));
  return { ...group, representative, users: [], before: asMember(before), after: asMember(after), isAdmin: false };
}

function isOffice({ object }: Tuple): boolean {
  return object.startsWith('platform:');
}

function keyOf(tuples: readonly Tuple[]): string {
  const texts = tuples.map(({ object, relation }) => `${object}#${relation}`);
  return texts.length === 1 ? (texts[0] ?? '') : texts.sort().join(' ');
}
