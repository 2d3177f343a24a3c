import type { Directory } from '../directory/directory.group.ts';
import type { Ground } from '../ground.ts';
import type { Scope } from '../http/server.ts';
import { adminUserRoutes } from './admin-users.routes.ts';
import { createHoldings, type Judge } from './holdings.ts';
import { memberRoutes, teamMemberRoutes } from './members.routes.ts';
import { createMemberReads } from './members.store.ts';
import { createMemberRegister } from './members.ts';
import { organizationRoutes } from './organizations.routes.ts';
import { createOrganizationReads } from './organizations.store.ts';
import { createOrganizationRegister } from './organizations.ts';
import { teamRoleRoutes } from './team-roles.routes.ts';
import { createTeamRoles, type RolePort } from './team-roles.ts';
import { teamRoutes } from './teams.routes.ts';
import { createTeamReads } from './teams.store.ts';
import { createTeamRegister } from './teams.ts';
import { userRoutes } from './users.routes.ts';
import { createUserReads } from './users.store.ts';
import { createUserRegister } from './users.ts';

/** Organizations, their teams and members, and the people themselves, put together. */
export function createRegisters({ db, baseUrl }: Ground, directory: Directory, judge: Judge, roles: RolePort) {
  const holdingsOf = createHoldings(judge);
  const { members, callers } = directory;
  const organizations = createOrganizationRegister(createOrganizationReads(db), directory.organizations);
  const teams = createTeamRegister(createTeamReads(db), directory.teams, holdingsOf);
  const users = createUserRegister(createUserReads(db), directory.people, directory.personnel);
  const { personNamed } = callers;
  const register = createMemberRegister({ reads: createMemberReads(db), members, judge, holdingsOf, personNamed });

  return {
    mount(scope: Scope): void {
      organizationRoutes(scope, organizations, users, baseUrl);
      memberRoutes(scope, register, baseUrl);
      teamRoutes(scope, teams, baseUrl);
      teamMemberRoutes(scope, register, baseUrl);
      teamRoleRoutes(scope, createTeamRoles(roles, judge));
      userRoutes(scope, users, baseUrl);
      adminUserRoutes(scope, users, baseUrl);
    },
  };
}
