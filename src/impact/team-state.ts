import { type DerivedTuple, membershipOf } from '../changes/derived-tuples.ts';
import type { Permission } from '../identity/callers.ts';

/** A team as it is, or as it would be. */
export interface TeamState {
  readonly id: bigint;
  readonly name: string;
  readonly permission: Permission;
  readonly isBuiltIn: boolean;
  /** As the subjects of tuples: `user:7`. */
  readonly members: ReadonlySet<string>;
}

/** Who is in the team, and who is the last owner. */
export function* membershipsOf(organizationId: bigint, team: TeamState): Generator<DerivedTuple, void, void> {
  for (const user of team.members) yield* membershipOf(organizationId, team, user);
}
