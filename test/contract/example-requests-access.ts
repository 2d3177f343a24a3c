import { type NamedRequest, ORG } from './example-requests.ts';

const EDIT = { relation: 'can_edit', object: { type: 'cluster', name: 'prod' }, for: 'PT4H', reason: 'INC-1234' };
const RULES = [
  { name: 'emergencies', match: { relations: ['can_edit'] }, longest: 'PT8H', break_glass: true },
  { name: 'the rest' },
];

/** Everything about access requests, and then the rules for them. */
export const ACCESS_REQUESTS: readonly NamedRequest[] = [
  [
    'createRequest',
    () => ({
      as: 'dan',
      query: ORG,
      body: EDIT,
      note: ({ body }, created) => {
        created.request = body.id;
        created.digest = body.digest;
      },
    }),
  ],
  ['listRequests', () => ({ as: 'ann', query: { ...ORG, state: 'open', for_me: true } })],
  ['getRequest', ({ created: { request = '' } }) => ({ as: 'ann', path: { id: request }, query: ORG })],
  ['listMyRequests', () => ({ as: 'dan' })],
  [
    'approveRequest',
    ({ created: { request = '', digest = '' } }) => ({
      ...{ as: 'ann', path: { id: request }, query: ORG, body: { digest, comment: 'For the incident.' } },
    }),
  ],
  ['endRequest', ({ created: { request = '' } }) => ({ as: 'dan', path: { id: request }, query: ORG })],
  ['updateRequestRules', () => ({ as: 'ann', path: { org: 'acme' }, body: RULES })],
  ['getRequestRules', () => ({ as: 'ann', path: { org: 'acme' } })],
];

/** A request is decided once, and the story approves it. */
export const DECIDED_REQUESTS = {
  denyRequest: {
    because: 'a request is decided once, and the story approves it',
    parameters: { id: 'req_1234', org: 'acme' },
    body: { comment: 'Not today.' },
    response: 'getRequest',
  },
  cancelRequest: {
    because: 'a request is closed once, and the story approves it',
    parameters: { id: 'req_1234', org: 'acme' },
    response: 'getRequest',
  },
  acknowledgeRequest: {
    because: 'the story has no emergency',
    parameters: { id: 'req_1234', org: 'acme' },
    response: 'getRequest',
  },
};
