import type { PlaceType, PrincipalType } from '../../changes/object-kinds.ts';

/** A row of `assignment`, with the names of what it is about. */
export interface AssignmentRow {
  id: bigint;
  organization_id: bigint;
  role_id: bigint;
  role_name: string;
  to_type: PrincipalType;
  to_id: bigint;
  to_name: string;
  on_type: PlaceType;
  /** 0: the organization. */
  on_id: bigint;
  on_name: string;
  /** Set if the role is one that a team has in the whole organization, so that it is a part of the role. */
  team_id: bigint | null;
  /** Names, and prefixes that end in `*`. Null: it counts for the whole object. */
  namespaces: string[] | null;
  reason: string;
  expires_at: Date | null;
}

export const TO_NAME = `case s.to_type when 'user' then (select a.name from account a where a.id = s.user_id)
     when 'team' then (select t.name from team t where t.id = s.to_id)
     else (select b.name from robot b where b.id = s.robot_id) end`;
export const ON_NAME = `case s.on_type when 'organization' then (select a.name from account a where a.id = s.organization_id)
     when 'cluster' then (select c.name from cluster c where c.id = s.on_cluster_id)
     when 'cluster_set' then (select c.name from cluster_set c where c.id = s.on_set_id)
     when 'contract' then (select c.name from contract c where c.id = s.on_contract_id)
     when 'robot_ac' then (select b.name from robot b where b.id = s.on_robot_id)
     else (select t.name from team t where t.id = s.on_team_id) end`;
/** The columns of `assignment s`. */
export const ASSIGNMENT = `s.id, s.organization_id, s.role_id, (select r.name from role r where r.id = s.role_id) as role_name,
  s.to_type, s.to_id, ${TO_NAME} as to_name, s.on_type, s.on_id, ${ON_NAME} as on_name, s.team_id, s.namespaces,
  s.reason, s.expires_at`;

/** An assignment as the audit log shows it. A set of clusters has a name and no ID. */
export function assignmentState(row: Omit<AssignmentRow, 'id' | 'organization_id' | 'team_id'>): object {
  const onId = row.on_type === 'cluster_set' || row.on_type === 'organization' ? {} : { id: row.on_id };
  return {
    roleId: row.role_id,
    role: row.role_name,
    to: { type: row.to_type, id: row.to_id, name: row.to_name },
    on: { type: row.on_type, ...onId, name: row.on_name },
    ...(row.namespaces && { namespaces: row.namespaces }),
    ...(row.reason !== '' && { reason: row.reason }),
    ...(row.expires_at && { expiresAt: row.expires_at }),
  };
}
