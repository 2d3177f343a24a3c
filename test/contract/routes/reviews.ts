import { ORG } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

export const REVIEWS = routes({
  'GET /api/v1/authz/unused': {
    names: '?org ?days ?kind PAGE',
    example: () => ({ as: 'ann', query: { ...ORG, days: 90 } }),
    cost: {
      what: 'all memberships, assignments and permissions',
      shot: () => ({ as: 'ann', path: '/authz/unused?org=acme&days=0&limit=50' }),
    },
  },
  'POST /api/v1/authz/reviews': {
    body: { question: { kind: 'team', team: { id: 999_999 } } },
    names: [
      '?org .name .question.kind .question.relation .question.object.type:objectType .question.object.id:cluster',
      '.question.object.name:clusterName .question.team.id:team .question.team.name:teamName .question.days',
      '.question.namespace .reviewers[]:person',
      '.due_at .undecided',
    ].join(' '),
    again: HAS_KEY,
    example: ({ id }) => ({
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
    cost: {
      as: 'GET /api/v1/authz/objects/:objectType/:objID/principals',
      because: 'finds the same users, and through what',
    },
  },
  'GET /api/v1/authz/reviews': {
    names: '?org ?state PAGE',
    example: () => ({ as: 'ann', query: { ...ORG, state: 'open' } }),
    cost: { as: 'GET /api/v1/authz/roles', because: 'lists at most fifty rows' },
  },
  'GET /api/v1/authz/reviews/:id': {
    names: 'id:review ?org ?state PAGE',
    example: ({ created: { review = 0 } }) => ({
      as: 'ann',
      path: { id: review },
      query: ORG,
      note: ({ body }, created) => {
        created.reviewItem = body.items[0].id;
      },
    }),
    cost: { as: 'GET /api/v1/authz/roles', because: 'lists at most fifty rows' },
  },
  'GET /api/v1/authz/reviews/:id/items/:item': {
    names: 'id:review item:reviewItem ?org',
    example: ({ created: { review = 0, reviewItem = 0 } }) => ({
      as: 'ann',
      path: { id: review, item: reviewItem },
      query: ORG,
    }),
    cost: { as: 'POST /api/v1/authz/preview', because: 'previews one change' },
  },
  'POST /api/v1/authz/reviews/:id/items/:item/keep': {
    body: {},
    names: 'id:review item:reviewItem ?org .comment',
    again: 'what is kept stays kept',
    example: ({ created: { review = 0, reviewItem = 0 } }) => ({
      as: 'ann',
      path: { id: review, item: reviewItem },
      query: ORG,
      body: { comment: 'Still on call.' },
    }),
    cost: { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  },
  'POST /api/v1/authz/reviews/:id/items/:item/end': {
    body: {},
    names: 'id:review item:reviewItem ?org .comment',
    again: 'what has ended stays ended, and the second request says so',
    example: ({ created: { review = 0, reviewItem = 0 } }) => ({
      as: 'ann',
      path: { id: review, item: reviewItem },
      query: ORG,
      body: { comment: 'Moved to another team.' },
    }),
    cost: { as: 'PUT /api/v1/authz/roles/:id', because: 'writes two rows' },
  },
  'POST /api/v1/authz/reviews/:id/close': {
    names: 'id:review ?org PAGE',
    again: 'what is closed stays closed, and the second request says so',
    example: ({ created: { review = 0 } }) => ({ as: 'ann', path: { id: review }, query: ORG }),
    cost: {
      as: 'PUT /api/v1/authz/roles/:id',
      because: 'writes one row, and for each undecided item what ending it writes',
    },
  },
  'GET /api/v1/authz/reviews/:id/record': {
    names: 'id:review ?org',
    example: ({ created: { review = 0 } }) => ({ as: 'ann', path: { id: review }, query: ORG }),
    cost: { as: 'GET /api/v1/authz/roles', because: 'sends one text' },
  },
  'GET /api/v1/authz/reviews/:id/csv': {
    names: 'id:review ?org',
    example: ({ created: { review = 0 } }) => ({ as: 'ann', path: { id: review }, query: ORG }),
    cost: { as: 'GET /api/v1/authz/roles', because: 'lists a thousand rows' },
  },
});
