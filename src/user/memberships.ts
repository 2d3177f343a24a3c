import type { OrganizationDetails, TeamDetails } from '../directory/profile.ts';

/** The teams and organizations that a person is in. */
export interface Memberships {
  /** By organization, the owners' team first, then by name. */
  teams(accountId: bigint): Promise<TeamDetails[]>;
  organizations(accountId: bigint): Promise<OrganizationDetails[]>;
}
