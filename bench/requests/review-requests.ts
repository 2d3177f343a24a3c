import type { Requests } from './entry.ts';

/** Access reviews, and access that is not used. */
export const REVIEW_REQUESTS: Requests = {
  'GET /api/v1/authz/reviews': { as: 'GET /api/v1/authz/roles', because: 'lists at most fifty rows' },
  'POST /api/v1/authz/reviews': {
    as: 'GET /api/v1/authz/objects/:objectType/:objID/principals',
    because: 'finds the same users, and through what',
  },
  'GET /api/v1/authz/reviews/:id': { as: 'GET /api/v1/authz/roles', because: 'lists at most fifty rows' },
  'GET /api/v1/authz/reviews/:id/items/:item': { as: 'POST /api/v1/authz/preview', because: 'previews one change' },
  'POST /api/v1/authz/reviews/:id/items/:item/keep': { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  'POST /api/v1/authz/reviews/:id/items/:item/end': { as: 'PUT /api/v1/authz/roles/:id', because: 'writes two rows' },
  'POST /api/v1/authz/reviews/:id/close': {
    as: 'PUT /api/v1/authz/roles/:id',
    because: 'writes one row, and for each undecided item what ending it writes',
  },
  'GET /api/v1/authz/reviews/:id/record': { as: 'GET /api/v1/authz/roles', because: 'sends one text' },
  'GET /api/v1/authz/reviews/:id/csv': { as: 'GET /api/v1/authz/roles', because: 'lists a thousand rows' },
  'GET /api/v1/authz/unused': {
    what: 'all memberships, assignments and permissions',
    shot: () => ({ as: 'ann', path: '/authz/unused?org=acme&days=0&limit=50' }),
  },
};
