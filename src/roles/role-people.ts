import type { Judge } from '../authz/judge.ts';
import { createPace } from '../base/slices.ts';
import type { Role } from './roles.ts';

/** Users who are in exactly the same ones of those teams of an organization that have roles. */
export interface TeamsCount {
  readonly teamIds: readonly bigint[];
  readonly people: number;
}

export interface RolePeopleStore {
  counts(organizationId: bigint): Promise<TeamsCount[]>;
}

export type RolePeople = ReturnType<typeof createRolePeople>;

/**
 * How many users have each role through its teams; a user in two of the teams counts once. Only callers who may see all
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
    const isHeld = roles.some(({ teamIds }) => teamIds.length > 0);
    const counts = isHeld ? await store.counts(organizationId) : [];
    const ofTeam = new Map<bigint, TeamsCount[]>();
    const pace = createPace();
    for (const one of counts) {
      for (const team of one.teamIds) {
        const known = ofTeam.get(team);
        if (known) known.push(one);
        else ofTeam.set(team, [one]);
      }
      await pace();
    }
    const people = new Map<bigint, number>();
    for (const { id, teamIds } of roles) {
      const counted = new Set<TeamsCount>();
      for (const team of teamIds) for (const one of ofTeam.get(team) ?? []) counted.add(one);
      people.set(
        id,
        counted.values().reduce((sum, one) => sum + one.people, 0),
      );
      await pace();
    }
    return people;
  };
}
