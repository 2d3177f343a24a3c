import type { Judge } from '../authz/judge.ts';
import { AppError } from '../base/errors.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { Person } from '../identity/callers.ts';
import type { Organization } from './organizations.ts';
import type { Team } from './teams.ts';

/** The teams and organizations that a user is in. */
export interface Memberships {
  /** Ordered by organization, the owners' team first, then by name. Without a request, the whole list. */
  teams(accountId: bigint, among?: TeamsAmong, request?: PageRequest): Promise<Page<Team>>;
  /** Ordered by ID. */
  organizations(accountId: bigint): Promise<Organization[]>;
}

/** Only the teams of these organizations, and these teams. */
export interface TeamsAmong {
  readonly organizationIds: readonly bigint[];
  readonly teamIds: readonly bigint[];
}

type PersonNamed = (name: string) => Promise<Pick<Person, 'id' | 'organizations'> | undefined>;

export type SharedOrganizations = ReturnType<typeof createSharedOrganizations>;

/**
 * The organizations of a user, as far as the caller may know that the user is in them: for the user and for site
 * administrators all, for other callers those where they may see the members.
 */
export function createSharedOrganizations(judge: Pick<Judge, 'holds'>, personNamed: PersonNamed) {
  return async (caller: Pick<Person, 'id' | 'isAdmin' | 'organizations'>, name: string) => {
    const person = await personNamed(name);
    if (!person) throw new AppError('notFound', 'user does not exist', { reason: 'user_not_found' });
    if (caller.isAdmin || caller.id === person.id) return person.organizations;
    const shared = [...person.organizations].filter(([id]) => caller.organizations.has(id));
    const seen = await Promise.all(
      shared.map(([id]) => judge.holds(caller.id, id, 'can_view_members', { type: 'organization', id })),
    );
    return new Map(shared.filter((_one, place) => seen[place]));
  };
}
