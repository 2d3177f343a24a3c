import Type from 'typebox';
import { Int64, named, PermissionPair, Timestamp } from '../http/wire/schemas.ts';

const EFFECT = {
  object: named('ImpactObject', Type.Object({ type: Type.String(), id: Int64, name: Type.String() })),
  relation: Type.String({ description: 'What can be done on the object, such as can_edit.' }),
  permission: Type.Union([PermissionPair, Type.Null()], {
    description: 'The permission that a role can contain, if the relation on the organization is one.',
  }),
};
/** Something that a user or robot gains or loses: by planned changes, or by the change of an access request. */
export const ImpactEffect = named(
  'ImpactEffect',
  Type.Object({
    ...EFFECT,
    namespaces: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Only of an access request for parts of a cluster: the only namespaces in which it is held.',
      }),
    ),
    expires_at: Type.Optional(
      Type.Unsafe<string>({
        ...Timestamp,
        description:
          'When it ends by itself, or would have ended without the changes. Absent if it does not, also in another way, ' +
          'or if the caller may not see all teams that it depends on.',
      }),
    ),
  }),
);
const KeptSchema = named(
  'ImpactKept',
  Type.Object({
    ...EFFECT,
    expires_at: Type.Optional(
      Type.Unsafe<string>({ ...Timestamp, description: 'When it ends by itself after the changes. Absent: never.' }),
    ),
    expires_at_before: Type.Optional(
      Type.Unsafe<string>({ ...Timestamp, description: 'When it ends without the changes. Absent: never.' }),
    ),
  }),
);
/** What changes give to a user or robot, and take from them. */
export const UserImpact = named(
  'UserImpact',
  Type.Object({
    user: Type.Object(
      {
        id: Int64,
        name: Type.String({ description: 'Login name, or name of the robot.' }),
        type: Type.Optional(
          Type.String({ enum: ['robot_ac'], description: 'Only of a robot: then the ID is that of the robot.' }),
        ),
      },
      { description: 'A user, or a robot.' },
    ),
    live_tokens: Type.Optional(
      Type.Integer({ description: 'Only of a robot that gains something: how many of its tokens are accepted.' }),
    ),
    token_creators: Type.Optional(
      Type.Array(
        Type.Object(
          {
            type: Type.String({ enum: ['user', 'robot_ac'], description: 'What it is.' }),
            id: Int64,
            name: Type.String({ description: 'Its name.' }),
          },
          { description: 'A user or a robot.' },
        ),
        {
          description:
            'Only of a robot that gains something: who created these tokens, as far as the caller may see them. ' +
            'A program with such a token gains what the robot gains.',
        },
      ),
    ),
    gains: Type.Array(ImpactEffect),
    loses: Type.Array(ImpactEffect),
    keeps: Type.Array(KeptSchema, {
      description: 'What they can do before and after, but not for as long, or for longer.',
    }),
    more: Type.Integer({ description: 'How many effects on single objects are left out of this entry.' }),
  }),
);
