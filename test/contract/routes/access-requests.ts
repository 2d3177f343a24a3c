import { ORG } from './parts.ts';
import { HAS_KEY, type Known, routes } from './route.ts';

const EDIT = { relation: 'can_edit', object: { type: 'cluster', name: 'prod' }, for: 'PT4H', reason: 'INC-1234' };

const RULES = [
  { name: 'emergencies', match: { relations: ['can_edit'] }, longest: 'PT8H', break_glass: true },
  { name: 'the rest' },
];

const requestNamed = ({ created }: Known, request: string) => ({ path: { id: created[request] ?? '' }, query: ORG });

export const ACCESS_REQUESTS = routes({
  'POST /api/v1/authz/requests': {
    body: {
      ...{ relation: 'can_connect', object: { type: 'cluster', id: 999_999 }, for: 'PT1H', reason: 'x' },
    },
    names: '?org REQUESTED',
    again: HAS_KEY,
    example: () => ({
      as: 'dan',
      query: ORG,
      body: EDIT,
      note: ({ body }, created) => {
        created.request = body.id;
        created.digest = body.digest;
      },
    }),
    cost: {
      as: 'POST /api/v1/authz/preview',
      because: 'previews one change, and writes one row',
    },
  },
  'POST /api/v1/authz/requests/:id/deny': {
    body: {},
    names: 'id:text ?org .comment',
    again: 'what was decided stays decided',
    example: (known) => ({ as: 'ann', ...requestNamed(known, 'denied'), body: { comment: 'Not today.' } }),
    cost: { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  },
  'POST /api/v1/authz/requests/:id/cancel': {
    names: 'id:text ?org',
    again: 'what was cancelled stays cancelled',
    example: (known) => ({ as: 'cat', ...requestNamed(known, 'cancelled') }),
    cost: { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  },
  'POST /api/v1/authz/requests/:id/acknowledge': {
    names: 'id:text ?org',
    again: 'what was acknowledged stays so',
    example: (known) => ({ as: 'ann', ...requestNamed(known, 'emergency') }),
    cost: { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  },
  'GET /api/v1/authz/requests': {
    names: '?org PAGE ?state:text ?by:text ?for_me',
    example: () => ({ as: 'ann', query: { ...ORG, state: 'open', for_me: true } }),
    cost: { as: 'GET /api/v1/authz/roles', because: 'lists at most fifty rows' },
  },
  'GET /api/v1/authz/requests/:id': {
    names: 'id:text ?org',
    example: ({ created: { request = '' } }) => ({ as: 'ann', path: { id: request }, query: ORG }),
    cost: { as: 'POST /api/v1/authz/preview', because: 'previews one change' },
  },
  'GET /api/v1/user/requests': {
    names: 'PAGE ?state:text ?for_me',
    example: () => ({ as: 'dan' }),
    cost: { as: 'GET /api/v1/authz/roles', because: 'lists at most fifty rows' },
  },
  'POST /api/v1/authz/requests/:id/approve': {
    body: { digest: 'x' },
    names: 'id:text ?org .digest .comment',
    again: 'what was decided stays decided',
    example: ({ created: { request = '', digest = '' } }) => ({
      ...{ as: 'ann', path: { id: request }, query: ORG, body: { digest, comment: 'For the incident.' } },
    }),
    cost: { as: 'POST /api/v1/authz/preview', because: 'previews one change' },
  },
  'POST /api/v1/authz/requests/:id/end': {
    names: 'id:text ?org',
    again: 'what has ended stays ended',
    example: ({ created: { request = '' } }) => ({ as: 'dan', path: { id: request }, query: ORG }),
    cost: { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  },
  'PUT /api/v1/orgs/:org/request_rules': {
    body: [{ name: 'x', approvals: 9 }],
    names: 'org RULE',
    example: () => ({ as: 'ann', path: { org: 'acme' }, body: RULES }),
    cost: { as: 'PUT /api/v1/authz/roles/:id', because: 'writes one row' },
  },
  'GET /api/v1/orgs/:org/request_rules': {
    names: 'org',
    example: () => ({ as: 'ann', path: { org: 'acme' } }),
    cost: { as: 'GET /api/v1/authz/roles/:id', because: 'reads one row' },
  },
});
