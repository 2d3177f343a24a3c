import { type DerivedTuple, membershipOf } from '../changes/derived-tuples.ts';
import type { Permission } from '../identity/callers.ts';

export type Ends = ReadonlyMap<string, Date>;

/** A team as it is, or as it would be. */
export interface TeamState {
  readonly id: bigint;
  readonly name: string;
  readonly permission: Permission;
  readonly isBuiltIn: boolean;
  /** As the subjects of tuples: `user:7`. */
  readonly members: ReadonlySet<string>;
  /** When memberships end. Those of other members do not. */
  readonly ends: Ends;
}

/** Who is in the team, and who is the last owner. */
export function* membershipsOf(organizationId: bigint, team: TeamState): Generator<DerivedTuple, void, void> {
  for (const user of team.members) yield* membershipOf(organizationId, team, user);
}

/** Whether the team has a member besides this one whose membership does not end. */
export function hasOthers({ members, ends }: TeamState, user: string): boolean {
  return members.values().some((member) => member !== user && !ends.has(member));
}

/** Owners whose memberships end do not count, except for one who is left alone. */
export function isLastOwner(team: TeamState, user: string): boolean {
  const { permission, members, ends } = team;
  return permission === 'owner' && (members.size === 1 || (!ends.has(user) && !hasOthers(team, user)));
}
