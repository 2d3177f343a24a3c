import { ORG } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

export const ASSIGNMENTS = routes({
  'POST /api/v1/authz/assignments': {
    body: { role: { name: 'nothing' }, to: { type: 'team', id: 999_999 } },
    names: '?org ASSIGNMENT',
    again: HAS_KEY,
    example: ({ id }) => ({
      as: 'ann',
      query: ORG,
      body: {
        role: { id: id.role },
        to: { type: 'user', name: 'cat' },
        on: { type: 'cluster', id: id.prod },
        reason: 'on call',
      },
      note: ({ body }, created) => {
        created.assignment = body.id;
      },
    }),
    cost: { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  },
  'GET /api/v1/authz/assignments': {
    names: '?org PAGE ?role ?to:text ?on:text ?reaching:text ?expires_before:text',
    example: () => ({ as: 'ann', query: { ...ORG, to: 'user:cat' } }),
    cost: { as: 'GET /api/v1/authz/roles', because: 'lists at most fifty rows' },
  },
  'GET /api/v1/authz/assignments/:id': {
    names: 'id:assignment ?org',
    example: ({ created: { assignment = 0 } }) => ({ as: 'ann', path: { id: assignment }, query: ORG }),
    cost: { as: 'GET /api/v1/authz/roles/:id', because: 'reads one row' },
  },
  'PATCH /api/v1/authz/assignments/:id': {
    body: {},
    names: 'id:assignment ?org ASSIGNMENT',
    example: ({ created: { assignment = 0 } }) => ({
      as: 'ann',
      path: { id: assignment },
      query: ORG,
      body: { reason: 'on call until Friday' },
    }),
    cost: { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  },
  'DELETE /api/v1/authz/assignments/:id': {
    names: 'id:assignment ?org',
    example: ({ created: { assignment = 0 } }) => ({ as: 'ann', path: { id: assignment }, query: ORG }),
    cost: { as: 'DELETE /api/v1/authz/roles/:id', because: 'deletes one row' },
  },
});
