import Type from 'typebox';
import { Int64, named } from '../../http/wire/schemas.ts';

/** A user in an answer about who may do what. */
export const MarkedUser = named(
  'MarkedUserReference',
  Type.Object({
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
