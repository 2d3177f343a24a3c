import { idOf } from '../../authz/object-ref.ts';
import { faultInNamespaces } from '../../authz/places/namespaces.ts';
import { effectiveOn } from '../../authz/places/places.ts';
import { AppError, invalidField, missingRelation } from '../../base/errors.ts';
import { endsBefore, requireExpiryTerm } from '../../base/expiry.ts';
import { readLineField } from '../../base/fields.ts';
import type { Reason } from '../../base/reasons.ts';
import type { PlaceType, ResourceType } from '../../changes/object-kinds.ts';
import { noTeam } from '../../organizations/teams.ts';
import { requireRoomForTeams, roleNotFound } from '../../roles/roles.ts';
import type { AssignmentState, RoleState } from '../../simulation/organization-state.ts';
import { errorIn, inField, rejected } from './change-errors.ts';
import { type Changing, requireFewer, requireOn } from './changing.ts';
import { giftOf, placeIn, rejectGiving } from './giving.ts';
import type { ChangeOf, PlannedReference } from './planned-change.ts';
import { entriesOf, withPermissions } from './role-changes.ts';

const MAX_SET_NAME = 255;
/** Objects that roles can be assigned on and that are looked up by their names. */
const NOT_FOUND: Readonly<Record<Extract<ResourceType, PlaceType>, Reason>> = {
  cluster: 'cluster_not_found',
  contract: 'contract_not_found',
  robot_ac: 'robot_not_found',
};

export async function createAssignment(changing: Changing, change: ChangeOf<'assignment.create'>): Promise<void> {
  const { simulation, noted, limits, now } = changing;
  requireOn(changing, 'assigner', 'assign_roles:org');
  const namespaces = readNamespaces(change);
  const expiresAt = requireExpiryTerm(change.term, now) ?? null;
  const role = roleFor(changing, change.role);
  const to = await principalFor(changing, change.to);
  const on = await placeFor(changing, change.on);
  if (to === undefined || (to.startsWith('user:') && !simulation.isMember(to))) throw notAMember();
  const { effective } = effectiveOn(placeIn(simulation, on, namespaces), entriesOf(role));
  if (effective.length === 0) {
    throw invalidWith('role', `the role ${role.name} has no permission that concerns this object`, 'no_effect');
  }
  const made = { roleId: role.id, to, on, namespaces, expiresAt };
  noted('role', () => rejectGiving(changing, [giftOf(changing, made)]));
  noted('action', () => requireNew(changing, made, role));
  const all = [...simulation.assignments.values(), ...simulation.teamRoles.values()];
  noted('to', () => requireFewer(changing, all.filter((one) => one.to === to).length, 'assignmentsPerPrincipal'));
  noted('action', () => requireFewer(changing, all.length, 'assignmentsPerOrganization'));
  const teamId = to.startsWith('team:') && on === undefined ? idOf(to) : undefined;
  if (teamId === undefined) {
    simulation.putAssignment(made);
    return;
  }
  const next = { ...role, teamIds: [...role.teamIds, teamId], teamExpiries: withEnd(role, teamId, expiresAt) };
  noted('to', () => requireRoomForTeams(limits, withPermissions(next), withPermissions(role)));
  simulation.putRole(next, role.id);
  simulation.noteTeamRole(made);
}

export function updateAssignment(changing: Changing, { id, term }: ChangeOf<'assignment.update'>): void {
  const { simulation, noted, now } = changing;
  const present = assignmentFor(changing, id);
  requireOn(changing, 'assigner', 'assign_roles:org');
  requireExpiryTerm(term, now);
  if (term === undefined || term?.getTime() === present.expiresAt?.getTime()) return;
  if (endsBefore(present.expiresAt, term)) {
    noted('expires_at', () => rejectGiving(changing, [giftOf(changing, { ...present, expiresAt: term })]));
  }
  const role = simulation.roles.get(present.roleId);
  if (!simulation.teamRoles.has(id)) simulation.putAssignment({ ...present, expiresAt: term }, id);
  else if (role) simulation.putRole({ ...role, teamExpiries: withEnd(role, idOf(present.to), term) }, role.id);
}

export function removeAssignment(changing: Changing, { id }: ChangeOf<'assignment.delete'>): void {
  const { simulation } = changing;
  const present = assignmentFor(changing, id);
  if (present.to !== simulation.caller) requireOn(changing, 'assigner', 'assign_roles:org');
  const role = simulation.roles.get(present.roleId);
  if (!simulation.teamRoles.has(id)) simulation.removeAssignment(id);
  else if (role)
    simulation.putRole({ ...role, teamIds: role.teamIds.filter((team) => team !== idOf(present.to)) }, role.id);
}

/** The set of a cluster decides who reaches it. */
export function updateCluster(changing: Changing, { id, setName, isGoverned }: ChangeOf<'cluster.update'>): void {
  const { simulation, noted } = changing;
  const cluster = `cluster:${id}`;
  if (!simulation.copy.objects.has(cluster) || !simulation.holds('can_view', cluster)) throw notFound('id', 'cluster');
  if (!simulation.holds('can_edit', cluster)) throw missingRelation('edit:cluster');
  if (isGoverned && !simulation.holds('can_administer', cluster)) {
    throw missingRelation('can_administer', ': it decides who can do what in the cluster');
  }
  if (setName === undefined) return;
  const name = inField('cluster', () => readLineField('clusterSetName', setName, MAX_SET_NAME));
  const set = name === '' ? undefined : simulation.setNamed(name);
  if (simulation.setOf(cluster) === (set === undefined ? undefined : `cluster_set:${set}`)) return;
  if (!simulation.holds('assigner')) {
    throw missingRelation('can_assign_roles', ': the set of a cluster decides who reaches it');
  }
  const given = simulation.assignments.values().filter(({ on }) => on === `cluster_set:${set}`);
  const gifts = [...given].map((one) => giftOf(changing, { ...one, on: cluster }));
  noted('cluster.clusterSetName', () => rejectGiving(changing, gifts));
  simulation.moveCluster(cluster, set);
}

/** What the caller may not see does not exist for them. */
function assignmentFor({ simulation }: Changing, id: bigint): AssignmentState {
  const ofTeam = simulation.teamRoles.get(id);
  const team = ofTeam && idOf(ofTeam.to);
  const found = ofTeam ? asTeamHasIt(simulation, ofTeam) : simulation.assignments.get(id);
  const isOwn = team === undefined ? simulation.holds('can_view', `assignment:${id}`) : isIn(simulation, team);
  if (found && (isOwn || simulation.holds('can_view_roles'))) return found;
  throw errorIn('id', new AppError('notFound', 'assignment does not exist', { reason: 'assignment_not_found' }));
}

/** The role has when it ends. */
function asTeamHasIt({ roles }: Changing['simulation'], one: AssignmentState): AssignmentState | undefined {
  const [role, team] = [roles.get(one.roleId), idOf(one.to)];
  return role?.teamIds.includes(team) ? { ...one, expiresAt: role.teamExpiries.get(team) ?? null } : undefined;
}

function isIn({ teams, caller }: Changing['simulation'], team: bigint): boolean {
  return teams.get(team)?.members.has(caller) ?? false;
}

function requireNew({ simulation }: Changing, made: Omit<AssignmentState, 'id'>, role: RoleState): void {
  const { roleId, to, on } = made;
  const isThere = simulation.assignments
    .values()
    .some((one) => one.roleId === roleId && one.to === to && one.on === on && isSameList(one, made));
  const isTeam = on === undefined && to.startsWith('team:') && role.teamIds.includes(idOf(to));
  if (!isThere && !isTeam) return;
  rejected(new AppError('conflict', 'the role is assigned there already', { reason: 'already_assigned' }));
}

/** As the call, which asks for the right to assign first. */
function readNamespaces({ namespaces, on }: ChangeOf<'assignment.create'>): readonly string[] | undefined {
  if (namespaces === undefined) return undefined;
  const isThere = on?.type === 'cluster' || on?.type === 'cluster_set';
  const fault = isThere ? faultInNamespaces(namespaces) : 'are for assignments on a cluster or a cluster_set';
  if (fault) throw invalidField('namespaces', `namespaces ${fault}`);
  return [...new Set(namespaces)];
}

/** In any order. All of a cluster is something else than some namespaces of it. */
function isSameList(one: Pick<AssignmentState, 'namespaces'>, other: Pick<AssignmentState, 'namespaces'>): boolean {
  return new Set(one.namespaces).symmetricDifference(new Set(other.namespaces)).size === 0;
}

function withEnd(role: RoleState, team: bigint, end: Date | null): Map<bigint, Date> {
  const ends = new Map(role.teamExpiries);
  if (end) ends.set(team, end);
  else ends.delete(team);
  return ends;
}

function roleFor({ simulation }: Changing, { id, name }: Pick<PlannedReference, 'id' | 'name'>): RoleState {
  const key = name?.toLowerCase();
  const found =
    id === undefined
      ? simulation.roles.values().find((role) => role.name.toLowerCase() === key)
      : simulation.roles.get(id);
  if (!found) throw errorIn('role', new AppError('notFound', roleNotFound().message, { reason: 'role_not_found' }));
  if (key !== undefined && found.name.toLowerCase() !== key) throw ofTwo('role');
  return found;
}

/** Undefined for an unknown user: they are no member either. */
async function principalFor(changing: Changing, reference: PlannedReference): Promise<string | undefined> {
  const { type, id, name } = reference;
  if (type === 'team') return `team:${teamFor(changing, reference, 'to')}`;
  if (type === 'robot_ac') return await objectFor(changing, reference, 'to');
  const person = name === undefined ? undefined : await changing.personNamed(name);
  if (id !== undefined && name !== undefined && person && person.id !== id) throw ofTwo('to');
  const userId = id ?? person?.id;
  return userId === undefined ? undefined : `user:${userId}`;
}

/** An object that the caller may not see does not exist for them. */
async function placeFor(changing: Changing, reference: PlannedReference | undefined): Promise<string | undefined> {
  const { simulation, organizationName } = changing;
  if (!reference) return undefined;
  const { type, id, name } = reference;
  if (type === 'organization') {
    const isThis = (id ?? simulation.organizationId) === simulation.organizationId;
    if (isThis && (name ?? organizationName).toLowerCase() === organizationName.toLowerCase()) return undefined;
    throw notFound('on', type);
  }
  if (type === 'cluster_set') return `cluster_set:${simulation.setNamed(name ?? '')}`;
  // Whether an ID and a name agree is said only of what the caller may see.
  const bare = id === undefined ? reference : { type, id };
  const object = type === 'team' ? `team:${teamFor(changing, bare, 'on')}` : await objectFor(changing, bare, 'on');
  if (!simulation.holds('can_view', object)) throw type === 'team' ? errorIn('on', noTeam()) : notFound('on', type);
  if (type === 'team') teamFor(changing, reference, 'on');
  else await objectFor(changing, reference, 'on');
  return object;
}

function teamFor({ simulation }: Changing, { id, name }: PlannedReference, field: 'to' | 'on'): bigint {
  const key = name?.toLowerCase();
  const team =
    id === undefined
      ? simulation.teams.values().find((one) => one.name.toLowerCase() === key)
      : simulation.teams.get(id);
  if (!team) throw errorIn(field, noTeam());
  if (key !== undefined && team.name.toLowerCase() !== key) throw ofTwo(field);
  return team.id;
}

async function objectFor(changing: Changing, reference: PlannedReference, field: 'to' | 'on'): Promise<string> {
  const { simulation, objectNamed } = changing;
  const { type, id, name } = reference;
  if (!Object.hasOwn(NOT_FOUND, type)) throw notFound(field, type);
  const named = name === undefined ? undefined : await objectNamed(simulation.organizationId, type, name);
  if (id !== undefined && name !== undefined && named !== id && simulation.copy.objects.has(`${type}:${id}`)) {
    throw ofTwo(field);
  }
  const object = `${type}:${id ?? named ?? 0n}`;
  if (!simulation.copy.objects.has(object)) throw notFound(field, type);
  return object;
}

function notFound(field: string, type: string): AppError {
  const reason =
    (NOT_FOUND as Readonly<Record<string, Reason>>)[type] ??
    (type === 'organization' ? 'organization_not_found' : 'not_found');
  return errorIn(field, new AppError('notFound', `${type.slice(0, 40)} does not exist`, { reason }));
}

function notAMember(): AppError {
  return invalidWith('to', 'to must be a member of the organization', 'not_a_member');
}

function ofTwo(field: string): AppError {
  return invalidField(field, `${field} has an id and a name of two`);
}

function invalidWith(field: string, message: string, reason: Reason): AppError {
  return new AppError('malformed', message, { reason, errors: [{ field, message }] });
}
