import { createPace } from '../base/slices.ts';
import { structureOf } from '../changes/derived-tuples.ts';
import { allowed, check } from '../rebac/engine.ts';
import { roleTuples } from '../roles/role-preview.ts';
import type { Crowd, Group } from './crowd.ts';
import type { Hypothesis } from './hypothesis.ts';
import type { Kin, ObjectClasses } from './object-classes.ts';
import type { Scene } from './scene.ts';

/** What each group holds on each object that was asked about. */
export type Holdings = ReadonlyMap<Group, ReadonlyMap<string, readonly string[]>>;

/** What somebody can do, or could do, on an object. */
export interface Held {
  readonly object: string;
  readonly relation: string;
}

export const SHOWN = { prefix: 'can_' };

export type Comparison = Awaited<ReturnType<typeof compareHoldings>>;

/** What everybody holds, before and after the changes. Afterwards, the graph of the scene is as it was before them. */
export async function compareHoldings(
  scene: Scene,
  world: Hypothesis,
  { groups, plainAdmins, touchedTeams }: Crowd,
  objects: ObjectClasses | undefined,
) {
  const { graph, organizationId } = scene;
  const organization = `organization:${organizationId}`;
  const all = [...groups, ...plainAdmins];
  const moving = all.filter(({ before, after }) => before !== after);
  const shifting = (objects?.kin ?? []).filter(({ before, after }) => before !== after);
  /** Objects that a group may hold something on by itself. */
  const own = new Map(
    all.map((group) => [group, group.isTouched && objects ? objects.ownOf(group.teamIds, touchedTeams) : []]),
  );
  const samples = (objects?.classes ?? []).map(({ sample }) => sample);
  const pace = createPace();

  for (const { sample, tuples } of objects?.classes ?? []) graph.replaceSource(sample, tuples);
  for (const { representative, after } of all) {
    graph.replaceSource(representative, after);
    await pace();
  }
  const after = await holdings();
  await enter('before');
  const before = await holdings();
  return {
    before,
    after,
    own: own as ReadonlyMap<Group, readonly string[]>,
    samples,
    enter,
    inGraph,
    nobodyCan,
    wasSeenBy,
  };

  async function holdings(): Promise<Holdings> {
    const found = new Map<Group, ReadonlyMap<string, readonly string[]>>();
    for (const group of all) {
      const asked = askedOf(group);
      if (asked.length === 0) continue;
      const answers = new Map<string, readonly string[]>();
      for (const object of asked) {
        answers.set(object, allowed(graph, group.representative, object, SHOWN));
        await pace();
      }
      found.set(group, answers);
    }
    return found;
  }

  /** To those whom no change is about, only objects that change themselves can make a difference. */
  function askedOf(group: Group): string[] {
    if (group.isTouched) {
      return [organization, ...samples, ...(own.get(group) ?? [])];
    }
    return [...new Set(shifting.flatMap(samplesOf))];
  }

  async function enter(moment: 'before' | 'after'): Promise<void> {
    const { teams, roles } = moment === 'before' ? scene : world;
    for (const id of world.changedTeams) {
      const team = teams.get(id);
      graph.replaceSource(`team:${id}`, team ? structureOf(organizationId, team) : []);
    }
    for (const id of world.changedRoles) {
      const role = roles.get(id);
      graph.replaceSource(`role:${id}`, role ? roleTuples(organizationId, id, role) : []);
      await pace();
    }
    for (const group of moving) {
      graph.replaceSource(group.representative, group[moment]);
      await pace();
    }
  }

  /** Which of these nobody could do after the changes, apart from site administrators. */
  async function nobodyCan(candidates: readonly Held[]): Promise<Held[]> {
    if (candidates.length === 0) return [];
    await enter('after');
    const likely = [...plainAdmins, ...groups.filter(({ isAdmin }) => !isAdmin)];
    // Owners can do nearly everything, so they are asked first.
    const isOwner = ({ teamIds }: Group) => teamIds.some((id) => world.teams.get(id)?.permission === 'owner');
    likely.sort((a, b) => Number(isOwner(b)) - Number(isOwner(a)));
    const found: Held[] = [];
    for (const held of candidates) {
      let isHeld = false;
      for (const { representative } of likely) {
        isHeld = check(graph, { user: representative, relation: held.relation, object: inGraph(held.object, 'after') });
        if (isHeld) break;
        await pace();
      }
      if (!isHeld) found.push(held);
    }
    await enter('before');
    return found;
  }

  /** Whether the caller may see an object now. What the changes create is no secret to them. */
  function wasSeenBy(user: string, object: string): boolean {
    const kin = objects?.kinOf.get(object);
    if (kin && !kin.before) return true;
    return check(graph, { user, relation: 'can_view', object: inGraph(object, 'before') });
  }

  /** Teams and roles are in the graph themselves, and of other objects one of each class. */
  function inGraph(object: string, moment: 'before' | 'after'): string {
    if (object.startsWith('team:') || object.startsWith('role:')) return object;
    return objects?.kinOf.get(object)?.[moment]?.sample ?? object;
  }
}

export function samplesOf({ before, after }: Kin): string[] {
  return [before, after].flatMap((one) => (one ? [one.sample] : []));
}
