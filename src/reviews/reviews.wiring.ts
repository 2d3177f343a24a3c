import type { Authz } from '../authz/authz.wiring.ts';
import { createReferences } from '../guardrails/guardrails.store.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Impact } from '../impact/impact.ts';
import type { Infrastructure } from '../infrastructure.ts';
import type { Unused } from '../unused/unused.ts';
import { createEndedAccess } from './ended-access.store.ts';
import { createReviewEndings } from './review-endings.ts';
import { createReviewItems } from './review-items.ts';
import { readQuestion } from './review-question.ts';
import { reviewRoutes } from './reviews.routes.ts';
import { createReviewStore } from './reviews.store.ts';
import { createReviews } from './reviews.ts';

/** Access reviews. What a review asks is no use of access, so the judge takes no note. */
export function wireReviews(
  { db, revisions, quotas, baseUrl }: Infrastructure,
  { callers: { personNamed, personWithId } }: Identity,
  { graphs, quietJudge: judge, model }: Authz,
  { unused, impact }: { unused: Unused; impact: Impact },
) {
  const store = createReviewStore(db, revisions.write, quotas, createEndedAccess(db, quotas));
  const references = createReferences(db);
  const reviews = createReviews({
    ...{ store, judge, unused, personNamed, personWithId, current: revisions.current },
    endings: createReviewEndings(judge),
    findItems: createReviewItems(store, graphs, unused),
    readQuestion: (organization, input) => readQuestion(references, model, organization, input),
    preview: (caller, changes) => impact.preview(caller, changes, { withObjects: true, at: undefined }),
  });
  return {
    reviews,
    mount(scope: Scope): void {
      reviewRoutes(scope, reviews, baseUrl);
    },
  };
}
