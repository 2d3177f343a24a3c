import { AppError } from '../errors.ts';
import { type Judge, OBJECT_TYPES, type ObjectRef, type ObjectType } from './judge.ts';

export type Objects = ReturnType<typeof createObjects>;

export interface Asker {
  readonly personId: bigint;
  readonly organizationId: bigint;
}

/** "Which permissions do I hold on this?", for one object or many. */
export function createObjects(judge: Pick<Judge, 'allowed'>) {
  return { allowed };

  async function allowed(asker: Asker, objects: readonly ObjectRef[]): Promise<string[][]> {
    if (objects.some((object) => object.type === 'user' && object.id !== asker.personId)) {
      throw new AppError('forbidden', 'users may ask about themselves only');
    }
    return await judge.allowed(asker.personId, asker.organizationId, objects);
  }
}

export function readObjectType(text: string): ObjectType {
  const found = OBJECT_TYPES.find((type) => type === text);
  if (!found) throw new AppError('invalid', `invalid object type: ${JSON.stringify(text.slice(0, 40))}`);
  return found;
}
