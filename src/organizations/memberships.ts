import type { Organization } from './organizations.ts';
import type { Team } from './teams.ts';

/** The teams and organizations that a user is in. */
export interface Memberships {
  /** Ordered by organization, the owners' team first, then by name. */
  teams(accountId: bigint): Promise<Team[]>;
  organizations(accountId: bigint): Promise<Organization[]>;
}
