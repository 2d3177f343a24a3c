import Type from 'typebox';
import { OBJECT_TYPES } from '../../changes/object-kinds.ts';
import { documentedSchema, Int64, named, PermissionPair } from '../../http/wire/schemas.ts';
import type { Remedy, WireChange } from './remedy.ts';

const SuggestedChange = named(
  'SuggestedChange',
  Type.Object({
    action: Type.String({
      enum: ['role.create', 'role.update', 'role.assign', 'team.add_member'],
      description: 'What to do.',
    }),
    id: Type.Optional(documentedSchema(Int64, { description: 'The role, or the team of team.add_member.' })),
    team: Type.Optional(documentedSchema(Int64, { description: 'The team that a role is assigned to.' })),
    username: Type.Optional(Type.String({ description: 'The user who joins the team.' })),
    role: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(Type.String({ description: 'A name that no role has that the caller may see.' })),
          permissions: Type.Array(PermissionPair, { description: 'All permissions of the role.' }),
          teamIDs: Type.Optional(Type.Array(Int64, { description: 'The teams of the new role.' })),
        },
        { description: 'The new role, or what changes of the role.' },
      ),
    ),
  }),
);

export const ForbiddingGuardrail = named(
  'ForbiddingGuardrail',
  Type.Object(
    {
      id: Int64,
      name: Type.String({ description: 'Name of the guardrail.' }),
      sentence: Type.String({ description: 'What it says, as far as the caller may see what it names.' }),
    },
    { description: 'A guardrail that keeps something from being granted.' },
  ),
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
    other_objects: Type.Integer({
      description:
        'On how many other objects of the same type the user would get the relation, too, as far as the caller may see them.',
    }),
    future_objects: Type.Boolean({
      description: 'Whether the user would also get the relation on every object of the type that is created later.',
    }),
    reach: Type.String({
      description: 'The same in words, such as: also on 1 other cluster, and every cluster to come. Empty if neither.',
    }),
    allowed: Type.Boolean({
      description: 'Whether the caller may make these changes. False if a guardrail would reject them.',
    }),
    rejected_by: Type.Optional(ForbiddingGuardrail),
    required: Type.Object(
      {
        objectType: Type.String({ enum: OBJECT_TYPES }),
        objectID: Int64,
        relation: Type.String({ description: 'The relation on that object.' }),
      },
      { description: 'The relation that the last change requires; principals lists who holds it.' },
    ),
  }),
);

export function presentRemedy(remedy: Remedy) {
  const { changes, sentence, gains, others, reach, reachWords, isAllowed, rejectedBy, required } = remedy;
  const { object, relation } = required;
  return {
    change: { changes: changes.map(presentChange) },
    sentence,
    gains,
    others,
    other_objects: reach.objects,
    future_objects: reach.isOpen,
    reach: reachWords,
    allowed: isAllowed,
    ...(rejectedBy && { rejected_by: { id: rejectedBy.id, name: rejectedBy.name, sentence: rejectedBy.sentence } }),
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
