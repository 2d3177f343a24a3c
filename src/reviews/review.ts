import type { Grant } from '../unused/unused.ts';

export interface Named {
  readonly id: bigint;
  readonly name: string;
}

/** What a review is about. Names are those of when it was started. */
export type ReviewQuestion =
  | { readonly kind: 'access'; readonly relation: string; readonly object: Named & { readonly type: string } }
  | { readonly kind: 'team'; readonly team: Named }
  | { readonly kind: 'robot_tokens'; readonly days: number }
  | { readonly kind: 'unused'; readonly days: number };

export const QUESTION_KINDS = [
  'access',
  'team',
  'robot_tokens',
  'unused',
] as const satisfies readonly ReviewQuestion['kind'][];

/** What happens to items that nobody decided about. */
export const UNDECIDED = ['keep', 'end'] as const;
export type Undecided = (typeof UNDECIDED)[number];

/**
 * `gone`: the access had ended otherwise. `rejected`: the review should have ended it, but the change was rejected, so it
 * is still there.
 */
export const ITEM_STATES = ['open', 'kept', 'ended', 'gone', 'rejected'] as const;
export type ItemState = (typeof ITEM_STATES)[number];

export const ITEM_KINDS = ['membership', 'assignment', 'token'] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];

/** One thing that can be kept or ended: a membership, an assignment, or a token of a robot. */
export interface ItemDraft {
  readonly kind: ItemKind;
  /** Who has it. */
  readonly principal: Named & { readonly type: string };
  /** The team that would be left, or the assignment or token that would end. */
  readonly targetId: bigint;
  /** Only what is shown: the team, the role and the place, or the token. */
  readonly details: ItemDetails;
  /** Why they have it, as of the start of the review. */
  readonly sentence: string;
}

/** IDs are text, because not every number is exact in the database's JSON. */
export interface ItemDetails {
  readonly team?: TextNamed;
  readonly role?: TextNamed;
  readonly on?: TextNamed & { readonly type: string };
  readonly token?: TextNamed;
}
export interface TextNamed {
  readonly id: string;
  readonly name: string;
}

export interface ReviewItem extends ItemDraft {
  readonly id: bigint;
  readonly state: ItemState;
  /** Whether the access is still there now. */
  readonly isPresent: boolean;
  /** Undefined if nobody decided. */
  readonly decidedBy: Named | undefined;
  readonly decidedAt: Date | undefined;
  readonly comment: string;
  /** Why it could not be ended. */
  readonly rejection: { readonly reason: string; readonly message: string } | undefined;
}

export type ItemCounts = Readonly<Record<ItemState, number>>;

export interface Review {
  readonly id: bigint;
  readonly organizationId: bigint;
  readonly name: string;
  readonly question: ReviewQuestion;
  readonly undecided: Undecided;
  readonly dueAt: Date;
  /** None: the owners. */
  readonly reviewers: readonly Named[];
  readonly startedBy: Named;
  readonly startedAt: Date;
  readonly leftOut: number;
  readonly closedBy: Named | undefined;
  readonly closedAt: Date | undefined;
  readonly recordHash: string | undefined;
  readonly counts: ItemCounts;
  readonly version: number;
}

/** An entry of the audit log about a review. */
export interface ChainEntry {
  readonly id: bigint;
  /** In hexadecimal digits. */
  readonly hash: string;
  /** The hash of the record that the entry names, if it closes the review. */
  readonly recordHash: string | undefined;
}

export type EndableGrant = Exclude<Grant, { readonly kind: 'permission' }>;
