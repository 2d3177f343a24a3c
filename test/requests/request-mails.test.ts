import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EmailMessage } from '../../src/base/mail/email-message.ts';
import type { AccessRequest } from '../../src/requests/access-request.ts';
import { createRequestMails } from '../../src/requests/mails/request-mails.ts';

const REQUEST: AccessRequest = {
  ...{ id: 7n, organizationId: 9n, organizationName: 'acme', relation: 'can_connect', namespaces: null },
  object: { type: 'cluster', id: 1n, name: 'prod' },
  ...{ reason: 'INC-1', state: 'open', by: { type: 'user', id: 5n, name: 'dan' } },
  change: { action: 'assignment.create', role: { id: 1n, name: 'operator' } },
  ...{ rule: null, approvals: 1, isBreakGlass: false, acknowledgedAt: null, acknowledgedBy: null, tokenCreator: null },
  ...{ createdAt: new Date(0), until: new Date(0), closesAt: new Date(0), closedAt: null, because: null },
  ...{ assignmentId: null, digest: '', decisions: [], version: 1 },
  effects: { gains: [], loses: [], grants: [], total: 0 },
};
const MANY = Array.from({ length: 300 }, (_, place) => BigInt(place + 1));

describe('Emails about access requests', () => {
  it('go to the hundred approvers whom a request names, and to every owner if the glass was broken', async () => {
    const sent: EmailMessage[] = [];
    const running: Promise<void>[] = [];
    const addresses = async (ids: readonly bigint[]) => ids.map((id) => `${id}@example.com`);
    const mails = createRequestMails(
      { claim: (_request, ids) => addresses(ids), addresses, owners: async () => MANY },
      { send: async (message) => void sent.push(message) },
      () => 'https://atrium.example.com',
      { start: (work) => void running.push(work()) },
    );
    mails.asked(REQUEST, MANY);
    await Promise.all(running);
    assert.deepEqual(
      sent.splice(0).map(({ to }) => to),
      await addresses(MANY.slice(0, 100)),
    );
    mails.brokeGlass(REQUEST);
    await Promise.all(running);
    assert.deepEqual(
      sent.map(({ to }) => to),
      await addresses(MANY),
    );
  });
});
