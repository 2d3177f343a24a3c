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
const ASSIGNMENTS = sql(
  'simulation.assignments',
  `select id, role_id, to_type || ':' || to_id as "to",
          case on_type when 'organization' then null else on_type || ':' || on_id end as "on", namespaces, expires_at
     from assignment where organization_id = $1`,
);
const SETS = sql('simulation.sets', 'select id, name from cluster_set where organization_id = $1');

interface PlacedRow {
  id: bigint;
  role_id: bigint;
  to: string;
  on: string | null;
  namespaces: string[] | null;
  expires_at: Date | null;
}
type Ending<Row> = (Row & { expires_at: Date }) | ({ [Key in keyof Row]: null } & { expires_at: null });
type TeamRow = { id: bigint; name: string } & Ending<{ account_id: bigint }>;
type RoleRow = { id: bigint; name: string; description: string } & Ending<{ team_id: bigint }>;

export function createSimulationStore(db: Db): SimulationStore {
  return {
    async details(organizationId) {
      const teams = await db.query<TeamRow>(TEAMS, [organizationId]);
      const roles = await db.query<RoleRow>(ROLES, [organizationId]);
      const assignments = await db.query<PlacedRow>(ASSIGNMENTS, [organizationId]);
      return {
        assignments: assignments.map(({ role_id: roleId, expires_at: expiresAt, on, namespaces, ...row }) => ({
          ...row,
          roleId,
          expiresAt,
          on: on ?? undefined,
          namespaces: namespaces ?? undefined,
        })),
        sets: await db.query<{ id: bigint; name: string }>(SETS, [organizationId]),
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
