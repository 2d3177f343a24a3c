import Type from 'typebox';
import { principalOf } from '../../changes/principal.ts';
import { Int64 } from './schemas.ts';

/** Who made a change. Users and robots have IDs of their own, so a robot has its type, too. */
export const ShownActor = Type.Object({
  type: Type.Optional(
    Type.String({
      enum: ['robot_ac'],
      description: 'Only if a robot made the change: then the ID is that of the robot.',
    }),
  ),
  id: Int64,
  name: Type.String(),
});

export function showActor({ id: number, name }: { readonly id: bigint; readonly name: string }) {
  const { type, id } = principalOf(number);
  return type === 'robot_ac' ? { type, id, name } : { id, name };
}
