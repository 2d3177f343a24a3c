import type { AskedObject, ObjectRef } from '../object-ref.ts';

/** One way to get from no to yes. */
export interface Remedy {
  readonly changes: readonly WireChange[];
  readonly sentence: string;
  /** How many further permissions the user would get: of the organization, or on the object that a role is assigned on. */
  readonly gains: number;
  /** How many other users and robots would get something. */
  readonly others: number;
  readonly reach: Reach;
  /** The reach in words: "also on 1 other cluster, and every cluster to come". Empty if there is none. */
  readonly reachWords: string;
  /** Whether the caller may make the changes, and no guardrail would reject them. */
  readonly isAllowed: boolean;
  /** The guardrail that would reject the changes, if the caller may know it. */
  readonly rejectedBy: RejectingGuardrail | undefined;
  /** Users who hold this may make the change, unless it grants what they do not hold themselves. */
  readonly required: {
    readonly object: ObjectRef;
    readonly relation: string;
    readonly also: readonly RequiredRelation[];
  };
}

/** A relation that no caller can give without holding it. */
export interface RequiredRelation {
  readonly object: ObjectRef;
  readonly relation: string;
}

/** Where else the user would hold the relation that was asked about. */
export interface Reach {
  /** On how many other objects of the type, as far as the caller may see them. */
  readonly objects: number;
  /** Whether also on those that do not exist yet. */
  readonly isOpen: boolean;
}

export interface RejectingGuardrail {
  readonly id: bigint;
  readonly name: string;
  /** What it says, with what the caller may not see hidden. */
  readonly sentence: string;
}

export interface Remedies {
  readonly remedies: readonly Remedy[];
  /** The whole answer in one sentence, with the least remedy, if there is one. */
  readonly sentence: string | undefined;
  /** Why there are none, or only these. */
  readonly note: string;
}

export interface PermissionPair {
  readonly namespace: string;
  readonly action: string;
}

/** A change as `POST /authz/preview` takes it. */
export type WireChange =
  | { readonly action: 'role.create'; readonly role: NewRole }
  | { readonly action: 'role.update'; readonly id: bigint; readonly role: Pick<NewRole, 'permissions'> }
  | { readonly action: 'role.assign'; readonly id: bigint; readonly team: bigint }
  | { readonly action: 'team.add_member'; readonly id: bigint; readonly username: string }
  | { readonly action: 'assignment.create'; readonly role: Named; readonly to: NamedOf; readonly on: NamedOf };

interface Named {
  readonly id: bigint;
  readonly name: string;
}

interface NamedOf extends Named {
  readonly type: string;
}

interface NewRole {
  readonly name: string;
  readonly permissions: readonly PermissionPair[];
  readonly teamIDs: readonly bigint[];
}

export interface RemedyQuestion {
  readonly organizationId: bigint;
  readonly callerId: bigint;
  readonly object: ObjectRef;
  readonly relation: string;
  readonly userId: bigint;
  /** Whether the caller may see the object. What only its owner can hold is the caller's own. */
  readonly standing: 'seen' | 'own' | 'hidden';
  /** Found with the sight of the whole organization, whatever the caller may see. What the answer says must be hidden. */
  readonly seesWhole?: boolean;
  /** Only changes of these kinds. */
  readonly actions?: readonly WireChange['action'][];
}

/** How the caller could ask for access. */
export interface Requestable {
  /** For how long at most, as an ISO 8601 duration. */
  readonly longest: string;
  /** How many users must approve. */
  readonly approvals: number;
  /** How many could. */
  readonly approvers: number;
}

/** What is known further up about a no. */
export interface Advice {
  remedies(question: RemedyQuestion): Promise<Remedies>;
  /** What the caller could ask for, about themselves. Undefined if that is not possible. */
  requestable(
    question: Omit<RemedyQuestion, 'standing' | 'userId' | 'object'> & { readonly object: AskedObject },
  ): Promise<Requestable | undefined>;
  /** Guardrails that forbid what was asked about, as the caller may see them. */
  forbidding(question: Omit<RemedyQuestion, 'standing'>): Promise<readonly RejectingGuardrail[]>;
}

/** Why a guardrail makes it a no: `the guardrail "prod" says that members of the team payments can never …`. */
export function forbiddenBy({ name, sentence }: Pick<RejectingGuardrail, 'name' | 'sentence'>): string {
  return `the guardrail ${JSON.stringify(name)} says that ${sentence}`;
}
