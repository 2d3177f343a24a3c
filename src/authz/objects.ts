import { AppError } from '../base/errors.ts';
import { OBJECT_TYPES, type ObjectType } from '../changes/object-kinds.ts';
import type { Judge, Soon } from './judge.ts';
import type { ObjectRef } from './object-ref.ts';

export type Objects = ReturnType<typeof createObjects>;

export interface CallerRef {
  readonly personId: bigint;
  readonly organizationId: bigint;
}

/** "Which permissions do I hold on this?", for one object or many. */
export function createObjects(judge: Pick<Judge, 'allowed'>) {
  return { allowed };

  /** Returns without a promise if everything that the answer depends on is known. */
  function allowed(caller: CallerRef, objects: readonly ObjectRef[]): Soon<(readonly string[])[]> {
    refuseOtherPeople(caller.personId, objects);
    return judge.allowed(caller.personId, caller.organizationId, objects);
  }
}

export function refuseOtherPeople(callerId: bigint, objects: readonly ObjectRef[]): void {
  if (objects.some((object) => object.type === 'user' && object.id !== callerId)) {
    throw new AppError('forbidden', 'permissions cannot be queried on other users');
  }
}

export function readObjectType(text: string): ObjectType {
  const found = OBJECT_TYPES.find((type) => type === text);
  if (!found) throw new AppError('invalid', `invalid object type: ${JSON.stringify(text.slice(0, 40))}`);
  return found;
}
