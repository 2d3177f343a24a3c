import type { Permission } from '../directory/callers.ts';

export interface OrganizationDetails {
  readonly id: bigint;
  readonly name: string;
  readonly fullName: string;
  readonly description: string;
  readonly website: string;
  readonly location: string;
  readonly visibility: 'public' | 'limited' | 'private';
  readonly orgType: string;
}

export interface TeamDetails {
  readonly id: bigint;
  readonly name: string;
  readonly description: string;
  readonly permission: Permission;
  readonly type: 'builtin' | 'custom';
  readonly units: readonly string[];
  readonly roleIds: readonly bigint[];
  readonly organization: OrganizationDetails;
}

/** The teams and organizations that a person is in. */
export interface Memberships {
  /** By organization, the owners' team first, then by name. */
  teams(accountId: bigint): Promise<TeamDetails[]>;
  organizations(accountId: bigint): Promise<OrganizationDetails[]>;
}
