import { builtIn, nameTaken, readName, readPermission } from '../../organizations/teams.ts';
import { inField, rejected } from './change-errors.ts';
import { type Changing, rejectGrant, requireFewer, requireOn, teamWith } from './changing.ts';
import { joinTeam } from './member-changes.ts';
import type { ChangeOf } from './planned-change.ts';

export async function createTeam(changing: Changing, { team, members }: ChangeOf<'team.create'>): Promise<void> {
  const { simulation, noted } = changing;
  requireOn(changing, 'can_create_team', 'create_team:org');
  const permission = inField('team', () => readPermission(team.permission ?? 'read'));
  const name = inField('team', () => readName(team.name));
  noted('team.permission', () => rejectGrant(changing, permission, []));
  noted('team.name', () => requireTeamName(changing, name));
  noted('action', () => requireFewer(changing, simulation.teams.size, 'teamsPerOrganization'));
  const { id } = simulation.createTeam({ name, permission, isBuiltIn: false });
  // Each of its members is added by a call of its own.
  for (const username of members) {
    await changing.inspect();
    await joinTeam(changing, { action: 'team.add_member', id, username }, 'team.members');
  }
}

export function updateTeam(changing: Changing, { id, team: input }: ChangeOf<'team.update'>): void {
  const { simulation, noted } = changing;
  const current = teamWith(changing, id, 'can_edit', 'edit:team');
  const { name: newName = current.name, permission: newPermission = current.permission } = input;
  const [isNamed, isChanged] = [newName !== current.name, newPermission !== current.permission];
  const name = isNamed ? inField('team', () => readName(newName)) : current.name;
  const permission = isChanged ? inField('team', () => readPermission(newPermission)) : current.permission;
  if (isChanged) noted('team.permission', () => rejectGrant(changing, permission, []));
  if (current.isBuiltIn && (name !== current.name || isChanged)) {
    noted('id', () => rejected(builtIn(current, 'must keep its name and permission')));
  }
  if (isNamed) noted('team.name', () => requireTeamName(changing, name, id));
  simulation.changeTeam(id, { name, permission });
}

export async function removeTeam(changing: Changing, { id }: ChangeOf<'team.delete'>): Promise<void> {
  const team = teamWith(changing, id, 'remover', 'delete:team');
  if (team.isBuiltIn) changing.noted('id', () => rejected(builtIn(team, 'cannot be deleted')));
  await changing.simulation.removeTeam(id);
}

function requireTeamName({ simulation }: Changing, name: string, except?: bigint): void {
  const key = name.toLowerCase();
  if (simulation.teams.values().some((team) => team.id !== except && team.name.toLowerCase() === key))
    throw nameTaken();
}
