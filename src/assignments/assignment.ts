import type { Place } from '../authz/places/places.ts';
import type { PlaceType, PrincipalType } from '../changes/object-kinds.ts';
import type { CatalogEntry } from '../roles/catalog.ts';

/** Who has a role, on what, until when and why. */
export interface Assignment {
  readonly id: bigint;
  readonly organizationId: bigint;
  readonly role: AssignedRole;
  readonly to: Principal;
  readonly on: AssignedPlace;
  readonly reason: string;
  readonly expiresAt: Date | null;
  /** The access request that it comes from. */
  readonly requestId: string | null;
  readonly createdAt: Date;
  /** Null if it was made by naming the teams of a role, or if the account is gone. */
  readonly createdBy: { readonly type: string; readonly id: bigint; readonly name: string } | null;
  readonly version: number;
}

export interface AssignedRole {
  readonly id: bigint;
  readonly name: string;
  readonly permissions: readonly CatalogEntry[];
}

export interface Principal {
  readonly type: PrincipalType;
  readonly id: bigint;
  readonly name: string;
}

export interface AssignedPlace extends Place {
  readonly name: string;
  /** Of a set: how many clusters are in it now. */
  readonly clusters?: number | undefined;
}

/** What a caller names: by ID, by name, or by both. */
export interface Reference<Type extends string> {
  readonly type: Type;
  readonly id?: bigint | undefined;
  readonly name?: string | undefined;
}

export interface AssignmentInput {
  readonly role: Omit<Reference<'role'>, 'type'>;
  readonly to: Reference<string>;
  /** Undefined means the organization. */
  readonly on?: Reference<string> | undefined;
  /** Of a cluster or a set of clusters. Undefined means all of it. */
  readonly namespaces?: readonly string[] | undefined;
  readonly reason?: string | undefined;
  readonly expiresAt: Date | null;
}

/** What of an assignment can change. A field that is left out stays as it is. */
export interface AssignmentChange {
  readonly reason?: string | undefined;
  readonly expiresAt?: Date | null | undefined;
  /** May be sent back, but not changed. */
  readonly role?: AssignmentInput['role'] | undefined;
  readonly to?: AssignmentInput['to'] | undefined;
  readonly on?: AssignmentInput['on'] | undefined;
  readonly namespaces?: AssignmentInput['namespaces'] | undefined;
}

export interface AssignmentFilter {
  readonly role?: { readonly id?: bigint; readonly name?: string } | undefined;
  readonly to?: Reference<PrincipalType> | undefined;
  readonly on?: Reference<PlaceType> | undefined;
  /** Only those that count on it: on itself, on the set that it is in, and on the organization, in this order. */
  readonly reaching?: Reference<PlaceType> | undefined;
  readonly expiresBefore?: Date | undefined;
}
