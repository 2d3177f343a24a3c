import Type from 'typebox';
import { Int64, named, Timestamp, timestamp } from '../http/schemas.ts';
import type { Role } from './roles.ts';

const Pair = named('Permission', Type.Object({ namespace: Type.String(), action: Type.String() }));

export const RoleResponse = named(
  'Role',
  Type.Object({
    id: Int64,
    name: Type.String(),
    owner_id: Int64,
    description: Type.String(),
    permissions: Type.Array(Pair),
    team_ids: Type.Array(Int64),
    created_at: Timestamp,
    updated_at: Timestamp,
    people: Type.Optional(
      Type.Integer({
        description:
          'In lists: how many users have the role through its teams. Only for callers who may see all teams.',
      }),
    ),
  }),
);

export function presentRole(role: Role, people?: number) {
  return {
    id: role.id,
    name: role.name,
    owner_id: role.organizationId,
    description: role.description,
    permissions: role.permissions.map(({ namespace, action }) => ({ namespace, action })),
    team_ids: [...role.teamIds],
    created_at: timestamp(role.createdAt),
    updated_at: timestamp(role.updatedAt),
    ...(people !== undefined && { people }),
  };
}
