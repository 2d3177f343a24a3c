import type { Actor } from '../directory/audit.ts';
import type { Permission, Person } from '../directory/callers.ts';
import type { Listed, Slice } from '../directory/listed.ts';
import type { GrantCondition, Members } from '../directory/members.ts';
import type { Profile } from '../directory/profile.ts';
import { AppError } from '../errors.ts';
import { type HoldingsOf, type Judge, missingRelation } from './holdings.ts';

export interface MemberReads {
  /** By id. */
  ofOrganization(organizationId: bigint, slice: Slice): Promise<Listed<Profile>>;
  ofTeam(teamId: bigint, slice: Slice): Promise<Listed<Profile>>;
  inTeam(teamId: bigint, accountId: bigint): Promise<Profile | undefined>;
  teamNamed(organizationId: bigint, name: string): Promise<NamedTeam | undefined>;
}

export interface NamedTeam {
  readonly id: bigint;
  readonly type: 'builtin' | 'custom';
  readonly permission: Permission;
}

interface Parts {
  readonly reads: MemberReads;
  readonly members: Members;
  readonly judge: Pick<Judge, 'holds'>;
  readonly holdingsOf: HoldingsOf;
  readonly personNamed: (name: string) => Promise<Person | undefined>;
}

export type MemberRegister = ReturnType<typeof createMemberRegister>;

/** Whoever is brought into an organization looks around first. */
const FIRST_TEAM = 'Viewers';

/** Who is in an organization and its teams. Nobody brings somebody, themselves included, further than they got themselves. */
export function createMemberRegister({ reads, members, judge, holdingsOf, personNamed }: Parts) {
  return {
    ofOrganization: reads.ofOrganization,
    ofTeam: reads.ofTeam,
    check,
    bringIn,
    takeOut,
    inTeam,
    addToTeam,
    removeFromTeam,
  };

  async function check(organizationId: bigint, username: string): Promise<void> {
    const person = await personNamed(username);
    if (!person?.organizations.has(organizationId)) throw new AppError('notFound', 'user is not a member');
  }

  /** Into the team that is named; without a name, whoever is a member already stays where they are. */
  async function bringIn(organizationId: bigint, username: string, teamName: string | undefined, actor: Actor) {
    const person = await known(username);
    if (teamName === undefined && person.organizations.has(organizationId)) return;
    const team = await reads.teamNamed(organizationId, teamName ?? FIRST_TEAM);
    if (!team)
      throw new AppError('invalid', `not a team of the organization: ${(teamName ?? FIRST_TEAM).slice(0, 100)}`);
    const isFirst = team.type === 'builtin' && team.permission === 'read';
    // Bringing people in is one thing, filling the other teams another.
    const object = { type: 'team', id: team.id } as const;
    if (!isFirst && !(await judge.holds(actor.id, organizationId, 'can_add_member', object))) {
      throw missingRelation('add_member:team');
    }
    await addTo(organizationId, team.id, person, actor);
  }

  /** Out of all teams. Everybody may leave, but for the last owner. */
  async function takeOut(organizationId: bigint, username: string, actor: Actor): Promise<void> {
    const person = await personNamed(username);
    const isSelf = person?.id === actor.id;
    const organization = { type: 'organization', id: organizationId } as const;
    if (!isSelf && !(await judge.holds(actor.id, organizationId, 'can_remove_member', organization))) {
      throw missingRelation('remove_member:org');
    }
    if (!person) throw unknown(username);
    const { isOwner } = await holdingsOf(actor.id, organizationId);
    const require: GrantCondition = ({ permission }) => {
      if (permission === 'owner' && !isSelf && !isOwner) {
        throw new AppError('forbidden', 'missing relation remove_member:team: only an owner takes an owner out');
      }
    };
    await members.removeFromAll(organizationId, person.id, require, actor);
  }

  async function inTeam(teamId: bigint, username: string): Promise<Profile> {
    const person = await personNamed(username);
    const profile = person && (await reads.inTeam(teamId, person.id));
    if (!profile) throw new AppError('notFound', 'user is not in this team');
    return profile;
  }

  async function addToTeam(organizationId: bigint, teamId: bigint, username: string, actor: Actor): Promise<void> {
    const person = await known(username);
    if (!person.organizations.has(organizationId)) await requireHost(organizationId, teamId, actor);
    await addTo(organizationId, teamId, person, actor);
  }

  /** Filling a team does not open the door: that needs a right of its own, or the stewardship that editors have of Viewers. */
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
    await members.remove(teamId, id, undefined, actor);
  }

  async function addTo(organizationId: bigint, teamId: bigint, { id }: Person, actor: Actor): Promise<void> {
    const { refuseMore } = await holdingsOf(actor.id, organizationId);
    await members.add(teamId, id, refuseMore, actor);
  }

  async function known(username: string): Promise<Person> {
    const person = await personNamed(username);
    if (!person) throw unknown(username);
    return person;
  }
}

function unknown(username: string): AppError {
  return new AppError('notFound', `user does not exist: ${username.slice(0, 60)}`);
}
