import { AppError, missingRelation, reasonOf } from '../base/errors.ts';
import { createYielder } from '../base/scheduling/slices.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Person } from '../identity/callers.ts';
import type { Unused } from '../unused/unused.ts';
import type { Closing, Review, ReviewItem, ReviewStore } from './review.ts';
import type { createReviewEndings } from './review-endings.ts';

export interface SettlementParts {
  readonly store: ReviewStore;
  readonly endings: ReturnType<typeof createReviewEndings>;
  readonly unused: Pick<Unused, 'report'>;
  readonly current: () => Promise<void>;
  readonly personWithId: (id: bigint) => Promise<Person | undefined>;
}

const AT_ONCE = 20;
/** Errors that say something about the change. Others are tried again later. */
const FINAL: ReadonlySet<string> = new Set(['forbidden', 'conflict', 'notFound', 'malformed', 'stale', 'invalid']);

/** What happens to items that were not decided. */
export function createReviewSettlement({ store, endings, unused, current, personWithId }: SettlementParts) {
  return { settleDue, endUndecided };

  /** Closes the reviews that are due. Several processes may do this at the same time: the later ones find nothing. */
  async function settleDue(): Promise<void> {
    for (const review of await store.due(AT_ONCE)) {
      // No request arrived that would have made what is remembered exact.
      await current();
      const { id, organizationId, startedBy } = review;
      const actor = { ...startedBy, requestId: `review-${id}` };
      const person = await personWithId(startedBy.id);
      const rejections = await endUndecided(review, actor, !person?.active);
      await store.close({ organizationId, id, actor, closedBy: undefined, rejections, decide: () => undefined });
    }
  }

  /** One after the other, each in a transaction of its own: if one is rejected, the others end all the same. */
  async function endUndecided(review: Review, actor: Actor, isActorGone = false): Promise<Closing['rejections']> {
    const rejections = new Map<bigint, { reason: string; message: string }>();
    if (review.undecided === 'keep') return rejections;
    const { items: open } = await store.items(review.id, undefined, 'open');
    const stillUnused = await unusedNow(review, open.length);
    const yieldIfDue = createYielder();
    for (const item of open) {
      try {
        if (isActorGone) throw missingRelation('owner:org', ': the user who started the review is not active any more');
        if (stillUnused && !stillUnused.has(targetOf(item))) throw usedMeanwhile();
        if (item.isPresent) await endings.requireRight(review.organizationId, actor.id, item);
        const decision = { actor, verdict: 'end', comment: '', isByRule: true } as const;
        await store.decide(review.organizationId, review.id, item.id, decision);
      } catch (error) {
        if (error instanceof AppError && error.detail.reason === 'already_decided') continue;
        rejections.set(item.id, rejectionIn(error));
      }
      await yieldIfDue();
    }
    return rejections;
  }

  /** Of a review of unused access: what is still unused. Ending what was used meanwhile would take away what is needed. */
  async function unusedNow({ organizationId, question }: Review, open: number): Promise<Set<string> | undefined> {
    if (question.kind !== 'unused' || open === 0) return undefined;
    const { grants } = await unused.report(organizationId, question.days, new Date());
    return new Set(
      grants.flatMap((grant) =>
        grant.kind === 'permission' ? [] : `${grant.kind} ${grant.id} ${grant.to.type} ${grant.to.id}`,
      ),
    );
  }
}

function targetOf({ kind, targetId, principal }: ReviewItem): string {
  return `${kind} ${targetId} ${principal.type} ${principal.id}`;
}

function usedMeanwhile(): AppError {
  return new AppError('conflict', 'it was used after the review was started', { reason: 'used_meanwhile' });
}

export function rejectionIn(error: unknown): { readonly reason: string; readonly message: string } {
  if (!(error instanceof AppError) || !FINAL.has(error.kind)) throw error;
  return { reason: reasonOf(error), message: error.message };
}
