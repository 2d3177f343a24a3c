import { byId } from '../authz/object-ref.ts';
import { check } from '../rebac/engine.ts';
import type { Crowd, Group } from './crowd.ts';
import type { Difference } from './differences.ts';
import type { Comparison, Held } from './holdings.ts';
import type { Hypothesis } from './hypothesis.ts';
import { createEndings, type Outlook, outlooksOf, type Somebody } from './lasting.ts';
import type { ObjectClasses } from './object-classes.ts';
import { type KeptHeld, keptOf, type TimedHeld, timed } from './prospects.ts';
import type { Scene } from './scene.ts';

export interface View {
  readonly seesPeople: boolean;
  sees(object: string): boolean;
  knows(group: Group, user: string): boolean;
  /** Whether also when what they hold ends: that may depend on each of their teams. */
  knowsEnds(group: Group, user: string): boolean;
}

/**
 * What the caller may know of the answer: what changes for themselves; what changes for others if they may see the
 * members, or all the teams through which it changes; and only objects that they may see now.
 */
export function viewOf(
  { graph, organizationId }: Scene,
  { caller }: Hypothesis,
  crowd: Crowd,
  { wasSeenBy }: Comparison,
): View {
  const organization = `organization:${organizationId}`;
  const seesPeople = check(graph, { user: caller, relation: 'can_view_members', object: organization });
  const seen = new Map<string, boolean>([[organization, true]]);
  const sees = (object: string) => {
    const answer = seen.get(object) ?? wasSeenBy(caller, object);
    seen.set(object, answer);
    return answer;
  };
  const knows = ({ teamIds }: Group, user: string) => {
    if (user === caller || seesPeople) return true;
    const touched = teamIds.filter((id) => crowd.touchedTeams.has(id));
    return touched.length > 0 && touched.every((id) => sees(`team:${id}`));
  };
  const knowsEnds = ({ teamIds }: Group, user: string) =>
    user === caller || seesPeople || teamIds.every((id) => sees(`team:${id}`));
  return { seesPeople, sees, knows, knowsEnds };
}

/** What the caller is told about a person. */
export interface ShownImpact {
  readonly gains: readonly TimedHeld[];
  readonly loses: readonly TimedHeld[];
  readonly keeps: readonly KeptHeld[];
  /** How many effects on single objects are left out. */
  readonly more: number;
}

export interface Audience {
  /** Ordered by ID; those after the first thousand are left out. People who are alike share what is said. */
  readonly shown: ReadonlyMap<string, ShownImpact>;
  readonly total: number;
}

const MAX_PEOPLE = 1000;
const MAX_OBJECTS = 100;
const NOTHING = { gains: [], loses: [] };

/** Whom the changes affect, as far as the caller may know. */
export async function readAudience(
  scene: Scene,
  world: Hypothesis,
  crowd: Crowd,
  comparison: Comparison,
  objects: ObjectClasses | undefined,
  differences: ReadonlyMap<Group, Difference>,
  view: View,
): Promise<Audience> {
  const organization = `organization:${scene.organizationId}`;
  const canEnd = createEndings(scene, world);
  const affected = new Map<string, Somebody>();
  const others = new Map<string, Somebody>();
  const seen = new Map<Group, Pick<Difference, 'gains' | 'loses'>>();
  for (const group of crowd.groups) {
    const { gains, loses } = differences.get(group) ?? NOTHING;
    const isSeen = ({ object }: Held) => view.sees(object);
    const impact = { gains: gains.filter(isSeen), loses: loses.filter(isSeen) };
    seen.set(group, impact);
    const isAffected = impact.gains.length + impact.loses.length > 0;
    // Site administrators from outside are no part of the organization.
    if (group.teamIds.length === 0 || (!isAffected && !group.isTouched)) continue;
    for (const user of group.users) {
      const somebody = { user, group };
      if (!view.knows(group, user)) continue;
      if (isAffected) affected.set(user, somebody);
      else if (canEnd(somebody) && view.knowsEnds(group, user)) others.set(user, somebody);
    }
  }
  const first = [...affected.values(), ...others.values()].sort((a, b) => byId(a.user, b.user)).slice(0, MAX_PEOPLE);
  const ending = first.filter((one) => canEnd(one) && view.knowsEnds(one.group, one.user));
  const outlooks = ending.length === 0 ? new Map() : await outlooksOf(scene, world, comparison, objects, ending);
  const impacts = new Map<Group, Map<Outlook | undefined, ShownImpact>>();
  const shown = new Map<string, ShownImpact>();
  for (const { user, group } of first) {
    const impact = impactOf(group, outlooks.get(user));
    if (impact.gains.length + impact.loses.length + impact.keeps.length > 0) shown.set(user, impact);
  }
  return {
    shown,
    total:
      affected.size +
      shown
        .keys()
        .filter((user) => others.has(user))
        .toArray().length,
  };

  function impactOf(group: Group, outlook: Outlook | undefined): ShownImpact {
    const known = impacts.get(group) ?? new Map<Outlook | undefined, ShownImpact>();
    const found = known.get(outlook);
    if (found) return found;
    const { gains, loses } = seen.get(group) ?? NOTHING;
    const keeps = outlook ? keptOf(outlook, organization, objects).filter(({ object }) => view.sees(object)) : [];
    const [gained, lost] = [timed(gains, outlook, 'after', objects), timed(loses, outlook, 'before', objects)];
    const impact = shortened(gained, lost, keeps);
    impacts.set(group, known.set(outlook, impact));
    return impact;
  }
}

/** Somebody may lose sight of thousands of roles. What they gain and lose on the organization is always shown. */
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
