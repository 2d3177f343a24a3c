import Type from 'typebox';
import { Int64, named, PermissionPair, Timestamp, timestamp } from '../http/wire/schemas.ts';
import { expiryText, presentExpiry } from '../organizations/expires-at.view.ts';
import type { Role } from './roles.ts';

export const RoleResponse = named(
  'Role',
  Type.Object({
    id: Int64,
    name: Type.String(),
    owner_id: Int64,
    description: Type.String(),
    permissions: Type.Array(PermissionPair),
    team_ids: Type.Array(Int64),
    team_expiries: Type.Optional(
      Type.Array(Type.Object({ team_id: Int64, expires_at: Timestamp }), {
        description: 'When the assignments to some of the teams end by themselves. Absent if none does.',
      }),
    ),
    expires_at: Type.Optional(
      Type.Unsafe<string>({
        ...Timestamp,
        description: 'In the list of a team: when the assignment to that team ends by itself. Absent if it does not.',
      }),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
    people: Type.Optional(
      Type.Integer({
        description:
          'In lists: how many users have the role, through teams or directly, wherever it is assigned. Only for callers who may see all teams.',
      }),
    ),
  }),
);

/** @param teamId the team whose list it is shown in */
export function presentRole(role: Role, people?: number, teamId?: bigint) {
  const expiries = [...(role.teamExpiries ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    id: role.id,
    name: role.name,
    owner_id: role.organizationId,
    description: role.description,
    permissions: role.permissions.map(({ namespace, action }) => ({ namespace, action })),
    team_ids: [...role.teamIds],
    ...(expiries.length > 0 && {
      team_expiries: expiries.map(([team, end]) => ({ team_id: team, expires_at: expiryText(end) })),
    }),
    ...(teamId !== undefined && presentExpiry(role.teamExpiries?.get(teamId))),
    created_at: timestamp(role.createdAt),
    updated_at: timestamp(role.updatedAt),
    ...(people !== undefined && { people }),
  };
}
