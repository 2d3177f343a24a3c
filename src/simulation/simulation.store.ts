import { type Db, sql } from '../db/db.ts';
import type { SimulationStore } from './simulation.ts';

/** One row for each membership that ends, at least one for each team. */
const TEAMS = sql(
  'simulation.teams',
  `select t.id, t.name, m.account_id, m.expires_at from team t
     left join team_member m on m.team_id = t.id and m.expires_at is not null where t.organization_id = $1`,
);
/** The same of roles and assignments. */
const ROLES = sql(
  'simulation.roles',
  `select r.id, r.name, r.description, x.team_id, x.expires_at from role r
     left join assignment x on x.role_id = r.id and x.team_id is not null and x.expires_at is not null
    where r.organization_id = $1`,
);

type Ending<Row> = (Row & { expires_at: Date }) | ({ [Key in keyof Row]: null } & { expires_at: null });
type TeamRow = { id: bigint; name: string } & Ending<{ account_id: bigint }>;
type RoleRow = { id: bigint; name: string; description: string } & Ending<{ team_id: bigint }>;

export function createSimulationStore(db: Db): SimulationStore {
  return {
    async details(organizationId) {
      const teams = await db.query<TeamRow>(TEAMS, [organizationId]);
      const roles = await db.query<RoleRow>(ROLES, [organizationId]);
      return {
        teams,
        roles,
        memberEnds: teams.flatMap(({ id: teamId, account_id: userId, expires_at: expiresAt }) =>
          expiresAt ? [{ teamId, userId, expiresAt }] : [],
        ),
        roleEnds: roles.flatMap(({ id: roleId, team_id: teamId, expires_at: expiresAt }) =>
          expiresAt ? [{ roleId, teamId, expiresAt }] : [],
        ),
      };
    },
  };
}
