import {
  type PermissionColumns,
  permissionColumns,
  permissionsOf,
} from '../../assignments/assignment-references.store.ts';
import type { RoleGrant, TeamGrant } from '../../authz/escalation.ts';
import { type Db, sql } from '../../db/db.ts';
import { managerOf } from '../../organizations/manager.rows.ts';
import type { ApproverStore } from './approvers.ts';

const ROLE = sql(
  'approvers.role',
  `select r.id, ${permissionColumns('r.id')} from role r where r.organization_id = $1 and r.id = $2`,
);
const TEAM = sql('approvers.team', 'select permission from team where organization_id = $1 and id = $2');
const ROLES = sql(
  'approvers.rolesOfTeam',
  `select distinct p.namespace, p.action, p.relation from assignment s join role_permission p on p.role_id = s.role_id
    where s.team_id = $1 order by p.namespace, p.action`,
);
const ASSIGNED = sql('approvers.assignedToTeam', 'select id from assignment where to_team_id = $1 order by id');
const IS_OWNERS = sql('approvers.isOwners', `select 1 as yes from team where id = $1 and permission = 'owner'`);
const MEMBERS = sql(
  'approvers.members',
  `select m.account_id from team_member m join team t on t.id = m.team_id
    where t.organization_id = $1 and t.name_key = lower($2)`,
);
const MANAGER = sql(
  'approvers.manager',
  `select ${managerOf('s')} as id from scim_user s where s.organization_id = $1 and s.account_id = $2`,
);
const INACTIVE = sql(
  'approvers.inactive',
  'select id from account where id = any($1::bigint[]) and (not active or prohibit_login)',
);

export function createApproverStore(db: Db): ApproverStore {
  return {
    async role(organizationId, id) {
      const [row] = await db.query<PermissionColumns & Record<string, unknown>>(ROLE, [organizationId, id]);
      return row && { permissions: permissionsOf(row) };
    },
    async teamGrant(organizationId, teamId) {
      const [team] = await db.query<Pick<TeamGrant, 'permission'> & Record<string, unknown>>(TEAM, [
        organizationId,
        teamId,
      ]);
      if (!team) return undefined;
      const roles = await db.query<RoleGrant & Record<string, unknown>>(ROLES, [teamId]);
      const assigned = await db.query<{ id: bigint }>(ASSIGNED, [teamId]);
      return { permission: team.permission, roles, assignmentIds: assigned.map(({ id }) => id) };
    },
    isOwnersTeam: async (id) => (await db.query(IS_OWNERS, [id])).length > 0,
    membersOf: async (organizationId, team) => {
      const rows = await db.query<{ account_id: bigint }>(MEMBERS, [organizationId, team]);
      return new Set(rows.map(({ account_id }) => account_id));
    },
    managerOf: async (organizationId, userId) => {
      const [row] = await db.query<{ id: bigint | null }>(MANAGER, [organizationId, userId]);
      return row?.id ?? undefined;
    },
    inactive: async (ids) => new Set((await db.query<{ id: bigint }>(INACTIVE, [ids])).map(({ id }) => id)),
  };
}
