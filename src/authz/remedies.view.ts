import Type from 'typebox';
import { OBJECT_TYPES } from '../changes/object-kinds.ts';
import { documented, Int64, named } from '../http/wire/schemas.ts';
import type { Remedy, WireChange } from './remedies.ts';

const Pair = named('Permission', Type.Object({ namespace: Type.String(), action: Type.String() }));

const SuggestedChange = named(
  'SuggestedChange',
  Type.Object({
    action: Type.String({
      enum: ['role.create', 'role.update', 'role.assign', 'team.add_member'],
      description: 'What to do.',
    }),
    id: Type.Optional(documented(Int64, { description: 'The role, or the team of team.add_member.' })),
    team: Type.Optional(documented(Int64, { description: 'The team that a role is assigned to.' })),
    username: Type.Optional(Type.String({ description: 'The user who joins the team.' })),
    role: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(Type.String({ description: 'A name that no role has that the caller may see.' })),
          permissions: Type.Array(Pair, { description: 'All permissions of the role.' }),
          teamIDs: Type.Optional(Type.Array(Int64, { description: 'The teams of the new role.' })),
        },
        { description: 'The new role, or what changes of the role.' },
      ),
    ),
  }),
);

export const RemedyResponse = named(
  'Remedy',
  Type.Object({
    change: Type.Object(
      { changes: Type.Array(SuggestedChange, { description: 'The changes.' }) },
      { description: 'One change or several, to be made in this order.' },
    ),
    sentence: Type.String({ description: 'The changes as one sentence.' }),
    gains: Type.Integer({
      description: 'How many further permissions of the organization the user would get, apart from leaving it.',
    }),
    others: Type.Integer({ description: 'How many other users would get a permission of the organization.' }),
    allowed: Type.Boolean({ description: 'Whether the caller may make these changes.' }),
    required: Type.Object(
      {
        objectType: Type.String({ enum: OBJECT_TYPES }),
        objectID: Int64,
        relation: Type.String({ description: 'The relation on that object.' }),
      },
      { description: 'What has to be held to make the last change: the principals of it may be able to.' },
    ),
  }),
);

export function presentRemedy({ changes, sentence, gains, others, isAllowed, required }: Remedy) {
  const { object, relation } = required;
  return {
    change: { changes: changes.map(presentChange) },
    sentence,
    gains,
    others,
    allowed: isAllowed,
    required: { objectType: object.type, objectID: object.id, relation },
  };
}

function presentChange(change: WireChange) {
  if (!('role' in change)) return change;
  const { role, ...rest } = change;
  const permissions = role.permissions.map(({ namespace, action }) => ({ namespace, action }));
  return {
    ...rest,
    role: 'name' in role ? { name: role.name, permissions, teamIDs: [...role.teamIDs] } : { permissions },
  };
}
