import type { NamedRequest } from './example-requests.ts';

const ORG = { org: 'acme' };

/** Everything about assignments of roles. */
export const ASSIGNMENT_REQUESTS: readonly NamedRequest[] = [
  [
    'createAssignment',
    ({ id }) => ({
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
  ],
  ['listAssignments', () => ({ as: 'ann', query: { ...ORG, to: 'user:cat' } })],
  ['getAssignment', ({ created: { assignment = 0 } }) => ({ as: 'ann', path: { id: assignment }, query: ORG })],
  [
    'updateAssignment',
    ({ created: { assignment = 0 } }) => ({
      as: 'ann',
      path: { id: assignment },
      query: ORG,
      body: { reason: 'on call until Friday' },
    }),
  ],
  ['deleteAssignment', ({ created: { assignment = 0 } }) => ({ as: 'ann', path: { id: assignment }, query: ORG })],
];
