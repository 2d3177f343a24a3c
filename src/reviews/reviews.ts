/**
 * Access reviews: which access is kept, and which is ended.
 *
 * 1. The items of a review are those of one moment. Access that is granted later is not reviewed, and what ends
 *    otherwise is marked as gone.
 * 2. Ending an item is the real change, in the transaction that decides about the item, with the rights of the
 *    reviewer: what they could not end without the review, they cannot end with it.
 * 3. No reviewer decides about their own access, nor about that of a team that they are in.
 * 4. At the due date, or when it is closed before, undecided items are kept or ended, as the review says: with the
 *    rights of the owner who started it, or closes it. If ending is rejected, the item says why, and the review is
 *    closed all the same.
 */
import type { Judge } from '../authz/judge.ts';
import { AppError, invalidField } from '../base/errors.ts';
import { readLineField } from '../base/fields.ts';
import type { Page, PageRequest } from '../base/page.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { isRobotPrincipal } from '../changes/principal.ts';
import type { Once } from '../changes/write.ts';
import type { Person } from '../identity/callers.ts';
import type { PlannedChange } from '../impact/changes/planned-change.ts';
import type { ImpactReport, PreviewCaller } from '../impact/impact.ts';
import type {
  ChainEntry,
  Decision,
  ItemState,
  Named,
  Review,
  ReviewItem,
  ReviewQuestion,
  Undecided,
} from './review.ts';
import { plannedEnding } from './review-endings.ts';
import type { FindItems } from './review-items.ts';
import { type QuestionInput, questionText } from './review-question.ts';
import { hashOf } from './review-record.ts';
import { createReviewSettlement, rejectionIn, type SettlementParts } from './review-settlement.ts';

export interface ReviewSetting {
  readonly organization: Named;
  readonly actor: Actor;
}

export interface ReviewInput {
  readonly name?: string | undefined;
  readonly question: QuestionInput;
  /** Login names. */
  readonly reviewers?: readonly string[] | undefined;
  readonly dueAt?: Date | undefined;
  readonly undecided?: Undecided | undefined;
}

interface Parts extends SettlementParts {
  readonly judge: Pick<Judge, 'holds'>;
  readonly findItems: FindItems;
  readonly readQuestion: (organization: Named, input: QuestionInput) => Promise<ReviewQuestion>;
  readonly preview: (caller: PreviewCaller, changes: readonly PlannedChange[]) => Promise<ImpactReport>;
  readonly personNamed: (name: string) => Promise<Person | undefined>;
}

/** What ending an item would do. */
export interface EndingImpact {
  readonly impact: ImpactReport | undefined;
  /** Why the caller cannot end it. */
  readonly rejection: { readonly reason: string; readonly message: string } | undefined;
}

/** How a record is found in the audit log. */
export interface RecordProof {
  readonly hash: string;
  readonly start: ChainEntry;
  readonly close: ChainEntry;
  /** Whether the text of the record still has the hash that the log names. */
  readonly isUnchanged: boolean;
}

const DAY_MS = 86_400_000;
const DUE_AFTER_DAYS = 14;
const MAX_DUE_DAYS = 366;
const MAX_NAME = 100;
const MAX_REVIEWERS = 20;
const MAX_COMMENT = 1000;

export type Reviews = ReturnType<typeof createReviews>;

export function createReviews(parts: Parts) {
  const { store, judge, endings, findItems, readQuestion, preview, personNamed } = parts;
  const settlement = createReviewSettlement(parts);
  return {
    list,
    get,
    items,
    itemWith,
    impactOf,
    start,
    decide,
    close,
    settleDue: settlement.settleDue,
    proofOf,
    recordOf,
    allItems,
  };

  async function list(
    organizationId: bigint,
    callerId: bigint,
    state: 'open' | 'closed' | undefined,
    page: PageRequest,
  ) {
    const reviewerId = (await isOwner(organizationId, callerId)) ? undefined : callerId;
    return await store.list(organizationId, { reviewerId, state }, page);
  }

  /** Owners see all reviews, and reviewers theirs. */
  async function get(organizationId: bigint, callerId: bigint, id: bigint): Promise<Review> {
    const review = await store.get(organizationId, id);
    const isSeen =
      review !== undefined &&
      (review.reviewers.some((one) => one.id === callerId) || (await isOwner(organizationId, callerId)));
    if (!review || !isSeen) throw new AppError('notFound', 'review does not exist', { reason: 'review_not_found' });
    return review;
  }

  async function items(review: Review, page: PageRequest, state?: ItemState): Promise<Page<ReviewItem>> {
    return await store.items(review.id, page, state);
  }

  async function allItems(review: Review): Promise<readonly ReviewItem[]> {
    return (await store.items(review.id)).items;
  }

  async function itemWith(review: Review, itemId: bigint): Promise<ReviewItem> {
    const found = await store.item(review.id, itemId);
    if (!found) throw new AppError('notFound', 'item does not exist', { reason: 'review_item_not_found' });
    return found;
  }

  /** What would happen if the caller ended it now, and why they cannot. */
  async function impactOf(
    { organization, actor }: ReviewSetting,
    review: Review,
    item: ReviewItem,
  ): Promise<EndingImpact> {
    const none = { impact: undefined, rejection: undefined };
    if (!item.isPresent || review.closedAt) return none;
    try {
      await requireMayDecide(organization.id, review, item, actor);
      await endings.requireRight(organization.id, actor.id, item);
      const change = plannedEnding(item);
      if (!change) return none;
      const caller = { organizationId: organization.id, organizationName: organization.name, callerId: actor.id };
      const impact = await preview(caller, [change]);
      const [refusal] = impact.refusals;
      return { impact, rejection: refusal && { reason: refusal.reason, message: refusal.message } };
    } catch (error) {
      return { impact: undefined, rejection: rejectionIn(error) };
    }
  }

  async function start(setting: ReviewSetting, input: ReviewInput, now: Date, once?: Once<Review>): Promise<Review> {
    const { organization, actor } = setting;
    const question = await readQuestion(organization, input.question);
    const name =
      input.name === undefined
        ? [...questionText(question)].slice(0, MAX_NAME).join('')
        : readLineField('name', input.name, MAX_NAME, 1);
    const dueAt = readDue(input.dueAt, now);
    const reviewers = await readReviewers(organization.id, input.reviewers ?? []);
    const found = await findItems(organization.id, question, now);
    const draft = { name, question, dueAt, reviewers, undecided: input.undecided ?? 'keep', ...found };
    return await store.start(organization.id, draft, actor, once);
  }

  /** Active members. What they can end is up to their own rights, which can change until they decide. */
  async function readReviewers(organizationId: bigint, names: readonly string[]): Promise<Named[]> {
    if (names.length > MAX_REVIEWERS) throw invalidField('reviewers', `reviewers must be at most ${MAX_REVIEWERS}`);
    const found = new Map<bigint, Named>();
    for (const name of names) {
      const person = await personNamed(name);
      if (!person?.active || !person.organizations.has(organizationId)) {
        const message = `${name.slice(0, 60)} is not an active member of the organization`;
        throw new AppError('malformed', message, { reason: 'not_a_member', errors: [{ field: 'reviewers', message }] });
      }
      found.set(person.id, { id: person.id, name: person.login });
    }
    return [...found.values()];
  }

  async function decide(
    { organization, actor }: ReviewSetting,
    ids: { readonly review: bigint; readonly item: bigint },
    verdict: Decision['verdict'],
    comment = '',
  ): Promise<ReviewItem> {
    const review = await get(organization.id, actor.id, ids.review);
    if (review.closedAt) throw new AppError('conflict', 'the review is closed', { reason: 'review_closed' });
    const item = await itemWith(review, ids.item);
    await requireMayDecide(organization.id, review, item, actor);
    if ([...comment].length > MAX_COMMENT) {
      throw invalidField('comment', `comment must have at most ${MAX_COMMENT} characters`);
    }
    if (verdict === 'end' && item.isPresent) await endings.requireRight(organization.id, actor.id, item);
    return await store.decide(organization.id, review.id, item.id, { actor, verdict, comment, isByRule: false });
  }

  /** Reviewers decide, but not about themselves. Without reviewers, the owners do. */
  async function requireMayDecide(
    organizationId: bigint,
    { reviewers }: Review,
    { principal }: ReviewItem,
    actor: Actor,
  ): Promise<void> {
    const isReviewer =
      reviewers.length > 0 ? reviewers.some(({ id }) => id === actor.id) : await isOwner(organizationId, actor.id);
    if (!isReviewer || isRobotPrincipal(actor.id)) {
      throw new AppError('forbidden', 'only reviewers of this review can decide', { reason: 'not_a_reviewer' });
    }
    const isOwn =
      principal.type === 'team' ? await store.isInTeam(principal.id, actor.id) : isUser(principal, actor.id);
    if (isOwn) {
      throw new AppError('forbidden', 'reviewers do not decide about their own access: ask another reviewer', {
        reason: 'own_access',
      });
    }
  }

  async function close(
    { organization, actor }: ReviewSetting,
    id: bigint,
    precondition: (review: Review) => void,
  ): Promise<Review> {
    const review = await get(organization.id, actor.id, id);
    precondition(review);
    if (review.closedAt) throw new AppError('conflict', 'the review is closed', { reason: 'review_closed' });
    const rejections = await settlement.endUndecided(review, actor);
    const closedBy = { id: actor.id, name: actor.name };
    // Deciding undecided items has made the review another one than the caller has read.
    const isDone = await store.close({
      organizationId: organization.id,
      id,
      actor,
      closedBy,
      rejections,
      decide: () => undefined,
    });
    if (!isDone) throw new AppError('conflict', 'the review is closed', { reason: 'review_closed' });
    return await get(organization.id, actor.id, id);
  }

  /** Undefined while the review is open. */
  async function proofOf({ id, organizationId, recordHash }: Review): Promise<RecordProof | undefined> {
    if (recordHash === undefined) return undefined;
    const text = await store.record(organizationId, id);
    const [start, close] = [
      await store.entry(organizationId, id, 'review.start'),
      await store.entry(organizationId, id, 'review.close'),
    ];
    if (text === undefined || !start || !close) return undefined;
    return { hash: recordHash, start, close, isUnchanged: hashOf(text) === close.recordHash };
  }

  async function recordOf({ id, organizationId }: Review): Promise<string> {
    const text = await store.record(organizationId, id);
    if (text !== undefined) return text;
    throw new AppError('conflict', 'the review has no record before it is closed', { reason: 'review_open' });
  }

  async function isOwner(organizationId: bigint, callerId: bigint): Promise<boolean> {
    return await judge.holds(callerId, organizationId, 'owner', { type: 'organization', id: organizationId });
  }
}

function readDue(dueAt: Date | undefined, now: Date): Date {
  if (dueAt === undefined) return new Date(now.getTime() + DUE_AFTER_DAYS * DAY_MS);
  if (dueAt <= now) throw invalidField('due_at', 'due_at must be in the future');
  if (dueAt.getTime() > now.getTime() + MAX_DUE_DAYS * DAY_MS) {
    throw invalidField('due_at', `due_at must be within ${MAX_DUE_DAYS} days`);
  }
  return dueAt;
}

function isUser({ type, id }: { readonly type: string; readonly id: bigint }, userId: bigint): boolean {
  return type === 'user' && id === userId;
}
