import { AppError, missingRelation } from '../../base/errors.ts';
import { endsBefore, requireExpiryTerm, type Term } from '../../base/expiry.ts';
import { hasLastOwner } from '../../changes/derived-tuples.ts';
import {
  extendsOwnTerm,
  FIRST_TEAM,
  needsLastingOwner,
  notInFirstTeam,
  settle,
  unknown,
} from '../../organizations/members.ts';
import { hasOthers, isLastOwner, type TeamState } from '../../simulation/organization-state.ts';
import { errorIn, rejected } from './change-errors.ts';
import { type Changing, rejectGrant, requireFewer, requireOn, teamWith, userNamed } from './changing.ts';
import { giftsOfTeam, rejectGiving } from './giving.ts';
import type { ChangeOf } from './planned-change.ts';
import { entriesOf } from './role-changes.ts';

export async function joinTeam(
  changing: Changing,
  { id, username, term }: ChangeOf<'team.add_member'>,
  field = 'username',
): Promise<void> {
  const { simulation, now } = changing;
  const team = teamWith(changing, id, 'can_add_member', 'add_member:team');
  requireExpiryTerm(term, now);
  const user = await userNamed(changing, username, field);
  const isHost =
    simulation.isMember(user) || simulation.holds('can_add_member') || simulation.holds('steward', `team:${id}`);
  if (!isHost) throw missingRelation('add_member:org');
  addTo(changing, team, user, term);
}

export async function leaveTeam(changing: Changing, change: ChangeOf<'team.remove_member'>): Promise<void> {
  const { simulation, noted, personNamed } = changing;
  const { id, username } = change;
  const team = simulation.teams.get(id);
  if (team && hasLastOwner(team) && simulation.holds('can_add_member', `team:${id}`)) {
    // The call is rejected before it looks who is to be removed.
    noted('username', () => settle('last owner', ''));
    simulation.leave(id, `user:${(await personNamed(username))?.id}`);
    return;
  }
  const present = teamWith(changing, id, 'can_remove_member', 'remove_member:team');
  const user = await userNamed(changing, username);
  if (!present.members.has(user)) throw errorIn('username', new AppError('notFound', 'user is not in this team'));
  if (isLastOwner(present, user)) noted('username', () => settle('last owner', ''));
  simulation.leave(id, user);
}

export async function addMember(changing: Changing, change: ChangeOf<'member.add'>): Promise<void> {
  const { simulation, now } = changing;
  const { username, teamName, term } = change;
  requireOn(changing, 'can_add_member', 'add_member:org');
  requireExpiryTerm(term, now);
  const user = await userNamed(changing, username);
  const isPresent = teamName === undefined && simulation.isMember(user);
  if (isPresent && term === undefined) return;
  const wanted = teamName ?? FIRST_TEAM;
  const team = simulation.teams.values().find(({ name }) => name.toLowerCase() === wanted.toLowerCase());
  if (!team) throw errorIn('team', new AppError('invalid', `not a team of the organization: ${wanted.slice(0, 100)}`));
  if (isPresent && !team.members.has(user)) throw notInFirstTeam();
  const isFirst = team.isBuiltIn && team.permission === 'read';
  if (!isFirst && !simulation.holds('can_add_member', `team:${team.id}`)) throw missingRelation('add_member:team');
  addTo(changing, team, user, term);
}

export async function removeMember(changing: Changing, change: ChangeOf<'member.remove'>): Promise<void> {
  const { simulation, noted, personNamed } = changing;
  const { username, orphans } = change;
  const person = await personNamed(username);
  const user = `user:${person?.id}`;
  const isSelf = user === simulation.caller;
  if (!isSelf) requireOn(changing, 'can_remove_member', 'remove_member:org');
  if (!person) throw errorIn('username', unknown(username));
  const left = [...simulation.teams.values()].filter(({ members }) => members.has(user));
  if (left.length === 0)
    throw errorIn('username', new AppError('notFound', 'user is not a member of this organization'));
  if (!isSelf && left.some(({ permission }) => permission === 'owner') && !simulation.holds('owner')) {
    throw missingRelation('remove_member:team', ': only an owner can remove an owner');
  }
  if (left.some((team) => isLastOwner(team, user)) && !(isSelf && orphans))
    noted('username', () => settle('last owner', ''));
  for (const { id } of left) simulation.leave(id, user);
}

function addTo(changing: Changing, team: TeamState, user: string, term: Term): void {
  const { simulation, noted } = changing;
  noted('id', () => {
    const roles = [...simulation.roles.values()].filter(({ teamIds }) => teamIds.includes(team.id));
    rejectGrant(changing, team.permission, [...new Set(roles.flatMap(entriesOf))]);
    rejectGiving(changing, giftsOfTeam(changing, team.id, term ?? null));
  });
  if (term && team.permission === 'owner' && !hasOthers(team, user)) {
    noted('expires_at', () => rejected(needsLastingOwner()));
  }
  if (team.members.has(user)) {
    if (term !== undefined) changeEnd(changing, team, user, term);
    return;
  }
  noted('id', () => requireFewer(changing, team.members.size, 'membersPerTeam'));
  if (!simulation.isMember(user)) {
    noted('username', () => requireFewer(changing, simulation.memberCount(), 'membersPerOrganization'));
  }
  simulation.join(team.id, user, term);
}

function changeEnd({ simulation, isNoted }: Changing, team: TeamState, user: string, term: Date | null): void {
  const present = team.ends.get(user) ?? null;
  const isSelf = user === simulation.caller;
  // What was noted about this change is the answer of its call.
  if (!isNoted()) {
    const mayEnd =
      isSelf || simulation.holds('can_remove_member', `team:${team.id}`) || simulation.holds('can_remove_member');
    if (endsBefore(term, present) && !mayEnd) throw missingRelation('remove_member:team');
    if (endsBefore(present, term) && isSelf) throw extendsOwnTerm();
  }
  if (term?.getTime() !== present?.getTime()) simulation.join(team.id, user, term);
}
