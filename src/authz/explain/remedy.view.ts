import Type from 'typebox';
import { OBJECT_TYPES, PLACE_TYPES, PRINCIPAL_TYPES } from '../../changes/object-kinds.ts';
import { documentedSchema, Int64, named, PermissionPair } from '../../http/wire/schemas.ts';
import type { Remedy, RequiredRelation, WireChange } from './remedy.ts';

const About = (types: readonly string[], description: string) =>
  Type.Optional(
    Type.Object(
      {
        type: Type.String({ enum: [...types], description: 'What it is.' }),
        id: Int64,
        name: Type.String({ description: 'Its name.' }),
      },
      { description },
    ),
  );
const SuggestedChange = named(
  'SuggestedChange',
  Type.Object({
    action: Type.String({
      enum: ['assignment.create', 'role.create', 'role.update', 'role.assign', 'team.add_member'],
      description: 'What to do.',
    }),
    id: Type.Optional(documentedSchema(Int64, { description: 'The role, or the team of team.add_member.' })),
    team: Type.Optional(documentedSchema(Int64, { description: 'The team that a role is assigned to.' })),
    username: Type.Optional(Type.String({ description: 'The user who joins the team.' })),
    to: About(PRINCIPAL_TYPES, 'With assignment.create: who gets the role.'),
    on: About(PLACE_TYPES, 'With assignment.create: on what the role is assigned.'),
    role: Type.Optional(
      Type.Object(
        {
          id: Type.Optional(documentedSchema(Int64, { description: 'With assignment.create: the role.' })),
          name: Type.Optional(
            Type.String({
              description:
                'Name of the role of assignment.create, or a name for a new role that no role has that the caller may see.',
            }),
          ),
          permissions: Type.Optional(Type.Array(PermissionPair, { description: 'All permissions of the role.' })),
          teamIDs: Type.Optional(Type.Array(Int64, { description: 'The teams of the new role.' })),
        },
        { description: 'The new role, what changes of the role, or the role to assign.' },
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

const RequiredRelationResponse = named(
  'RequiredRelation',
  Type.Object(
    {
      objectType: Type.String({ enum: OBJECT_TYPES }),
      objectID: Int64,
      relation: Type.String({ description: 'The relation on that object.' }),
    },
    { description: 'A relation that a caller must hold.' },
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
      description:
        'How many further permissions the user would get: of the organization, apart from leaving it, or on the object ' +
        'that a role is assigned on.',
    }),
    others: Type.Integer({ description: 'How many other users and robots would get something.' }),
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
        relation: Type.String({
          description: 'The relation on that object. Instead of can_assign_roles, can_edit_roles is enough.',
        }),
        also: Type.Optional(
          Type.Array(RequiredRelationResponse, {
            description:
              'With assignment.create: what the role gives there. Only callers who hold all of it themselves can assign it.',
          }),
        ),
      },
      { description: 'The relation that the last change requires; principals lists who holds it.' },
    ),
  }),
);

export function presentRemedy(remedy: Remedy) {
  const { changes, sentence, gains, others, reach, reachWords, isAllowed, rejectedBy, required } = remedy;
  const { object, relation, also } = required;
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
    required: {
      ...presentRequired({ object, relation }),
      ...(also.length > 0 && { also: also.map(presentRequired) }),
    },
  };
}

function presentRequired({ object, relation }: RequiredRelation) {
  return { objectType: object.type, objectID: object.id, relation };
}

function presentChange(change: WireChange) {
  if (!('role' in change) || change.action === 'assignment.create') return change;
  const { role, ...rest } = change;
  const permissions = role.permissions.map(({ namespace, action }) => ({ namespace, action }));
  return {
    ...rest,
    role: 'name' in role ? { name: role.name, permissions, teamIDs: [...role.teamIDs] } : { permissions },
  };
}
