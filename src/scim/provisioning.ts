import type { Page } from '../base/page.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Members } from '../organizations/members.ts';
import type { Teams } from '../organizations/teams.ts';
import type { Users } from '../users/users.ts';
import type { AttributePath } from './scim-attributes.ts';
import type { Filter } from './scim-filter.ts';

/** What a provider says about a person. Absent texts are empty. */
export interface UserDraft {
  readonly userName: string;
  readonly externalId: string | null;
  readonly displayName: string;
  readonly formattedName: string;
  readonly givenName: string;
  readonly familyName: string;
  readonly email: string;
  readonly emailType: string;
  readonly title: string;
  readonly department: string;
  readonly employeeNumber: string;
  readonly costCenter: string;
  /** As the provider writes it: the ID of a user here, an external ID or a user name. */
  readonly manager: string;
  readonly managerName: string;
}

/** A person of the organization, as its provider sees them. */
export interface ScimUser extends UserDraft {
  readonly id: bigint;
  readonly login: string;
  readonly active: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The provider has said something about them. */
  readonly isLinked: boolean;
  readonly isOwned: boolean;
  /** Whether the account itself is in use. */
  readonly isUsable: boolean;
  /** Whether they are active as far as this organization is concerned. */
  readonly isEnabled: boolean;
  /** Null if the organization has no such user, or if several can be meant. */
  readonly managerId: bigint | null;
}

/** An account that a provider may mean. */
export interface Candidate {
  readonly id: bigint;
  readonly login: string;
  readonly isMember: boolean;
  readonly isLinked: boolean;
  readonly isUsable: boolean;
  /** No organization owns it, and one could: it is not that of a site administrator. */
  readonly isFree: boolean;
  /** The address is its verified primary one. */
  readonly hasAddress: boolean;
}

export interface Membership {
  readonly teamId: bigint;
  readonly expiresAt: Date | null;
}

export interface Search {
  readonly filter: Filter | undefined;
  readonly sortBy: AttributePath | undefined;
  readonly isDescending: boolean;
  readonly offset: number;
  readonly limit: number;
}

export interface GroupName {
  readonly id: bigint;
  readonly name: string;
}

export interface ScimUserStore {
  list(organizationId: bigint, search: Search): Promise<Page<ScimUser>>;
  find(organizationId: bigint, id: bigint): Promise<ScimUser | undefined>;
  /** The teams of each of these people, also those that they are in while they are not active. */
  groups(organizationId: bigint, ids: readonly bigint[]): Promise<ReadonlyMap<bigint, readonly GroupName[]>>;
}

/** Everything happens in the transaction that it is created for. */
export interface ScimUserChanges extends Pick<ScimUserStore, 'find'> {
  /** No other transaction can change the account until the end of this one. */
  lock(id: bigint): Promise<void>;
  /** Whether the account has no owner yet, and can have one under this address. */
  isFree(id: bigint, address: string): Promise<boolean>;
  isNameTaken(organizationId: bigint, userName: string): Promise<boolean>;
  /** By the verified primary address of any account, or by the login name of a member whom the provider does not know yet. */
  candidate(organizationId: bigint, email: string, userName: string): Promise<Candidate | undefined>;
  /** The first of these login names that no account has, nor had until recently. */
  freeLogin(names: readonly string[]): Promise<string | undefined>;
  /** Creates or changes what the organization knows about the person. */
  save(organizationId: bigint, id: bigint, draft: UserDraft, isOwned: boolean): Promise<'done' | 'name taken'>;
  setActive(organizationId: bigint, id: bigint, active: boolean): Promise<void>;
  forget(organizationId: bigint, id: bigint): Promise<void>;
  memberships(organizationId: bigint, id: bigint): Promise<Membership[]>;
  suspend(id: bigint, memberships: readonly Membership[]): Promise<void>;
  /** Those that have not expired; there are none afterwards. */
  resume(organizationId: bigint, id: bigint): Promise<Membership[]>;
  /** The organizations that have no other owner who can act. */
  lastOwnerOf(id: bigint): Promise<string[]>;
  record(organizationId: bigint, id: bigint, actor: Actor, before?: ScimUser, after?: ScimUser): void;
}

/** A team of the organization, as its provider sees it. */
export interface ScimGroup {
  readonly id: bigint;
  readonly displayName: string;
  readonly externalId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface GroupMember {
  readonly id: bigint;
  readonly userName: string;
}

export interface ScimGroupStore {
  list(organizationId: bigint, search: Search): Promise<Page<ScimGroup>>;
  find(organizationId: bigint, id: bigint): Promise<ScimGroup | undefined>;
  /** How many members each of these teams has. */
  sizes(ids: readonly bigint[]): Promise<ReadonlyMap<bigint, number>>;
  /** Those after an ID, ordered by ID; also people who are not active. */
  members(organizationId: bigint, id: bigint, afterId: bigint, limit: number): Promise<GroupMember[]>;
}

/** A user who can be put into a team. */
export interface Joiner extends GroupMember {
  readonly login: string;
  /** Not active, so that memberships wait until they are. */
  readonly isSuspended: boolean;
}

/** Everything happens in the transaction that it is created for. */
export interface ScimGroupChanges extends Pick<ScimGroupStore, 'find' | 'members'> {
  /** One request about a group at a time, so that a precondition holds until the end of the transaction. */
  turn(id: bigint): Promise<void>;
  /** Those among these people who are of the organization. They cannot be deleted until the end of the transaction. */
  joiners(organizationId: bigint, ids: readonly bigint[]): Promise<Joiner[]>;
  suspend(teamId: bigint, accountId: bigint): Promise<void>;
  /** False if the person was not in the team while not active. */
  unsuspend(teamId: bigint, accountId: bigint): Promise<boolean>;
  setExternalId(group: ScimGroup, organizationId: bigint, externalId: string | null, actor: Actor): Promise<void>;
}

/** The rules that all users are managed by, inside one transaction, with the authority of an organization. */
export interface Provisioning {
  readonly people: ScimUserChanges;
  readonly groups: ScimGroupChanges;
  readonly users: Pick<Users, 'create' | 'update'>;
  readonly members: Pick<Members, 'add' | 'remove' | 'addToTeam' | 'removeFromTeam'>;
  readonly teams: Pick<Teams, 'create' | 'update' | 'remove'>;
  /** All sessions and tokens of an account. */
  endCredentials(accountId: bigint, actor: Actor): Promise<void>;
}

/** Commits what `work` has done if it resolves. If it throws, nothing has happened. */
export type InTransaction = <T>(work: (inside: Provisioning) => Promise<T>) => Promise<T>;
