import type { Permission } from './callers.ts';

/** A person or an organization as everybody may see them. */
export interface Profile {
  readonly id: bigint;
  readonly kind: 'user' | 'organization';
  readonly login: string;
  readonly fullName: string;
  readonly email: string;
  readonly location: string;
  readonly website: string;
  readonly description: string;
  readonly createdAt: Date;
  /** Owner or administrator of at least one organization. */
  readonly orgAdmin: boolean;
}

/** A custom role of an organization. */
export interface RoleDetails {
  readonly id: bigint;
  readonly organizationId: bigint;
  readonly name: string;
  readonly description: string;
  readonly permissions: readonly { readonly namespace: string; readonly action: string }[];
  readonly teamIds: readonly bigint[];
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** An organization as its members see it. */
export interface OrganizationDetails {
  readonly id: bigint;
  readonly name: string;
  readonly fullName: string;
  readonly description: string;
  readonly website: string;
  readonly location: string;
  readonly visibility: Visibility;
  readonly orgType: string;
  readonly version: number;
}

export type Visibility = 'public' | 'limited' | 'private';

export interface TeamDetails {
  readonly id: bigint;
  readonly name: string;
  readonly description: string;
  readonly permission: Permission;
  readonly type: 'builtin' | 'custom';
  readonly units: readonly string[];
  readonly roleIds: readonly bigint[];
  readonly organization: OrganizationDetails;
  readonly version: number;
}
