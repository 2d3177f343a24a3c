import { noteId, ORG } from './parts.ts';
import { HAS_KEY, routes } from './route.ts';

export const GUARDRAILS = routes({
  'POST /api/v1/authz/guardrails': {
    body: { name: 'x' },
    names: '?org ?dry_run GUARDRAIL',
    again: HAS_KEY,
    example: ({ id }) => ({
      as: 'ann',
      query: ORG,
      body: {
        name: 'prod is closed',
        never: { users: ['eve'], relation: 'can_connect', object: { type: 'cluster', id: id.prod } },
      },
      note: noteId('guardrail'),
    }),
    cost: { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  },
  'GET /api/v1/authz/guardrails': {
    names: '?org',
    example: () => ({ as: 'ann', query: ORG }),
    cost: { as: 'GET /api/v1/authz/roles', because: 'lists a hundred rows, and their names' },
  },
  'GET /api/v1/authz/guardrails/:id': {
    names: 'id:guardrail ?org',
    example: ({ created: { guardrail = 0 } }) => ({ as: 'ann', path: { id: guardrail }, query: ORG }),
    cost: { as: 'GET /api/v1/authz/roles/:id', because: 'reads one row' },
  },
  'PUT /api/v1/authz/guardrails/:id': {
    body: {},
    names: 'id:guardrail ?org ?dry_run GUARDRAIL',
    example: ({ created: { guardrail = 0 } }) => ({
      as: 'ann',
      path: { id: guardrail },
      query: ORG,
      body: { description: 'Agreed with the customer.' },
    }),
    cost: { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  },
  'DELETE /api/v1/authz/guardrails/:id': {
    names: 'id:guardrail ?org',
    example: ({ created: { guardrail = 0 } }) => ({ as: 'ann', path: { id: guardrail }, query: ORG }),
    cost: { as: 'DELETE /api/v1/authz/roles/:id', because: 'deletes one row' },
  },
});
