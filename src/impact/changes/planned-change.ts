import type { ViolatedGuardrail } from '../../base/errors.ts';
import type { Term } from '../../base/expiry.ts';
import type { Reason } from '../../base/reasons.ts';
import type { TeamInput } from '../../organizations/teams.ts';
import type { RoleInput } from '../../roles/roles.ts';

/** One change that a caller thinks of making, with what its own call would be given. */
export type PlannedChange =
  | { readonly action: 'role.create'; readonly role: RoleInput }
  | { readonly action: 'role.update'; readonly id: bigint; readonly role: RoleInput }
  | { readonly action: 'role.delete'; readonly id: bigint }
  | { readonly action: 'role.assign'; readonly id: bigint; readonly teamId: bigint; readonly term?: Term }
  | { readonly action: 'role.unassign'; readonly id: bigint; readonly teamId: bigint }
  | { readonly action: 'team.create'; readonly team: NewTeamInput; readonly members: readonly string[] }
  | { readonly action: 'team.update'; readonly id: bigint; readonly team: TeamInput }
  | { readonly action: 'team.delete'; readonly id: bigint }
  | { readonly action: 'team.add_member'; readonly id: bigint; readonly username: string; readonly term?: Term }
  | { readonly action: 'team.remove_member'; readonly id: bigint; readonly username: string }
  | {
      readonly action: 'member.add';
      readonly username: string;
      readonly teamName: string | undefined;
      readonly term?: Term;
    }
  | { readonly action: 'member.remove'; readonly username: string; readonly orphans: boolean }
  | { readonly action: 'roles.import'; readonly document: string; readonly prunes: boolean }
  | {
      readonly action: 'assignment.create';
      readonly role: Pick<PlannedReference, 'id' | 'name'>;
      readonly to: PlannedReference;
      /** Undefined means the organization. */
      readonly on: PlannedReference | undefined;
      /** Of a cluster or a set of clusters. Undefined means all of it. */
      readonly namespaces: readonly string[] | undefined;
      readonly term?: Term;
    }
  | { readonly action: 'assignment.update'; readonly id: bigint; readonly term?: Term }
  | { readonly action: 'assignment.delete'; readonly id: bigint }
  | {
      readonly action: 'cluster.update';
      readonly id: bigint;
      /** Undefined: it stays in its set. */
      readonly setName: string | undefined;
      /** Who governs what can be done inside it would change. No relation follows from that. */
      readonly isGoverned: boolean;
    };

/** What a change names: by ID, by name, or by both. */
export interface PlannedReference {
  readonly type: string;
  readonly id?: bigint | undefined;
  readonly name?: string | undefined;
}

/** The change with this action. */
export type ChangeOf<Action extends PlannedChange['action']> = Extract<PlannedChange, { readonly action: Action }>;

export type NewTeamInput = TeamInput & { readonly name: string };

/** Why the call of a change would be rejected, although its impact is known. */
export interface Rejection {
  /** The place of the change in the list. */
  readonly change: number;
  readonly field: string;
  readonly reason: Reason;
  readonly message: string;
  /** If that is the reason. */
  readonly guardrail?: ViolatedGuardrail;
}
