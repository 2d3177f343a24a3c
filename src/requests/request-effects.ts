import type { Model } from '../../packages/rebac/src/rebac.ts';
import type { Graphs } from '../authz/graphs.ts';
import { IN_NAMESPACES } from '../authz/places/namespaces.ts';
import { effectiveOn, relationOn, shownRelation } from '../authz/places/places.ts';
import { OBJECT_TYPES } from '../changes/object-kinds.ts';
import type { CatalogEntry } from '../roles/catalog.ts';
import { compare } from '../simulation/comparison.ts';
import { typeOf } from '../simulation/object-classes.ts';
import { openSimulation } from '../simulation/simulation.ts';
import type { AccessRequest, RequestEffect, RequestEffects } from './access-request.ts';

/** What a change consists of, by which it is compared with what was approved. */
export interface WholeChange {
  readonly request: Pick<AccessRequest, 'organizationId' | 'by' | 'object' | 'namespaces' | 'change' | 'until'>;
  /** Of the role. Empty for a team that is joined. */
  readonly permissions: readonly CatalogEntry[];
  readonly isOwners: boolean;
  /** What the team has: its permission, its roles, its assignments. Empty for a role. */
  readonly teamHas: readonly string[];
}

/** Other parts of the graph only lead from a role to an object. No caller asks about them. */
const ASKED: ReadonlySet<string> = new Set([...OBJECT_TYPES, 'role']);

/** What a change would give and take, in a simulation, with nothing hidden. */
export function createRequestEffects(graphs: Pick<Graphs, 'eachTuple'>, model: Model) {
  return async ({ request, permissions, isOwners, teamHas }: WholeChange): Promise<RequestEffects> => {
    const { organizationId, by, object, namespaces, change, until } = request;
    const place = { type: object.type, id: object.id, isOwners, namespaces };
    const { effective } = effectiveOn(place, permissions);
    const grants = [...effective.map(({ namespace, action }) => `${namespace} ${action}`), ...teamHas];
    const subject = `${by.type}:${by.id}`;
    const simulation = await openSimulation({ graphs, model }, organizationId, numberOf(by));
    if (namespaces) {
      const on = `cluster:${object.id}`;
      const holds = (relation: string) => simulation.copy.holds(subject, relation, on);
      const relations = effective.map(({ relation }) => shownRelation(relationOn(place, relation) ?? relation));
      // Seeing the cluster at all comes with any of them.
      const isNew = (relation: string) => relation !== 'can_view' && !holds(relation);
      const given = [...new Set(relations)].filter((relation) => IN_NAMESPACES.has(relation) && isNew(relation));
      const gains: RequestEffect[] = given.map((relation) => ({ object: on, relation, namespaces }));
      if (!holds('can_view')) gains.unshift({ object: on, relation: 'can_view' });
      return { gains, loses: [], grants, total: 1 };
    }
    if (change.action === 'team.add_member') simulation.join(change.team.id, subject, until);
    else {
      const on = object.type === 'organization' ? undefined : `${object.type}:${object.id}`;
      simulation.putAssignment({ roleId: change.role.id, to: subject, on, expiresAt: until });
    }
    const { groups, differences } = await compare(simulation, true);
    const gains: RequestEffect[] = [];
    const loses: RequestEffect[] = [];
    let total = 0;
    for (const group of groups) {
      const difference = differences.get(group);
      const isOutside = group.teamIds.length === 0 && !group.isRobot;
      if (!difference || group.isAdmin || isOutside || group.users.length === 0) continue;
      if (difference.gains.length + difference.loses.length > 0) total += group.users.length;
      if (!group.users.includes(subject)) continue;
      gains.push(...difference.gains.filter(isAsked));
      loses.push(...difference.loses.filter(isAsked));
    }
    return { gains: gains.sort(byName), loses: loses.sort(byName), grants, total };
  };
}

function numberOf({ type, id }: AccessRequest['by']): bigint {
  return type === 'robot_ac' ? -id : id;
}

function isAsked({ object }: RequestEffect): boolean {
  return ASKED.has(typeOf(object));
}

function byName(one: RequestEffect, other: RequestEffect): number {
  const [first, second] = [`${one.object} ${one.relation}`, `${other.object} ${other.relation}`];
  return first < second ? -1 : first > second ? 1 : 0;
}
