import type { Authz } from '../authz/authz.wiring.ts';
import { createEscalationGuard } from '../authz/escalation.ts';
import type { Scope } from '../http/server.ts';
import { createAssignedNames } from '../identity/account-names/assigned-names.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import type { Users } from '../users/users.ts';
import { expireMembers } from './expired-members.store.ts';
import { memberListRoutes } from './member-list.routes.ts';
import { createMemberListStore } from './member-list.store.ts';
import { createMemberList } from './member-list.ts';
import { memberRoutes, teamMemberRoutes } from './members.routes.ts';
import { createMemberStore } from './members.store.ts';
import { createMembers } from './members.ts';
import { membershipRoutes } from './memberships.routes.ts';
import { createMembershipStore } from './memberships.store.ts';
import { createSharedOrganizations } from './memberships.ts';
import { organizationRoutes } from './organizations.routes.ts';
import { createOrganizationStore } from './organizations.store.ts';
import { createOrganizations } from './organizations.ts';
import { reservedNameRoutes } from './reserved-names/reserved-names.routes.ts';
import { createReservedNameStore } from './reserved-names/reserved-names.store.ts';
import { createReservedNames } from './reserved-names/reserved-names.ts';
import { teamRoutes } from './teams.routes.ts';
import { createTeamStore } from './teams.store.ts';
import { createTeams } from './teams.ts';

/** Organizations, their teams and their members. */
export function wireOrganizations(
  { config, db, revisions, quotas, baseUrl }: Infrastructure,
  { callers }: Identity,
  { judge, heldPlaces, shownObjects }: Pick<Authz, 'judge' | 'heldPlaces' | 'shownObjects'>,
  users: Users,
) {
  const escalation = createEscalationGuard(judge, heldPlaces.givingOfTeam);
  const { personNamed } = callers;
  revisions.addExpirer(expireMembers);
  const store = createOrganizationStore(db, revisions.write, quotas);
  const organizations = createOrganizations(store, judge, createAssignedNames(config));
  const teams = createTeams(createTeamStore(db, revisions.write, quotas), escalation);
  const memberStore = createMemberStore(db, revisions.write, quotas);
  const members = createMembers({ store: memberStore, judge, escalation, personNamed });
  const listMembers = createMemberList(createMemberListStore(db), judge, memberStore.teamNamed);
  return { organizations, teams, members, mount };

  function mount(scope: Scope): void {
    membershipRoutes(scope, createMembershipStore(db), users, baseUrl);
    organizationRoutes(scope, organizations, users, createSharedOrganizations(judge, personNamed), baseUrl);
    reservedNameRoutes(scope, createReservedNames(createReservedNameStore(db, revisions.write)), baseUrl);
    memberListRoutes(scope, listMembers, baseUrl);
    memberRoutes(scope, members);
    teamRoutes(scope, teams, shownObjects, baseUrl);
    teamMemberRoutes(scope, members, baseUrl);
  }
}
