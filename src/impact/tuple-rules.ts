import { RELATION_OF } from '../authz/escalation.ts';
import type { Permission } from '../identity/callers.ts';
import type { Tuple } from '../rebac/tuple.ts';

/** A team as far as tuples follow from it. */
export interface TeamState {
  readonly id: bigint;
  readonly name: string;
  readonly permission: Permission;
  readonly isBuiltIn: boolean;
  /** As the subjects of tuples: `user:7`. */
  readonly members: ReadonlySet<string>;
}

const EVERYBODY = 'user:*';

/**
 * The tuples of a team, as the view `tuple` of the database derives them from its rows. A test holds the two equal. These
 * are the ones that name no user.
 */
export function structureOf(organizationId: bigint, team: TeamState): Tuple[] {
  const { permission, isBuiltIn } = team;
  const [organization, name] = [`organization:${organizationId}`, `team:${team.id}`];
  const members = `${name}#member`;
  const tuples: Tuple[] = [
    { object: name, relation: permission === 'owner' ? 'owned_by' : 'organization', user: organization },
    { object: organization, relation: 'participant', user: members },
  ];
  if (permission !== 'none') tuples.push({ object: organization, relation: RELATION_OF[permission], user: members });
  if (isBuiltIn && permission === 'read') {
    tuples.push({ object: name, relation: 'steward', user: `${organization}#editor` });
  }
  if (isBuiltIn) tuples.push({ object: name, relation: 'built_in', user: EVERYBODY });
  if (hasLastOwner(team)) tuples.push({ object: name, relation: 'kept', user: EVERYBODY });
  return tuples;
}

/** The others: who is in the team, and who is the last owner. */
export function* membershipsOf(organizationId: bigint, team: TeamState): Generator<Tuple, void, void> {
  for (const user of team.members) yield* membershipOf(organizationId, team, user);
}

export function membershipOf(organizationId: bigint, team: TeamState, user: string): Tuple[] {
  const member = { object: `team:${team.id}`, relation: 'member', user };
  if (!hasLastOwner(team)) return [member];
  return [member, { object: `organization:${organizationId}`, relation: 'last_owner', user }];
}

export function hasLastOwner({ permission, members }: TeamState): boolean {
  return permission === 'owner' && members.size === 1;
}
