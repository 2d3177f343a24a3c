import type { Judge } from '../authz/judge.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import type { Role } from './roles.ts';

/** Users who are in exactly the same ones of those teams of an organization that have roles. */
export interface TeamsCount {
  readonly teamIds: readonly bigint[];
  readonly people: number;
}

/** What a role is assigned to besides the teams that have it in the whole organization. */
export interface FurtherHolders {
  readonly roleId: bigint;
  /** On single objects. */
  readonly teamIds: readonly bigint[];
  /** To themselves, each with the teams that they are in. */
  readonly users: readonly (readonly bigint[])[];
}

export interface RolePeopleStore {
  counts(organizationId: bigint): Promise<TeamsCount[]>;
  further(organizationId: bigint): Promise<FurtherHolders[]>;
}

export type RolePeople = ReturnType<typeof createRolePeople>;

/**
 * How many users have each role, through teams or directly, wherever it is assigned; each user counts once. Only callers who may see all
 * teams are told, because they could count the members themselves.
 */
export function createRolePeople(store: RolePeopleStore, judge: Pick<Judge, 'holds'>) {
  return async (
    organizationId: bigint,
    callerId: bigint,
    roles: readonly Pick<Role, 'id' | 'teamIds'>[],
  ): Promise<ReadonlyMap<bigint, number> | undefined> => {
    const organization = { type: 'organization', id: organizationId } as const;
    if (!(await judge.holds(callerId, organizationId, 'can_view_teams', organization))) return undefined;
    const further = new Map((await store.further(organizationId)).map((one) => [one.roleId, one]));
    const isHeld = further.size > 0 || roles.some(({ teamIds }) => teamIds.length > 0);
    const counts = isHeld ? await store.counts(organizationId) : [];
    const ofTeam = new Map<bigint, TeamsCount[]>();
    const yieldIfDue = createYielder();
    for (const one of counts) {
      for (const team of one.teamIds) {
        const known = ofTeam.get(team);
        if (known) known.push(one);
        else ofTeam.set(team, [one]);
      }
      await yieldIfDue();
    }
    const people = new Map<bigint, number>();
    for (const { id, teamIds } of roles) {
      const counted = new Set<TeamsCount>();
      const teams = new Set([...teamIds, ...(further.get(id)?.teamIds ?? [])]);
      for (const team of teams) for (const one of ofTeam.get(team) ?? []) counted.add(one);
      const inTeams = counted.values().reduce((sum, one) => sum + one.people, 0);
      const direct = further.get(id)?.users.filter((theirs) => !theirs.some((team) => teams.has(team))) ?? [];
      people.set(id, inTeams + direct.length);
      await yieldIfDue();
    }
    return people;
  };
}
