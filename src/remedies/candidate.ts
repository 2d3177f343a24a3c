import type { Tuple } from '../../packages/rebac/src/rebac.ts';
import type { PermissionPair } from '../authz/explain/remedy.ts';
import type { ObjectRef } from '../authz/object-ref.ts';
import type { Place } from '../authz/places/places.ts';

/** What a remedy assigns: a role, to the user or robot that was asked about. */
export interface Assigning {
  readonly roleId: bigint;
  readonly place: Place & { readonly id: bigint };
  /** Such as `cluster:1`. Undefined means the organization. */
  readonly on: string | undefined;
}

/** A change that a remedy consists of, as the API takes it. */
export type RemedyChange =
  | { readonly action: 'role.update'; readonly id: bigint; readonly permissions: readonly PermissionPair[] }
  | { readonly action: 'role.assign'; readonly id: bigint; readonly team: bigint }
  | { readonly action: 'role.create'; readonly permission: PermissionPair; readonly team: bigint }
  | { readonly action: 'team.add_member'; readonly id: bigint }
  | { readonly action: 'assignment.create'; readonly roleId: bigint; readonly on: ObjectRef };

export interface Candidate {
  readonly changes: readonly RemedyChange[];
  readonly tuples: readonly Tuple[];
  readonly teams: readonly bigint[];
  readonly joins?: bigint;
  readonly assigns?: Assigning;
  /** The role that gets a permission more. */
  readonly changedRole?: bigint;
  /** What the role gives on the place that it is assigned on. The caller who assigns it must hold that there. */
  readonly needs?: readonly string[];
  /** Whether the caller may make these changes. */
  readonly isAllowed: boolean;
  /** About what it would give to the user and to how many other users, to choose what is worth a closer look. */
  readonly estimate: readonly [gains: number, others: number];
}

export interface CandidateLimits {
  readonly teamsPerRole: number;
  readonly rolesPerOrganization: number;
  readonly assignmentsPerOrganization: number;
  readonly assignmentsPerPrincipal: number;
}
