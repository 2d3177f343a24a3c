import { type Db, sql } from '../db/db.ts';
import type { SimulationStore } from './simulation.ts';

const TEAMS = sql('simulation.teams', 'select id, name from team where organization_id = $1');
const ROLES = sql('simulation.roles', 'select id, name, description from role where organization_id = $1');

const MEMBER_ENDS = sql(
  'simulation.memberEnds',
  `select m.team_id, m.account_id, m.expires_at from team_member m join team t on t.id = m.team_id
    where t.organization_id = $1 and m.expires_at is not null`,
);
const ROLE_ENDS = sql(
  'simulation.roleEnds',
  `select x.role_id, x.team_id, x.expires_at from role_team x join role r on r.id = x.role_id
    where r.organization_id = $1 and x.expires_at is not null`,
);

interface MemberEndRow {
  team_id: bigint;
  account_id: bigint;
  expires_at: Date;
}

interface RoleEndRow {
  role_id: bigint;
  team_id: bigint;
  expires_at: Date;
}

export function createSimulationStore(db: Db): SimulationStore {
  return {
    async details(organizationId) {
      const teams = await db.query<{ id: bigint; name: string }>(TEAMS, [organizationId]);
      const roles = await db.query<{ id: bigint; name: string; description: string }>(ROLES, [organizationId]);
      const members = await db.query<MemberEndRow>(MEMBER_ENDS, [organizationId]);
      const assignments = await db.query<RoleEndRow>(ROLE_ENDS, [organizationId]);
      return {
        teams,
        roles,
        memberEnds: members.map((row) => ({
          teamId: row.team_id,
          userId: row.account_id,
          expiresAt: row.expires_at,
        })),
        roleEnds: assignments.map((row) => ({
          roleId: row.role_id,
          teamId: row.team_id,
          expiresAt: row.expires_at,
        })),
      };
    },
  };
}
