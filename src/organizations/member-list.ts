import type { Judge } from '../authz/judge.ts';
import { AppError } from '../base/errors.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { Profile } from '../users/profile.ts';
import type { NamedTeam } from './members.ts';
import type { Team } from './teams.ts';

export interface MemberTeam extends Pick<Team, 'id' | 'name' | 'permission'> {
  readonly expiresAt: Date | null;
}

export interface Member {
  readonly profile: Profile;
  /** The teams of the organization that the member is in and the caller may see: the owners first, then by name. */
  readonly teams: readonly MemberTeam[];
  /** When the earliest of the present memberships began, whether the caller may see its team or not. */
  readonly joinedAt: Date;
  /** When the last of the present memberships ends, if all of them do, whether the caller may see its team or not. */
  readonly expiresAt: Date | null;
  /** An identity provider manages the member by SCIM. */
  readonly isProvisioned: boolean;
  readonly work: Work;
}

/** What an identity provider says about the work of a member. Absent texts are empty. */
export interface Work {
  readonly title: string;
  readonly department: string;
  readonly employeeNumber: string;
  readonly costCenter: string;
  /** Null if no member is the manager. */
  readonly manager: { readonly id: bigint; readonly name: string } | null;
  /** As the provider names the manager, who need not be a member. */
  readonly managerName: string;
}

export type MemberOrder = 'id' | 'name' | 'joined';

export interface MemberSearch {
  /** Part of the login, the full name or the primary address; empty for all members. */
  readonly text: string;
  /** Only members of this team. */
  readonly teamId: bigint | undefined;
  readonly orderBy: MemberOrder;
  readonly isDescending: boolean;
  /** Only these teams are shown. */
  readonly visibleTeamIds: readonly bigint[];
}

export interface MemberListStore {
  find(organizationId: bigint, search: MemberSearch, request: PageRequest): Promise<Page<Member>>;
}

export interface MemberQuestion extends Pick<MemberSearch, 'text' | 'orderBy' | 'isDescending'> {
  /** The ID of a team, or its name. A text of digits is an ID. */
  readonly team: string | undefined;
}

type TeamNamed = (organizationId: bigint, name: string) => Promise<Pick<NamedTeam, 'id'> | undefined>;

export type ListMembers = ReturnType<typeof createMemberList>;

/** The members of an organization with their teams, as far as the caller may see those. */
export function createMemberList(store: MemberListStore, judge: Pick<Judge, 'objects'>, teamNamed: TeamNamed) {
  return async (organizationId: bigint, callerId: bigint, question: MemberQuestion, request: PageRequest) => {
    const { team, ...same } = question;
    const visibleTeamIds = await judge.objects(callerId, organizationId, 'can_view', 'team');
    const teamId = team === undefined ? undefined : await visibleTeam(organizationId, team, visibleTeamIds);
    return await store.find(organizationId, { ...same, teamId, visibleTeamIds }, request);
  };

  /** The same error for a team that the caller may not see as for one that does not exist. */
  async function visibleTeam(organizationId: bigint, text: string, visible: readonly bigint[]): Promise<bigint> {
    const id = /^\d+$/.test(text) ? BigInt(text) : (await teamNamed(organizationId, text))?.id;
    if (id !== undefined && visible.includes(id)) return id;
    throw new AppError('invalid', `not a team of the organization: ${text.slice(0, 100)}`);
  }
}
