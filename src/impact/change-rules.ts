import { type RoleGrant, rejectEscalation } from '../authz/escalation.ts';
import { type Limits, limitReached } from '../base/config/limits.ts';
import { AppError, missingRelation, reasonOf } from '../base/errors.ts';
import { endsBefore, requireExpiryTerm, type Term } from '../base/expiry.ts';
import type { Reason } from '../base/reasons.ts';
import { createPace } from '../base/slices.ts';
import { hasLastOwner, RELATION_OF } from '../changes/derived-tuples.ts';
import { refusalOf } from '../guardrails/verdict.ts';
import type { Permission } from '../identity/callers.ts';
import {
  extendsOwnTerm,
  FIRST_TEAM,
  needsLastingOwner,
  notInFirstTeam,
  settle,
  unknown,
} from '../organizations/members.ts';
import { builtIn, nameTaken, noTeam, readName, readPermission } from '../organizations/teams.ts';
import { readDocument } from '../roles/role-document.ts';
import {
  type GuardrailReader,
  readRoles,
  rejectEscalations,
  requireRelations,
  requireRoom,
} from '../roles/role-file.ts';
import { planFor } from '../roles/role-plan.ts';
import { readYaml } from '../roles/role-yaml.ts';
import {
  draftOf,
  grantedAnew,
  type RoleDraft,
  type RoleInput,
  requireRoomForTeams,
  roleNotFound,
  settled,
} from '../roles/roles.ts';
import { about, at, inField, inFieldSoon, refuse } from './change-faults.ts';
import { adoptGuardrails } from './file-guardrails.ts';
import type { Hypothesis } from './hypothesis.ts';
import type { PlannedChange, Refusal } from './planned-change.ts';
import type { Rehearsal } from './rehearsal.ts';
import type { RoleState } from './scene.ts';
import { hasOthers, isLastOwner, type TeamState } from './team-state.ts';

export interface ChangeParts {
  readonly organizationName: string;
  readonly limits: Limits;
  readonly rehearsal: Pick<Rehearsal, 'refused' | 'guardrails' | 'adopt'>;
  readonly readGuardrails: GuardrailReader['read'];
  readonly personNamed: (name: string) => Promise<{ readonly id: bigint } | undefined>;
}

/** Rejections that say what is wrong with the outcome, not with the question: the impact is shown next to them. */
const SHOWN_WITH_IMPACT: ReadonlySet<Reason> = new Set([
  'last_owner',
  'escalation',
  'conflict',
  'name_taken',
  'limit_reached',
]);

/**
 * Makes planned changes in a hypothesis, one after the other, by the rules of the calls that would really make them. What
 * such a call would not even find, or the caller may not do, is rejected here as well. Anything else that it would reject
 * is noted, and the change is made all the same, because what it would do is the reason to reject it. It is then the last
 * one: nothing may follow from a change that cannot be made.
 */
export async function makeChanges(
  world: Hypothesis,
  changes: readonly PlannedChange[],
  { organizationName, limits, personNamed, rehearsal, readGuardrails }: ChangeParts,
): Promise<Refusal[]> {
  const refusals: Refusal[] = [];
  const pace = createPace();
  const now = new Date();
  let place = 0;
  for (const change of changes) {
    await about(place, () => make(change));
    await inspect();
    if (refusals.length > 0) break;
    place++;
    await pace();
  }
  return refusals;

  function make(change: PlannedChange): void | Promise<void> {
    switch (change.action) {
      case 'role.create':
        return createRole(change.role);
      case 'role.update':
        return updateRole(roleWith(change.id, 'edit:role'), change.role);
      case 'role.delete':
        return world.removeRole(roleWith(change.id, 'delete:role').id);
      case 'role.assign':
      case 'role.unassign':
        return assign(change);
      case 'team.create':
        return createTeam(change);
      case 'team.update':
        return updateTeam(change);
      case 'team.delete':
        return removeTeam(change.id);
      case 'team.add_member':
        return addToTeam(teamWith(change.id, 'can_add_member', 'add_member:team'), change.username, change.term);
      case 'team.remove_member':
        return removeFromTeam(change.id, change.username);
      case 'member.add':
        return addMember(change.username, change.teamName, change.term);
      case 'member.remove':
        return removeMember(change.username, change.orphans);
      case 'roles.import':
        return importRoles(change.document, change.prunes);
    }
  }

  /** What the guardrails say to the call that has just been made, unless they refused one before. */
  async function inspect(): Promise<void> {
    if (refusals.some(({ guardrail }) => guardrail)) return;
    for (const told of await rehearsal.refused()) {
      const { message, detail } = refusalOf(told);
      const field = `changes[${place}].action`;
      refusals.push({ change: place, field, reason: 'guardrail_violated', message, ...detail });
    }
  }

  function createRole(input: RoleInput): void {
    requireOn('can_create_role', 'create_role:org');
    const draft = inField('role', () => draftOf(undefined, { name: '', ...input }));
    requireTeams(draft);
    noted('role', () => requireRoomForTeams(limits, draft));
    noted('role.permissions', () => rejectEscalation(draft.permissions, world.held()));
    noted('role.name', () => requireRoleName(draft.name));
    noted('action', () => requireFewer(world.roles.size, 'rolesPerOrganization'));
    world.putRole(draft);
  }

  function updateRole(current: RoleState, input: RoleInput, field = 'role'): void {
    const next = inField('role', () => draftOf(current, input));
    requireTeams(next);
    noted(field, () => requireRoomForTeams(limits, next, current));
    noted(field, () => rejectEscalation(grantedAnew(current, next), world.held()));
    noted('role.name', () => requireRoleName(next.name, current.id));
    world.putRole(next, current.id);
  }

  function assign(change: Extract<PlannedChange, { action: 'role.assign' | 'role.unassign' }>): void {
    const { action, id, teamId } = change;
    teamWith(teamId, 'can_view', 'view:team', 'team');
    const term = action === 'role.assign' ? requireExpiryTerm(change.term, now) : undefined;
    requireOn('can_edit_roles', 'edit_roles:org');
    const role = world.roles.get(id);
    if (!role) throw at('id', roleNotFound());
    const hasIt = role.teamIds.includes(teamId);
    if (action === 'role.assign') {
      const isSame = term === undefined || term?.getTime() === role.teamExpiries.get(teamId)?.getTime();
      const terms = term === undefined ? undefined : new Map([[teamId, term]]);
      if (!hasIt || !isSame) updateRole(role, { teamIds: [...role.teamIds, teamId], terms }, 'team');
      return;
    }
    if (!hasIt) throw at('team', new AppError('notFound', 'the team does not have this role'));
    updateRole(role, { teamIds: role.teamIds.filter((other) => other !== teamId) }, 'team');
  }

  async function createTeam({ team, members }: Extract<PlannedChange, { action: 'team.create' }>): Promise<void> {
    requireOn('can_create_team', 'create_team:org');
    const permission = inField('team', () => readPermission(team.permission ?? 'read'));
    const name = inField('team', () => readName(team.name));
    noted('team.permission', () => rejectGrant({ permission, roles: [] }));
    noted('team.name', () => requireTeamName(name));
    noted('action', () => requireFewer(world.teams.size, 'teamsPerOrganization'));
    const { id } = world.createTeam({ name, permission, isBuiltIn: false });
    // Each of its members is added by a call of its own.
    for (const username of members) {
      await inspect();
      await addToTeam(teamWith(id, 'can_add_member', 'add_member:team'), username, undefined, 'team.members');
    }
  }

  function updateTeam({ id, team: input }: Extract<PlannedChange, { action: 'team.update' }>): void {
    const current = teamWith(id, 'can_edit', 'edit:team');
    const isNamed = input.name !== undefined && input.name !== current.name;
    const isChanged = input.permission !== undefined && input.permission !== current.permission;
    const name = isNamed ? inField('team', () => readName(input.name ?? '')) : current.name;
    const permission = isChanged
      ? inField('team', () => readPermission(input.permission ?? 'none'))
      : current.permission;
    if (isChanged) noted('team.permission', () => rejectGrant({ permission, roles: [] }));
    if (current.isBuiltIn && (name !== current.name || isChanged)) {
      noted('id', () => refuse(builtIn(current, 'must keep its name and permission')));
    }
    if (isNamed) noted('team.name', () => requireTeamName(name, id));
    world.changeTeam(id, { name, permission });
  }

  async function removeTeam(id: bigint): Promise<void> {
    const team = teamWith(id, 'remover', 'delete:team');
    if (team.isBuiltIn) noted('id', () => refuse(builtIn(team, 'cannot be deleted')));
    await world.removeTeam(id);
  }

  async function addToTeam(team: TeamState, username: string, term?: Term, field = 'username'): Promise<void> {
    requireExpiryTerm(term, now);
    const user = await userNamed(username, field);
    const isHost = world.isMember(user) || world.holds('can_add_member') || world.holds('steward', `team:${team.id}`);
    if (!isHost) throw missingRelation('add_member:org');
    addTo(team, user, term);
  }

  function addTo(team: TeamState, user: string, term: Term): void {
    noted('id', () => rejectGrant({ permission: team.permission, roles: grantsOf(team) }));
    if (term && team.permission === 'owner' && !hasOthers(team, user)) {
      noted('expires_at', () => refuse(needsLastingOwner()));
    }
    if (team.members.has(user)) {
      if (term !== undefined) changeEnd(team, user, term);
      return;
    }
    noted('id', () => requireFewer(team.members.size, 'membersPerTeam'));
    if (!world.isMember(user)) noted('username', () => requireFewer(world.memberCount(), 'membersPerOrganization'));
    world.join(team.id, user, term);
  }

  function changeEnd(team: TeamState, user: string, term: Date | null): void {
    const present = team.ends.get(user) ?? null;
    const isSelf = user === world.caller;
    // What was noted about this change is the answer of its call.
    if (refusals.length === 0) {
      const mayEnd = isSelf || world.holds('can_remove_member', `team:${team.id}`) || world.holds('can_remove_member');
      if (endsBefore(term, present) && !mayEnd) throw missingRelation('remove_member:team');
      if (endsBefore(present, term) && isSelf) throw extendsOwnTerm();
    }
    if (term?.getTime() !== present?.getTime()) world.join(team.id, user, term);
  }

  async function removeFromTeam(id: bigint, username: string): Promise<void> {
    const team = world.teams.get(id);
    if (team && hasLastOwner(team) && world.wouldHoldUnlessKept('can_remove_member', team)) {
      // The call is rejected before it looks who is to be removed.
      noted('username', () => settle('last owner', ''));
      world.leave(id, `user:${(await personNamed(username))?.id}`);
      return;
    }
    const present = teamWith(id, 'can_remove_member', 'remove_member:team');
    const user = await userNamed(username);
    if (!present.members.has(user)) throw at('username', new AppError('notFound', 'user is not in this team'));
    if (isLastOwner(present, user)) noted('username', () => settle('last owner', ''));
    world.leave(id, user);
  }

  async function addMember(username: string, teamName: string | undefined, term: Term): Promise<void> {
    requireOn('can_add_member', 'add_member:org');
    requireExpiryTerm(term, now);
    const user = await userNamed(username);
    const isPresent = teamName === undefined && world.isMember(user);
    if (isPresent && term === undefined) return;
    const wanted = (teamName ?? FIRST_TEAM).toLowerCase();
    const team = world.teams.values().find(({ name }) => name.toLowerCase() === wanted);
    if (!team) {
      const given = (teamName ?? FIRST_TEAM).slice(0, 100);
      throw at('team', new AppError('invalid', `not a team of the organization: ${given}`));
    }
    if (isPresent && !team.members.has(user)) throw notInFirstTeam();
    const isFirst = team.isBuiltIn && team.permission === 'read';
    if (!isFirst && !world.holds('can_add_member', `team:${team.id}`)) throw missingRelation('add_member:team');
    addTo(team, user, term);
  }

  async function removeMember(username: string, orphans: boolean): Promise<void> {
    const person = await personNamed(username);
    const user = `user:${person?.id}`;
    const isSelf = user === world.caller;
    if (!isSelf) requireOn('can_remove_member', 'remove_member:org');
    if (!person) throw at('username', unknown(username));
    const left = [...world.teams.values()].filter(({ members }) => members.has(user));
    if (left.length === 0) throw at('username', new AppError('notFound', 'user is not a member of this organization'));
    if (!isSelf && left.some(({ permission }) => permission === 'owner') && !world.holds('owner')) {
      throw missingRelation('remove_member:team', ': only an owner can remove an owner');
    }
    if (left.some((team) => isLastOwner(team, user)) && !(isSelf && orphans))
      noted('username', () => settle('last owner', ''));
    for (const { id } of left) world.leave(id, user);
  }

  async function importRoles(text: string, prunes: boolean): Promise<void> {
    requireOn('can_view_roles', 'view_roles:org');
    const { document, wanted } = await inFieldSoon('document', async () => {
      const read = await readDocument(await readYaml(Buffer.from(text)));
      return { document: read, wanted: await readRoles(read, organizationName, now) };
    });
    const held = world.held();
    if (document.guardrails) {
      const guarding = { world, rehearsal, readGuardrails, limits };
      noted('document', await adoptGuardrails(guarding, document.guardrails, prunes));
    }
    const teams = [...world.teams.values()];
    const names = new Map(teams.map(({ id, name }) => [id, name]));
    const roles = [...world.roles.values()].map((role) => ({
      ...role,
      teamNames: role.teamIds.map((id) => names.get(id) ?? ''),
      teamEnds: new Map([...role.teamExpiries].map(([id, end]) => [names.get(id) ?? '', end])),
    }));
    const present = { roles, teams };
    const plan = inField('document', () => planFor(present, wanted, prunes));
    requireRelations(plan, held);
    noted('document', () => rejectEscalations(plan, held));
    noted('document', () => requireRoom(plan, present, limits));
    for (const { id } of plan.deletes) world.removeRole(id);
    for (const draft of plan.creates) {
      world.putRole(draft);
      await pace();
    }
    for (const { current, next } of plan.updates) {
      world.putRole(next, current.id);
      await pace();
    }
  }

  /** As the routes of single roles do it: only those who manage roles learn that one does not exist. */
  function roleWith(id: bigint, named: 'edit:role' | 'delete:role'): RoleState {
    const isEdit = named === 'edit:role';
    const role = world.roles.get(id);
    if (role && world.holds(isEdit ? 'can_edit' : 'can_delete', `role:${id}`)) return role;
    if (world.holds(isEdit ? 'can_edit_roles' : 'can_delete_roles')) throw at('id', roleNotFound());
    throw missingRelation(named);
  }

  /** A team that the caller may not see does not exist for them. */
  function teamWith(id: bigint, relation: string, named: string, field = 'id'): TeamState {
    const team = world.teams.get(id);
    if (team && world.holds(relation, `team:${id}`)) return team;
    if (!team || !world.holds('can_view', `team:${id}`)) throw at(field, noTeam());
    throw missingRelation(named);
  }

  function requireOn(relation: string, named: string): void {
    if (!world.holds(relation)) throw missingRelation(named);
  }

  function requireTeams({ teamIds }: RoleDraft): void {
    const unknownIds = teamIds.filter((id) => !world.teams.has(id));
    if (unknownIds.length === 0) return;
    throw at('role', new AppError('invalid', `not a team of the organization: ${unknownIds.join(', ')}`));
  }

  async function userNamed(username: string, field = 'username'): Promise<string> {
    const person = await personNamed(username);
    if (!person) throw at(field, unknown(username));
    return `user:${person.id}`;
  }

  function grantsOf({ id }: TeamState): RoleGrant[] {
    const entries = [...world.roles.values()].flatMap((role) => (role.teamIds.includes(id) ? role.permissions : []));
    return [...new Set(entries)];
  }

  function rejectGrant({ permission, roles }: { permission: Permission; roles: readonly RoleGrant[] }): void {
    if (permission !== 'none' && !world.holds(RELATION_OF[permission])) {
      const message = `you cannot grant what you do not hold yourself: permission "${permission}"`;
      throw new AppError('forbidden', message, { reason: 'escalation' });
    }
    rejectEscalation(roles, world.held());
  }

  function requireRoleName(name: string, except?: bigint): void {
    const key = name.toLowerCase();
    if (world.roles.values().some((role) => role.id !== except && role.name.toLowerCase() === key)) {
      settled({ refused: 'name taken' });
    }
  }

  function requireTeamName(name: string, except?: bigint): void {
    const key = name.toLowerCase();
    if (world.teams.values().some((team) => team.id !== except && team.name.toLowerCase() === key)) throw nameTaken();
  }

  function requireFewer(count: number, limit: 'rolesPerOrganization' | TeamLimit): void {
    if (count >= limits[limit]) throw limitReached(limit, limits[limit]);
  }

  /** Notes what the call of a change would reject. */
  function noted(field: string, rule: () => void): void {
    try {
      rule();
    } catch (error) {
      if (!(error instanceof AppError) || !SHOWN_WITH_IMPACT.has(reasonOf(error))) throw error;
      refusals.push({
        change: place,
        field: `changes[${place}].${field}`,
        reason: reasonOf(error),
        message: error.message,
      });
    }
  }
}

type TeamLimit = 'teamsPerOrganization' | 'membersPerTeam' | 'membersPerOrganization';
