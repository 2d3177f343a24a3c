import Type, { type Static } from 'typebox';
import { OBJECT_TYPES } from '../../changes/object-kinds.ts';
import { PathId, readId, shownAs } from '../../http/wire/schemas.ts';
import type { AskedObject } from '../object-ref.ts';
import { readObjectType } from '../objects.ts';
import { readNamespace } from '../places/namespaces.ts';

export const ObjectTypeName = shownAs(Type.String(), { type: 'string', enum: OBJECT_TYPES });
export const ObjectPath = Type.Object({ objectType: ObjectTypeName, objID: PathId });
export const Relation = Type.String({ description: 'A relation that can be held on the object, such as can_view.' });
export const ASKED =
  'Login name of the user, or a robot of the organization such as robot:deploy. By default, the caller.';

export function askedIn({ objectType, objID }: Static<typeof ObjectPath>, namespace: string | undefined): AskedObject {
  return readNamespace({ type: readObjectType(objectType), id: readId(objID, 'object ID') }, namespace);
}
