import type { OwnedType } from '../../changes/object-kinds.ts';

/**
 * What a token is limited to, besides its scopes: whole organizations, and single objects.
 *
 * 1. A token with limits may do what its owner may do, but only there. It gets nothing that its owner does not have.
 * 2. Whatever is not of one of these organizations or objects is outside: also the owner's account, what the owner has
 *    themselves, and the site. There is one exception, the name of the owner and the token itself.
 * 3. Objects outside the limits look like objects that do not exist.
 * 4. IDs are never used again. So a token whose organizations and objects are gone reaches nothing.
 */
export interface TokenLimits {
  readonly organizations: readonly LimitOrganization[];
  readonly objects: readonly LimitObject[];
}

export interface LimitOrganization {
  readonly id: bigint;
  /** As it was called when the token was created. */
  readonly name: string;
}

export interface LimitObject {
  readonly type: OwnedType;
  readonly id: bigint;
  readonly name: string;
  /** The account that owned it when the token was created. */
  readonly ownerId: bigint;
}

/** Undefined stands for a token without limits, or no token at all. */
export type MaybeLimits = TokenLimits | undefined;

/** The whole of it. */
export function reachesOrganization(limits: MaybeLimits, id: bigint): boolean {
  return limits === undefined || limits.organizations.some((one) => one.id === id);
}

/** The organization, or at least something in it. */
export function reachesInto(limits: MaybeLimits, id: bigint): boolean {
  return reachesOrganization(limits, id) || limits?.objects.some(({ ownerId }) => ownerId === id) === true;
}

/** An object that belongs to this account. */
export function reachesObject(limits: MaybeLimits, object: Pick<LimitObject, 'ownerId' | 'id'> & { type: string }) {
  return reachesOrganization(limits, object.ownerId) || isListed(limits, object);
}

/** Whether the limits name the object itself. */
export function isListed(limits: MaybeLimits, { type, id }: { readonly type: string; readonly id: bigint }): boolean {
  return limits?.objects.some((one) => one.type === type && one.id === id) === true;
}

/** The IDs of single objects of one type. */
export function listedIds(limits: MaybeLimits, type: OwnedType, ownerId?: bigint): bigint[] {
  const objects = limits?.objects ?? [];
  return objects.filter((one) => one.type === type && (ownerId ?? one.ownerId) === one.ownerId).map(({ id }) => id);
}

/** Which objects of an account a list may show. Undefined: all of them. */
export function shownIds(limits: MaybeLimits, type: OwnedType, ownerId: bigint): bigint[] | undefined {
  return reachesOrganization(limits, ownerId) ? undefined : listedIds(limits, type, ownerId);
}

/** Whether the held limits reach everything that the wanted ones reach. */
export function limitsCover(held: MaybeLimits, wanted: MaybeLimits): boolean {
  if (held === undefined) return true;
  if (wanted === undefined) return false;
  return (
    wanted.organizations.every(({ id }) => reachesOrganization(held, id)) &&
    wanted.objects.every((object) => reachesObject(held, object))
  );
}
