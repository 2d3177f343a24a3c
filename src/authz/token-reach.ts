import { BELONGING_TYPES, type OwnedType } from '../changes/object-kinds.ts';
import { isListed, type MaybeLimits, reachesOrganization } from '../identity/tokens/token-limits.ts';
import type { ObjectRef } from './object-ref.ts';

/** The account that owns an object, if it exists. Tokens have owners, too. */
export interface ReachStore {
  ownerOf(type: OwnedType | 'token', id: bigint): Promise<bigint | undefined>;
}

/**
 * How far the limits of a token let its owner know about an object: with everything around it in the organization, only
 * the object, or not even whether it exists.
 */
export type TokenReach = 'organization' | 'object' | 'nothing';

export type FindReach = (limits: MaybeLimits, organizationId: bigint, object: ObjectRef) => Promise<TokenReach>;

export function createTokenReach(store: ReachStore): FindReach {
  return async (limits, organizationId, object) => {
    if (limits === undefined) return 'organization';
    if (!reachesOrganization(limits, organizationId)) return isListed(limits, object) ? 'object' : 'nothing';
    if (isListed(limits, object)) return 'organization';
    return (await ownerOf(object)) === organizationId ? 'organization' : 'nothing';
  };

  async function ownerOf({ type, id }: ObjectRef): Promise<bigint | undefined> {
    if (type === 'organization') return id;
    return isOwned(type) ? await store.ownerOf(type, id) : undefined;
  }
}

/** Tokens reach objects that belong to an account. Roles are reached with their organization. */
function isOwned(type: ObjectRef['type']): type is OwnedType | 'token' {
  return type !== 'role' && BELONGING_TYPES.some((one) => one.type === type);
}

/** Whether a token with limits reaches one of the objects of an organization, or of the caller's own. */
export function reachesHeld(limits: MaybeLimits, organizationId: bigint, object: ObjectRef, isOwn: boolean): boolean {
  return (!isOwn && reachesOrganization(limits, organizationId)) || limits === undefined || isListed(limits, object);
}

export function outsideLimits({ type, id }: ObjectRef): string {
  return `${type} ${id} is outside the limits of this token, or does not exist`;
}
