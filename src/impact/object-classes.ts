import { createPace } from '../base/slices.ts';
import { structureOf } from '../changes/derived-tuples.ts';
import type { Tuple } from '../rebac/tuple.ts';
import { roleTuples } from '../roles/role-preview.ts';
import type { Hypothesis } from './hypothesis.ts';
import type { RoleState, Scene } from './scene.ts';
import type { TeamState } from './team-state.ts';

/**
 * Objects of one type about which the same is said, apart from who is in which team. To everybody whose teams they have
 * nothing to do with, they are alike, so the graph has one of them.
 */
export interface ObjectClass {
  readonly type: string;
  /** The one that is in the graph. */
  readonly sample: string;
  readonly tuples: readonly Tuple[];
}

/** Objects that are alike before, and alike after the changes. */
export interface Kin {
  readonly type: string;
  /** Undefined if the changes create the objects. */
  readonly before: ObjectClass | undefined;
  /** Undefined if the changes delete them. */
  readonly after: ObjectClass | undefined;
  readonly objects: string[];
}

export interface ObjectClasses {
  readonly kin: readonly Kin[];
  readonly classes: readonly ObjectClass[];
  /** The ordinary objects of each type: the organization has them, and nothing else is said about them. */
  readonly ordinary: ReadonlyMap<string, ObjectClass>;
  readonly kinOf: ReadonlyMap<string, Kin>;
  ownOf(teamIds: readonly bigint[], touched: ReadonlySet<bigint>): string[];
}

export async function classify(scene: Scene, world: Hypothesis): Promise<ObjectClasses> {
  const { organizationId, resources } = scene;
  const ordinaryFact = `organization organization:${organizationId}`;
  const classes = new Map<string, ObjectClass>();
  const kin = new Map<string, Kin>();
  const kinOf = new Map<string, Kin>();
  const rolesOf = new Map<bigint, Set<string>>();

  for (const id of new Set([...scene.teams.keys(), ...world.teams.keys()])) {
    const facts = factsOfTeam(scene.teams.get(id));
    enter(`team:${id}`, facts, world.changedTeams.has(id) ? factsOfTeam(world.teams.get(id)) : facts);
  }
  for (const id of new Set([...scene.roles.keys(), ...world.roles.keys()])) {
    const [before, after] = [scene.roles.get(id), world.roles.get(id)];
    enter(`role:${id}`, factsOfRole(before), factsOfRole(after));
    for (const team of [...(before?.teamIds ?? []), ...(after?.teamIds ?? [])]) {
      const roles = rolesOf.get(team) ?? new Set();
      rolesOf.set(team, roles.add(`role:${id}`));
    }
  }
  // There may be a hundred thousand. About those that are ordinary, nothing is ever listed.
  const pace = createPace();
  for (const [object, facts] of resources) {
    if (facts !== ordinaryFact) enter(object, facts, facts);
    await pace();
  }
  const types = [...new Set([...kin.values()].map(({ type }) => type))];
  const ordinary = new Map(types.map((type) => [type, classOf(type, ordinaryFact)]));
  const isOrdinary = ({ type, before, after }: Kin) => before === ordinary.get(type) && after === ordinary.get(type);
  // If all objects of a type are ordinary, everything about them follows. Teams and roles may be somebody's own.
  const special = new Set(['team', 'role']);
  for (const one of kin.values()) if (!isOrdinary(one)) special.add(one.type);
  return {
    kin: [...kin.values()].filter(({ type }) => special.has(type)),
    classes: [...classes.values()].filter(({ type }) => special.has(type)),
    ordinary,
    kinOf,
    ownOf,
  };

  /**
   * What may be different for the members of these teams than for others: the teams themselves, and their roles. Where no
   * change is about the team, being in it makes a difference only if the team is not ordinary.
   */
  function ownOf(teamIds: readonly bigint[], touched: ReadonlySet<bigint>): string[] {
    const found = teamIds.flatMap((id) => {
      const team = kinOf.get(`team:${id}`);
      if (touched.has(id)) return [`team:${id}`, ...(rolesOf.get(id) ?? [])];
      return team && !isOrdinary(team) ? [`team:${id}`] : [];
    });
    return [...new Set(found)];
  }

  function enter(object: string, before: string | undefined, after: string | undefined): void {
    const type = object.slice(0, object.indexOf(':'));
    const key = `${type}|${before ?? '-'}|${after ?? '-'}`;
    let group = kin.get(key);
    if (!group) {
      group = {
        type,
        before: before === undefined ? undefined : classOf(type, before),
        after: after === undefined ? undefined : classOf(type, after),
        objects: [],
      };
      kin.set(key, group);
    }
    group.objects.push(object);
    kinOf.set(object, group);
  }

  function classOf(type: string, facts: string): ObjectClass {
    const key = `${type}|${facts}`;
    const known = classes.get(key);
    if (known) return known;
    const sample = `${type}:class-${classes.size}`;
    const tuples = facts.split(',').map((fact) => {
      const [relation = '', user = ''] = fact.split(' ');
      return { object: sample, relation, user };
    });
    const fresh = { type, sample, tuples };
    classes.set(key, fresh);
    return fresh;
  }

  function factsOfTeam(team: TeamState | undefined): string | undefined {
    return team && factsAbout(`team:${team.id}`, structureOf(organizationId, team));
  }

  function factsOfRole(role: RoleState | undefined): string | undefined {
    // Which teams have the role matters to their members only, and for those the role is looked at by itself.
    return role && factsAbout(`role:${role.id}`, roleTuples(organizationId, role.id, { permissions: [], teamIds: [] }));
  }
}

function factsAbout(name: string, tuples: readonly Tuple[]): string {
  return tuples
    .filter(({ object }) => object === name)
    .map(({ relation, user }) => `${relation} ${user}`)
    .sort()
    .join(',');
}
