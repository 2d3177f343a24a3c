import Type, { type Static } from 'typebox';
import { PlaceResponse, presentPlace } from '../authz/places/place.view.ts';
import { effectiveOn } from '../authz/places/places.ts';
import { PRINCIPAL_TYPES } from '../changes/object-kinds.ts';
import { Int64, Int64Input, named, orNull, Timestamp, timestamp } from '../http/wire/schemas.ts';
import { expiryText, NewExpiry } from '../organizations/expires-at.view.ts';
import type { CatalogEntry } from '../roles/catalog.ts';
import type { SeenAssignment } from './assignments.ts';

const says = (description: string) => ({ description });
const Pair = named('Permission', Type.Object({ namespace: Type.String(), action: Type.String() }));

const Moment = Timestamp as typeof Timestamp & { type: string };

const Named = named(
  'AssignmentRole',
  Type.Object({ id: Int64, name: Type.String(says('Its name.')) }, says('The role that is assigned.')),
);
const To = named(
  'AssignmentPrincipal',
  Type.Object(
    {
      type: Type.String({ enum: [...PRINCIPAL_TYPES], ...says('What it is.') }),
      id: Int64,
      name: Type.String(says('Login name of the user, or name of the team or robot.')),
    },
    says('To whom the role is assigned.'),
  ),
);
export const AssignmentResponse = named(
  'Assignment',
  Type.Object({
    id: Int64,
    role: Named,
    to: To,
    on: PlaceResponse,
    namespaces: Type.Optional(
      Type.Array(
        Type.String(),
        says('Of a cluster or cluster_set: the only namespaces in which it counts. Absent: it counts in all of it.'),
      ),
    ),
    effective: Type.Array(Pair, says('The permissions of the role that concern the object, or namespaces of it.')),
    without_effect: Type.Array(Pair, says('The other permissions of the role, which mean nothing there.')),
    reason: Type.String(says('Why it is there.')),
    expires_at: Type.Unsafe<string | null>({ ...orNull(Moment), ...says('When it ends by itself. Null: never.') }),
    request_id: Type.Unsafe<string | null>({
      ...orNull(Type.String()),
      ...says('The access request that it comes from.'),
    }),
    created_at: Timestamp,
    created_by: orNull(
      Type.Object(
        {
          type: Type.String(says('user or robot_ac.')),
          id: Int64,
          name: Type.String(says('Login name, or name of the robot.')),
        },
        says('Who assigned it. Null if that is not known, or if the caller may not see it.'),
      ),
    ),
  }),
);

const byIdOrName = (description: string) =>
  Type.Object({ id: Type.Optional(Int64Input), name: Type.Optional(Type.String(says('Its name.'))) }, { description });
const RoleInput = named('AssignedRoleInput', byIdOrName('The role, by its ID or name.'));
const typed = (description: string, types: string) =>
  Type.Object(
    {
      type: Type.String(says(types)),
      id: Type.Optional(Type.Union([Int64Input, Type.Null()])),
      name: Type.Optional(Type.String(says('Its name.'))),
    },
    { description },
  );
const ToInput = named(
  'AssignedToInput',
  typed('To whom: a user, team or robot account of the organization, by ID or name.', 'user, team or robot_ac.'),
);
const OnInput = named(
  'AssignedOnInput',
  typed(
    'On what: an object of the organization, by ID or name. A cluster set has a name only. If it is left out, the role ' +
      'counts in the whole organization.',
    'organization, cluster_set, cluster, contract, robot_ac or team.',
  ),
);
export const EditAssignment = named(
  'EditAssignment',
  Type.Object({
    role: Type.Optional(RoleInput),
    to: Type.Optional(ToInput),
    on: Type.Optional(OnInput),
    namespaces: Type.Optional(
      Type.Array(
        Type.String(),
        says(
          'Of a cluster or cluster_set: the only namespaces in which it counts, at most 50; names, or prefixes that end ' +
            'in *. If it is left out, it counts in all of it.',
        ),
      ),
    ),
    reason: Type.Optional(Type.String({ description: 'At most 1000 characters.' })),
    expires_at: NewExpiry,
  }),
);
export const NewAssignmentBody = named(
  'NewAssignment',
  Type.Object({ ...EditAssignment.properties, role: RoleInput, to: ToInput }),
);
export type AssignmentBody = Static<typeof EditAssignment>;

export function presentAssignment({ assignment, seesPlace, seesCreator }: SeenAssignment) {
  const { id, role, to, on, expiresAt, createdBy } = assignment;
  const { effective, withoutEffect } = effectiveOn(on, role.permissions);
  return {
    id,
    role: { id: role.id, name: role.name },
    to: { type: to.type, id: to.id, name: to.name },
    on: presentPlace(on, !seesPlace),
    ...(on.namespaces && { namespaces: [...on.namespaces] }),
    effective: effective.map(pairOf),
    without_effect: withoutEffect.map(pairOf),
    reason: assignment.reason,
    expires_at: expiresAt && expiryText(expiresAt),
    request_id: assignment.requestId,
    created_at: timestamp(assignment.createdAt),
    created_by: seesCreator && createdBy ? { ...createdBy } : null,
  };
}

function pairOf({ namespace, action }: CatalogEntry) {
  return { namespace, action };
}
