import Type from 'typebox';
import { principalOf } from '../../changes/principal.ts';
import { Int64, named } from '../../http/wire/schemas.ts';
import type { PrincipalRef } from '../asked-principal.ts';

/** A user or a robot in an answer about who may do what. */
export const MarkedUser = named(
  'MarkedUserReference',
  Type.Object({
    type: Type.Optional(
      Type.String({ enum: ['robot_ac'], description: 'Only for a robot. Robots have IDs of their own.' }),
    ),
    id: Int64,
    name: Type.String(),
    active: Type.Optional(
      Type.Boolean({
        description:
          'False if the user is deactivated: what they hold is theirs, but all their requests are rejected. Absent otherwise.',
      }),
    ),
  }),
);

/** Without its type, it is a user. */
export function presentMarked<Ref extends PrincipalRef>({ id: number, ...rest }: Ref) {
  const { type, id } = principalOf(number);
  return type === 'robot_ac' ? { type, id, ...rest } : { id, ...rest };
}
