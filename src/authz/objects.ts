import { AppError } from '../base/errors.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import { OBJECT_TYPES, type ObjectType } from '../changes/object-kinds.ts';
import { isListed, type MaybeLimits, reachesOrganization } from '../identity/tokens/token-limits.ts';
import { type Judge, mayBeOwn, type Soon } from './judge.ts';
import type { AskedObject, ObjectRef } from './object-ref.ts';

export type Objects = ReturnType<typeof createObjects>;

export interface CallerRef {
  readonly personId: bigint;
  readonly organizationId: bigint;
  /** What the caller's token is limited to. */
  readonly limits?: MaybeLimits;
}

/** "Which permissions do I hold on this?", for one object or many. */
export function createObjects(judge: Pick<Judge, 'allowed' | 'holds' | 'atHand'>) {
  return { allowed, atHand };

  /** About one object, if the answer is in memory and the token of the caller has no limits. */
  function atHand({ personId, organizationId, limits }: CallerRef, object: AskedObject): readonly string[] | undefined {
    if (limits !== undefined || object.type === 'user') return undefined;
    return judge.atHand?.allowed(personId, organizationId, object);
  }

  /** Returns without a promise if everything that the answer depends on is known. */
  function allowed(caller: CallerRef, objects: readonly AskedObject[]): Soon<(readonly string[])[]> {
    rejectOtherPeople(caller.personId, objects);
    const held = judge.allowed(caller.personId, caller.organizationId, objects);
    return caller.limits === undefined ? held : within(caller, objects, held);
  }

  /** On what a token does not reach, nothing is allowed with it. */
  async function within(caller: CallerRef, objects: readonly ObjectRef[], held: Soon<(readonly string[])[]>) {
    const yieldIfDue = createYielder();
    const answers: (readonly string[])[] = [];
    for (const [place, relations] of (await held).entries()) {
      const object = objects[place];
      answers.push(object && (await reaches(caller, object, relations)) ? relations : []);
      await yieldIfDue();
    }
    return answers;
  }

  async function reaches({ personId, organizationId, limits }: CallerRef, object: ObjectRef, held: readonly string[]) {
    const [first] = held;
    if (first === undefined || isListed(limits, object)) return true;
    if (!reachesOrganization(limits, organizationId) || object.type === 'user') return false;
    // What is not held in the organization is held on something that belongs to the owner of the token.
    return !mayBeOwn(object) || (await judge.holds(personId, organizationId, first, object));
  }
}

export function rejectOtherPeople(callerId: bigint, objects: readonly ObjectRef[]): void {
  if (objects.some((object) => object.type === 'user' && object.id !== callerId)) {
    throw new AppError('forbidden', 'permissions cannot be queried on other users');
  }
}

export function readObjectType(text: string): ObjectType {
  const found = OBJECT_TYPES.find((type) => type === text);
  if (!found) throw new AppError('invalid', `invalid object type: ${JSON.stringify(text.slice(0, 40))}`);
  return found;
}
