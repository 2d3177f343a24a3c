import type { ExplainStore } from '../authz/explain/question.ts';
import type { PersonRef } from '../authz/explain/who-can.ts';
import { byId, idOf } from '../authz/object-ref.ts';
import { missingRelation } from '../base/errors.ts';
import { CATALOG, type CatalogEntry } from '../roles/catalog.ts';
import { draftOf, type RoleInput, roleNotFound } from '../roles/roles.ts';
import { compare, type Held } from '../simulation/comparison.ts';
import { withPermissions, withRelations } from './changes/role-changes.ts';
import type { OpenSimulation } from './impact.ts';
import { viewOf } from './visible-impact.ts';

export interface RoleEffect {
  readonly person: PersonRef;
  readonly gains: readonly CatalogEntry[];
  readonly loses: readonly CatalogEntry[];
}

export interface RoleEffects {
  /** Ordered by ID; those after the first thousand are left out. */
  readonly effects: readonly RoleEffect[];
  /** How many users are affected. */
  readonly total: number;
}

export type RolePreview = ReturnType<typeof createRolePreview>;

const MAX_LISTED = 1000;

/** Which permissions a change of one role would give to whom, and take from whom. A part of what an impact preview says. */
export function createRolePreview(open: OpenSimulation, names: Pick<ExplainStore, 'names'>) {
  return { preview };

  /** Previews creating the role if there is no ID, otherwise changing or deleting it. */
  async function preview(
    organizationId: bigint,
    callerId: bigint,
    id: bigint | undefined,
    input: RoleInput | 'delete',
  ): Promise<RoleEffects> {
    const simulation = await open(organizationId, callerId);
    const needed = id === undefined ? 'can_create_role' : input === 'delete' ? 'can_delete_roles' : 'can_edit_roles';
    if (!simulation.holds(needed)) throw missingRelation(needed);
    const current = id === undefined ? undefined : simulation.roles.get(id);
    if (id !== undefined && !current) throw roleNotFound();
    if (input !== 'delete') simulation.putRole(withRelations(draftOf(current && withPermissions(current), input)), id);
    else if (id !== undefined) simulation.removeRole(id);
    const comparison = await compare(simulation, false);
    const { seesPeople, sees } = viewOf(simulation, comparison);
    const effects = new Map<string, Omit<RoleEffect, 'person'>>();
    for (const [{ users, teamIds }, { gains, loses }] of comparison.differences) {
      const touched = teamIds.filter((team) => comparison.touchedTeams.has(team));
      // A caller who may manage roles may still not know who is in which team, except for themselves.
      const isShown = seesPeople || touched.some((team) => sees(`team:${team}`));
      const effect = { gains: entriesIn(gains), loses: entriesIn(loses) };
      if (effect.gains.length + effect.loses.length === 0) continue;
      for (const user of users) if (isShown || user === simulation.caller) effects.set(user, effect);
    }
    const listed = [...effects].sort(([one], [other]) => byId(one, other)).slice(0, MAX_LISTED);
    const known = await names.names(listed.map(([user]) => user));
    return {
      total: effects.size,
      effects: listed.map(([user, effect]) => ({
        person: { id: idOf(user), name: known.get(user) ?? '' },
        ...effect,
      })),
    };
  }
}

function entriesIn(list: readonly Held[]): CatalogEntry[] {
  return CATALOG.filter((entry) => list.some(({ relation }) => relation === entry.relation));
}
