import type { EscalationGuard, TeamGrant } from '../authz/escalation.ts';
import type { Judge } from '../authz/judge.ts';
import { AppError, invalidField, missingRelation } from '../base/errors.ts';
import { endsBefore, type Term } from '../base/expiry.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Person } from '../identity/callers.ts';
import type { Profile } from '../users/profile.ts';
import type { Team } from './teams.ts';

/**
 * Throws if the caller may not grant or take away what comes with the team. No other request can change the team meanwhile.
 */
export type GrantCondition = (grant: TeamGrant, present: Present) => void;

/** A membership as it is now. */
export interface Present {
  readonly isMember: boolean;
  readonly expiresAt: Date | null;
  /** Whether the team has another member whose membership does not expire. */
  readonly hasOthers: boolean;
}

/** A member of a team. */
export interface TeamMember {
  readonly profile: Profile;
  readonly expiresAt: Date | null;
}

export type Removal = 'removed' | 'not a member' | 'last owner';

export interface MemberStore {
  /** Ordered by ID. */
  ofTeam(teamId: bigint, request: PageRequest): Promise<Page<TeamMember>>;
  inTeam(teamId: bigint, accountId: bigint): Promise<TeamMember | undefined>;
  teamNamed(organizationId: bigint, name: string): Promise<NamedTeam | undefined>;
  /** Or changes when the membership ends. False if the team or the user does not exist (any more). */
  add(teamId: bigint, accountId: bigint, condition: GrantCondition, actor: Actor, term?: Term): Promise<boolean>;
  remove(teamId: bigint, accountId: bigint, condition: GrantCondition, actor: Actor): Promise<Removal>;
  /** From all teams of the organization, or from none. With `orphans`, also the last owner. */
  removeFromAll(
    organizationId: bigint,
    accountId: bigint,
    condition: GrantCondition,
    actor: Actor,
    orphans: boolean,
  ): Promise<Removal>;
}

export type NamedTeam = Pick<Team, 'id' | 'type' | 'permission'>;

interface MembersOptions {
  readonly store: MemberStore;
  readonly judge: Pick<Judge, 'holds'>;
  readonly escalation: EscalationGuard;
  readonly personNamed: (name: string) => Promise<Person | undefined>;
}

export type Members = ReturnType<typeof createMembers>;

/** Rejects a session that was not proven lately. Owners are the last ones who could take it back. */
type RequireProof = () => void;

/** The team that new members join unless the request names another. */
export const FIRST_TEAM = 'Viewers';

/**
 * Who is in an organization and its teams. A user who is in a team is a member of the organization, and an organization
 * always has an owner whose membership does not expire. A caller cannot add a user, themselves included, to a team that holds
 * more than they do. Members cannot make their own membership last longer.
 */
export function createMembers({ store, judge, escalation, personNamed }: MembersOptions) {
  return {
    ofTeam: store.ofTeam,
    requireMember,
    seesMembers,
    add,
    remove,
    inTeam,
    addToTeam,
    removeFromTeam,
  };

  async function requireMember(organizationId: bigint, username: string): Promise<void> {
    const person = await personNamed(username);
    if (!person?.organizations.has(organizationId)) throw new AppError('notFound', 'user is not a member');
  }

  async function seesMembers(callerId: bigint, organizationId: bigint): Promise<boolean> {
    const organization = { type: 'organization', id: organizationId } as const;
    return await judge.holds(callerId, organizationId, 'can_view_members', organization);
  }

  /**
   * To the named team. Without a name, a user who is already a member joins no other team: only the end of a membership
   * of the first team can change.
   */
  async function add(
    organizationId: bigint,
    username: string,
    teamName: string | undefined,
    actor: Actor,
    term?: Term,
    requireProof?: RequireProof,
  ): Promise<void> {
    const person = await known(username);
    const isPresent = teamName === undefined && person.organizations.has(organizationId);
    if (isPresent && term === undefined) return;
    const team = await store.teamNamed(organizationId, teamName ?? FIRST_TEAM);
    if (!team) {
      throw new AppError('invalid', `not a team of the organization: ${(teamName ?? FIRST_TEAM).slice(0, 100)}`);
    }
    if (isPresent && !(await store.inTeam(team.id, person.id))) {
      throw notInFirstTeam();
    }
    const isFirst = team.type === 'builtin' && team.permission === 'read';
    // Adding users to the organization does not include adding them to the other teams.
    const object = { type: 'team', id: team.id } as const;
    if (!isFirst && !(await judge.holds(actor.id, organizationId, 'can_add_member', object))) {
      throw missingRelation('add_member:team');
    }
    await addTo(organizationId, team.id, person, actor, term, requireProof);
  }

  /**
   * From all teams. Every member may leave. The last owner has to say that the organization may be left without one: users
   * are not asked before they become owners, and that must not hold them forever. Site administrators then manage it.
   */
  async function remove(organizationId: bigint, username: string, actor: Actor, orphans = false): Promise<void> {
    const person = await personNamed(username);
    const isSelf = person?.id === actor.id;
    const organization = { type: 'organization', id: organizationId } as const;
    if (!isSelf && !(await judge.holds(actor.id, organizationId, 'can_remove_member', organization))) {
      throw missingRelation('remove_member:org');
    }
    if (!person) throw unknown(username);
    const { isOwner } = await escalation(actor.id, organizationId);
    const condition: GrantCondition = ({ permission }) => {
      if (permission === 'owner' && !isSelf && !isOwner) {
        throw missingRelation('remove_member:team', ': only an owner can remove an owner');
      }
    };
    const outcome = await store.removeFromAll(organizationId, person.id, condition, actor, isSelf && orphans);
    const advice = isSelf ? ', or pass orphan=true to leave it to the site administrators' : '';
    settle(outcome, 'user is not a member of this organization', advice);
  }

  async function inTeam(teamId: bigint, username: string): Promise<TeamMember> {
    const person = await personNamed(username);
    const member = person && (await store.inTeam(teamId, person.id));
    if (!member) throw new AppError('notFound', 'user is not in this team');
    return member;
  }

  async function addToTeam(
    organizationId: bigint,
    teamId: bigint,
    username: string,
    actor: Actor,
    term?: Term,
    requireProof?: RequireProof,
  ): Promise<void> {
    const person = await known(username);
    if (!person.organizations.has(organizationId)) await requireHost(organizationId, teamId, actor);
    await addTo(organizationId, teamId, person, actor, term, requireProof);
  }

  /**
   * Adding to a team does not include adding to the organization. That needs its own relation, or `steward` of the
   * team.
   */
  async function requireHost(organizationId: bigint, teamId: bigint, { id }: Actor): Promise<void> {
    const [organization, team] = [
      { type: 'organization', id: organizationId },
      { type: 'team', id: teamId },
    ] as const;
    const isHost =
      (await judge.holds(id, organizationId, 'can_add_member', organization)) ||
      (await judge.holds(id, organizationId, 'steward', team));
    if (!isHost) throw missingRelation('add_member:org');
  }

  async function removeFromTeam(teamId: bigint, username: string, actor: Actor): Promise<void> {
    const { id } = await known(username);
    settle(await store.remove(teamId, id, () => undefined, actor), 'user is not in this team');
  }

  async function addTo(
    organizationId: bigint,
    teamId: bigint,
    { id }: Person,
    actor: Actor,
    term: Term,
    requireProof: RequireProof | undefined,
  ): Promise<void> {
    const joining = { teamId, until: term ?? null };
    const { rejectEscalation } = await escalation(actor.id, organizationId, joining);
    const isSelf = id === actor.id;
    const mayEnd = isSelf || !term || (await mayRemove(organizationId, teamId, actor));
    const condition: GrantCondition = (grant, present) => {
      rejectEscalation(grant);
      if (grant.permission === 'owner') requireProof?.();
      if (term && grant.permission === 'owner' && !present.hasOthers) throw needsLastingOwner();
      if (term === undefined || !present.isMember) return;
      // A caller who may only add must not be able to remove by setting an end.
      if (endsBefore(term, present.expiresAt) && !mayEnd) throw missingRelation('remove_member:team');
      if (endsBefore(present.expiresAt, term) && isSelf) throw extendsOwnTerm();
    };
    const isDone = await store.add(teamId, id, condition, actor, term);
    if (!isDone) throw new AppError('notFound', 'team or user does not exist');
  }

  async function mayRemove(organizationId: bigint, teamId: bigint, { id }: Actor): Promise<boolean> {
    const team = { type: 'team', id: teamId } as const;
    const organization = { type: 'organization', id: organizationId } as const;
    return (
      (await judge.holds(id, organizationId, 'can_remove_member', team)) ||
      (await judge.holds(id, organizationId, 'can_remove_member', organization))
    );
  }

  async function known(username: string): Promise<Person> {
    const person = await personNamed(username);
    if (!person) throw unknown(username);
    return person;
  }
}

export function settle(outcome: Removal, absence: string, advice = ''): void {
  if (outcome === 'not a member') throw new AppError('notFound', absence);
  if (outcome === 'last owner') {
    const message = `the last owner of an organization cannot leave: make another user an owner first${advice}`;
    throw new AppError('conflict', message, { reason: 'last_owner' });
  }
}

export function notInFirstTeam(): AppError {
  return invalidField('team', `team is required: the user is a member, but not through ${FIRST_TEAM}`);
}

export function extendsOwnTerm(): AppError {
  return new AppError('forbidden', 'users cannot extend their own membership: ask another user who may add members');
}

export function needsLastingOwner(): AppError {
  const message = 'an organization needs an owner whose membership does not expire: make another user an owner first';
  return new AppError('conflict', message, { reason: 'last_owner' });
}

export function unknown(username: string): AppError {
  return new AppError('notFound', `user does not exist: ${username.slice(0, 60)}`, { reason: 'user_not_found' });
}
