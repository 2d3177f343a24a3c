import assert from 'node:assert/strict';
import type { TestServer } from '../support/server/server.ts';
import { type Known, type NamedRequest, ORG } from './example-requests.ts';

const EDIT = { relation: 'can_edit', object: { type: 'cluster', name: 'prod' }, for: 'PT4H', reason: 'INC-1234' };
const RULES = [
  { name: 'emergencies', match: { relations: ['can_edit'] }, longest: 'PT8H', break_glass: true },
  { name: 'the rest' },
];

const at = ({ created }: Known, request: string) => ({ path: { id: created[request] ?? '' }, query: ORG });

/** Requests of cat, of which one will be denied, one is cancelled, and one took access in an emergency. */
export async function prepareRequests(market: TestServer): Promise<Record<string, string>> {
  const rules = (list: readonly object[]) => market.as('ann')('PUT', '/orgs/acme/request_rules', list);
  const ask = async (relation: string, more: object = {}) => {
    const object = { type: 'cluster', name: 'prod' };
    const body = { relation, object, for: 'PT1H', reason: 'INC-1234', ...more };
    const answer = await market.as('cat')('POST', '/authz/requests?org=acme', body);
    assert.equal(answer.status, 201, answer.text);
    return String(answer.body.id);
  };
  const [denied, cancelled] = [await ask('can_edit'), await ask('can_remove')];
  const permissions = [{ namespace: 'cluster_mgmt', action: 'reconfigure clusters' }];
  const role = await market.as('ann')('POST', '/authz/roles?org=acme', { name: 'repair', permissions });
  assert.equal((await rules([{ name: 'emergencies', break_glass: true }])).status, 200);
  const emergency = await ask('can_edit', { object: { type: 'cluster', name: 'staging' }, break_glass: true });
  const given = await market.as('cat')('POST', `/authz/requests/${emergency}/end?org=acme`);
  assert.equal(given.status, 200, given.text);
  assert.equal((await market.as('ann')('DELETE', `/authz/roles/${role.body.id}?org=acme`)).status, 204);
  assert.equal((await rules([])).status, 200);
  return { denied, cancelled, emergency };
}

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
  ['denyRequest', (known) => ({ as: 'ann', ...at(known, 'denied'), body: { comment: 'Not today.' } })],
  ['cancelRequest', (known) => ({ as: 'cat', ...at(known, 'cancelled') })],
  ['acknowledgeRequest', (known) => ({ as: 'ann', ...at(known, 'emergency') })],
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
