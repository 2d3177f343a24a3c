import { rejectEscalation } from '../../authz/escalation.ts';
import { AppError, missingRelation } from '../../base/errors.ts';
import { requireExpiryTerm } from '../../base/expiry.ts';
import { CATALOG, type CatalogEntry } from '../../roles/catalog.ts';
import {
  draftOf,
  grantedAnew,
  type RoleDraft,
  type RoleInput,
  requireRoomForTeams,
  roleNotFound,
  settled,
} from '../../roles/roles.ts';
import type { RoleState } from '../../simulation/organization-state.ts';
import { errorIn, inField } from './change-errors.ts';
import { type Changing, requireFewer, requireOn, teamWith } from './changing.ts';
import type { ChangeOf } from './planned-change.ts';

export function createRole(changing: Changing, { role: input }: ChangeOf<'role.create'>): void {
  const { simulation, limits, noted } = changing;
  requireOn(changing, 'can_create_role', 'create_role:org');
  const draft = inField('role', () => draftOf(undefined, { name: '', ...input }));
  requireTeams(changing, draft);
  noted('role', () => requireRoomForTeams(limits, draft));
  noted('role.permissions', () => rejectEscalation(draft.permissions, simulation.held()));
  noted('role.name', () => requireRoleName(changing, draft.name));
  noted('action', () => requireFewer(changing, simulation.roles.size, 'rolesPerOrganization'));
  simulation.putRole(withRelations(draft));
}

export function updateRole(changing: Changing, { id, role }: ChangeOf<'role.update'>): void {
  putNext(changing, roleWith(changing, id, 'edit:role'), role, 'role');
}

export function removeRole(changing: Changing, { id }: ChangeOf<'role.delete'>): void {
  changing.simulation.removeRole(roleWith(changing, id, 'delete:role').id);
}

export function assignRole(changing: Changing, change: ChangeOf<'role.assign'>): void {
  const { id, teamId } = change;
  teamWith(changing, teamId, 'can_view', 'view:team', 'team');
  const term = requireExpiryTerm(change.term, changing.now);
  const role = roleToAssign(changing, id);
  const isSame = term === undefined || term?.getTime() === role.teamExpiries.get(teamId)?.getTime();
  if (role.teamIds.includes(teamId) && isSame) return;
  const terms = term === undefined ? undefined : new Map([[teamId, term]]);
  putNext(changing, role, { teamIds: [...role.teamIds, teamId], terms }, 'team');
}

export function unassignRole(changing: Changing, { id, teamId }: ChangeOf<'role.unassign'>): void {
  teamWith(changing, teamId, 'can_view', 'view:team', 'team');
  const role = roleToAssign(changing, id);
  if (!role.teamIds.includes(teamId))
    throw errorIn('team', new AppError('notFound', 'the team does not have this role'));
  putNext(changing, role, { teamIds: role.teamIds.filter((other) => other !== teamId) }, 'team');
}

function putNext(changing: Changing, role: RoleState, input: RoleInput, field: 'role' | 'team'): void {
  const { simulation, limits, noted } = changing;
  const current = withPermissions(role);
  const next = inField('role', () => draftOf(current, input));
  requireTeams(changing, next);
  noted(field, () => requireRoomForTeams(limits, next, current));
  noted(field, () => rejectEscalation(grantedAnew(current, next), simulation.held()));
  noted('role.name', () => requireRoleName(changing, next.name, role.id));
  simulation.putRole(withRelations(next), role.id);
}

function roleToAssign(changing: Changing, id: bigint): RoleState {
  requireOn(changing, 'assigner', 'edit_roles:org');
  const role = changing.simulation.roles.get(id);
  if (!role) throw errorIn('id', roleNotFound());
  return role;
}

/** As the routes of single roles do it: only those who manage roles learn that one does not exist. */
function roleWith({ simulation }: Changing, id: bigint, named: 'edit:role' | 'delete:role'): RoleState {
  const isEdit = named === 'edit:role';
  const role = simulation.roles.get(id);
  if (role && simulation.holds(isEdit ? 'can_edit' : 'can_delete', `role:${id}`)) return role;
  if (simulation.holds(isEdit ? 'can_edit_roles' : 'can_delete_roles')) throw errorIn('id', roleNotFound());
  throw missingRelation(named);
}

function requireTeams({ simulation }: Changing, { teamIds }: RoleDraft): void {
  const unknownIds = teamIds.filter((id) => !simulation.teams.has(id));
  if (unknownIds.length === 0) return;
  throw errorIn('role', new AppError('invalid', `not a team of the organization: ${unknownIds.join(', ')}`));
}

function requireRoleName({ simulation }: Changing, name: string, except?: bigint): void {
  const key = name.toLowerCase();
  if (simulation.roles.values().some((role) => role.id !== except && role.name.toLowerCase() === key)) {
    settled({ rejected: 'name taken' });
  }
}

export function entriesOf({ relations }: Pick<RoleState, 'relations'>): CatalogEntry[] {
  return CATALOG.filter(({ relation }) => relations.includes(relation));
}

export function withPermissions(role: RoleState) {
  return { ...role, permissions: entriesOf(role) };
}

export function withRelations(draft: RoleDraft) {
  return { ...draft, relations: draft.permissions.map(({ relation }) => relation) };
}
