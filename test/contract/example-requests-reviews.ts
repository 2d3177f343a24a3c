import type { NamedRequest } from './example-requests.ts';

const ORG = { org: 'acme' };

/** Everything about access reviews, and access that is not used. */
export const REVIEW_REQUESTS: readonly NamedRequest[] = [
  ['listUnusedAccess', () => ({ as: 'ann', query: { ...ORG, days: 90 } })],
  [
    'startReview',
    ({ id }) => ({
      as: 'ann',
      query: ORG,
      body: {
        name: 'Operators, every quarter',
        question: { kind: 'team', team: { id: id.operators } },
        reviewers: ['ann'],
        undecided: 'keep',
      },
      note: ({ body }, created) => {
        created.review = body.id;
      },
    }),
  ],
  ['listReviews', () => ({ as: 'ann', query: { ...ORG, state: 'open' } })],
  [
    'getReview',
    ({ created: { review = 0 } }) => ({
      as: 'ann',
      path: { id: review },
      query: ORG,
      note: ({ body }, created) => {
        created.reviewItem = body.items[0].id;
      },
    }),
  ],
  [
    'getReviewItem',
    ({ created: { review = 0, reviewItem = 0 } }) => ({
      as: 'ann',
      path: { id: review, item: reviewItem },
      query: ORG,
    }),
  ],
  [
    'keepReviewItem',
    ({ created: { review = 0, reviewItem = 0 } }) => ({
      as: 'ann',
      path: { id: review, item: reviewItem },
      query: ORG,
      body: { comment: 'Still on call.' },
    }),
  ],
  [
    'endReviewItem',
    ({ created: { review = 0, reviewItem = 0 } }) => ({
      as: 'ann',
      path: { id: review, item: reviewItem },
      query: ORG,
      body: { comment: 'Moved to another team.' },
    }),
  ],
  ['closeReview', ({ created: { review = 0 } }) => ({ as: 'ann', path: { id: review }, query: ORG })],
  ['getReviewRecord', ({ created: { review = 0 } }) => ({ as: 'ann', path: { id: review }, query: ORG })],
  ['exportReview', ({ created: { review = 0 } }) => ({ as: 'ann', path: { id: review }, query: ORG })],
];
