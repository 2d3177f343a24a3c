import { AppError } from '../base/errors.ts';
import { OBJECT_TYPES, type ObjectType } from '../changes/object-kinds.ts';
import type { Judge, Soon } from './judge.ts';
import type { ObjectRef } from './object-ref.ts';

export type Objects = ReturnType<typeof createObjects>;

export interface Asker {
  readonly personId: bigint;
  readonly organizationId: bigint;
}

/** "Which permissions do I hold on this?", for one object or many. */
export function createObjects(judge: Pick<Judge, 'allowed'>) {
  return { allowed };

  /** Returns without a promise if everything that the answer depends on is known. */
  function allowed(asker: Asker, objects: readonly ObjectRef[]): Soon<(readonly string[])[]> {
    refuseOtherPeople(asker.personId, objects);
    return judge.allowed(asker.personId, asker.organizationId, objects);
  }
}

export function refuseOtherPeople(askerId: bigint, objects: readonly ObjectRef[]): void {
  if (objects.some((object) => object.type === 'user' && object.id !== askerId)) {
    throw new AppError('forbidden', 'users may ask about themselves only');
  }
}

export function readObjectType(text: string): ObjectType {
  const found = OBJECT_TYPES.find((type) => type === text);
  if (!found) throw new AppError('invalid', `invalid object type: ${JSON.stringify(text.slice(0, 40))}`);
  return found;
}
