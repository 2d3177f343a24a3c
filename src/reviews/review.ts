import type { Page, PageRequest } from '../base/page.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once, Work } from '../changes/write.ts';
import type { Grant } from '../unused/unused.ts';

export interface Named {
  readonly id: bigint;
  readonly name: string;
}

/** Who holds a relation on an object, or in a namespace of a cluster. */
export interface AccessQuestion {
  readonly kind: 'access';
  readonly relation: string;
  readonly object: Named & { readonly type: string };
  readonly namespace?: string;
}

/** What a review is about. Names are those of when it was started. */
export type ReviewQuestion =
  | AccessQuestion
  | { readonly kind: 'team'; readonly team: Named }
  | { readonly kind: 'robot_tokens'; readonly days: number }
  | { readonly kind: 'unused'; readonly days: number };

export const QUESTION_KINDS = [
  'access',
  'team',
  'robot_tokens',
  'unused',
] as const satisfies readonly ReviewQuestion['kind'][];

/** What happens to items that were not decided. */
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
export type ItemDetails = Partial<OfMembership & OfAssignment & OfToken>;
interface OfMembership {
  readonly team: TextNamed;
}
interface OfAssignment {
  readonly role: TextNamed;
  readonly on: TextNamed & { readonly type: string };
}
interface OfToken {
  readonly token: TextNamed;
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
  /** Undefined if no reviewer decided. */
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

export interface NewReview {
  readonly name: string;
  readonly question: ReviewQuestion;
  readonly undecided: Undecided;
  readonly dueAt: Date;
  readonly reviewers: readonly Named[];
  readonly items: readonly ItemDraft[];
  readonly leftOut: number;
}

export interface Decision {
  readonly actor: Actor;
  readonly verdict: 'keep' | 'end';
  readonly comment: string;
  /** The review decides, not the actor. */
  readonly isByRule: boolean;
}

export interface Closing {
  readonly organizationId: bigint;
  readonly id: bigint;
  /** With whose rights it is closed. */
  readonly actor: Actor;
  /** Undefined if it was due. */
  readonly closedBy: Named | undefined;
  /** What could not be ended, by item. */
  readonly rejections: ReadonlyMap<bigint, { readonly reason: string; readonly message: string }>;
  /** Throws if the review is not the one that was meant. */
  readonly decide: (review: Review) => void;
}

interface Inside {
  readonly query: Parameters<Work<unknown>>[0];
  readonly touch: Parameters<Work<unknown>>[1];
  readonly record: Parameters<Work<unknown>>[2];
}
/** Ends the access of an item as a part of a transaction. */
export type EndInside = (
  inside: Inside,
  item: ItemDraft,
  actor: Actor,
  organizationId: bigint,
) => Promise<'ended' | 'gone'>;

/** A token of a robot. */
export interface OldToken extends Named {
  readonly robot: Named;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

export interface ItemSource {
  /** Of robots of the organization, created before this time, by robot and ID. */
  tokensBefore(organizationId: bigint, before: Date): Promise<OldToken[]>;
}

export interface ReviewStore extends ItemSource {
  /** The newest first. Only those of one reviewer, if they are given. */
  list(
    organizationId: bigint,
    filter: { readonly reviewerId?: bigint | undefined; readonly state?: string | undefined },
    page: PageRequest,
  ): Promise<Page<Review>>;
  get(organizationId: bigint, id: bigint): Promise<Review | undefined>;
  due(max: number): Promise<Review[]>;
  items(reviewId: bigint, page?: PageRequest, state?: ItemState): Promise<Page<ReviewItem>>;
  item(reviewId: bigint, id: bigint): Promise<ReviewItem | undefined>;
  start(organizationId: bigint, draft: NewReview, actor: Actor, once?: Once<Review>): Promise<Review>;
  decide(organizationId: bigint, reviewId: bigint, itemId: bigint, decision: Decision): Promise<ReviewItem>;
  close(closing: Closing): Promise<boolean>;
  record(organizationId: bigint, id: bigint): Promise<string | undefined>;
  entry(organizationId: bigint, id: bigint, action: 'review.start' | 'review.close'): Promise<ChainEntry | undefined>;
  isInTeam(teamId: bigint, userId: bigint): Promise<boolean>;
}
