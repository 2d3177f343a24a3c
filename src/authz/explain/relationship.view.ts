import Type from 'typebox';
import { named } from '../../http/wire/schemas.ts';
import type { NamedTuple } from './explained-parts.ts';

export const Relationship = named(
  'Relationship',
  Type.Object({ user: Type.String(), relation: Type.String(), object: Type.String() }),
);
export const NamedRelationship = named(
  'NeededRelationship',
  Type.Object({ ...Relationship.properties, user_name: Type.String(), object_name: Type.String() }),
);

export function presentNamed({ userName, objectName, ...tuple }: NamedTuple) {
  return { ...tuple, user_name: userName, object_name: objectName };
}
