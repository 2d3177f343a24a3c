import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

describe('What a section of a file leaves out', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
    assert.equal((await atrium.as('ann')('POST', '/orgs', { username: 'parts' })).status, 201);
  });
  after(() => atrium.close());

  const send = async (method: 'PUT' | 'POST', part: object) => {
    const document = { apiVersion: 'atrium/v1', kind: 'Organization', organization: 'parts', ...part };
    return await atrium.as('ann')(method, `/orgs/parts/${method === 'PUT' ? 'file' : 'plan'}`, document);
  };
  const exported = async (section: string) =>
    (await atrium.as('ann')('GET', `/orgs/parts/file?format=json&sections=${section}`)).body[section];

  it('A section that prunes has to have items, so that a list that got lost deletes nothing', async () => {
    assert.equal((await send('PUT', { teams: [{ name: 'crew' }], robots: [{ name: 'deploy' }] })).status, 200);
    for (const section of ['teams', 'roles', 'assignments', 'robots', 'guardrails', 'webhooks']) {
      for (const lost of [{ prune: true }, { prune: true, items: null }, { prune: false }, {}]) {
        for (const method of ['PUT', 'POST'] as const) {
          const answer = await send(method, { [section]: lost });
          assert.deepEqual([answer.status, answer.body.errors?.[0]?.field], [422, section], answer.text);
        }
      }
    }
    const names = (await exported('teams')).map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ['crew', 'Editors', 'Owners', 'Viewers']);
    assert.equal((await send('PUT', { teams: { prune: true, items: [] } })).status, 200);
    assert.equal((await exported('teams')).length, 3);
  });

  it('What the token policy leaves out stays, and null is no maximum', async () => {
    const steps: [object, object][] = [
      [
        { max_days: 90, expiry_required: true },
        { max_days: 90, expiry_required: true },
      ],
      [{ expiry_required: false }, { max_days: 90, expiry_required: false }],
      [{ max_days: 30 }, { max_days: 30, expiry_required: false }],
      [{}, { max_days: 30, expiry_required: false }],
      [
        { max_days: null, expiry_required: true },
        { max_days: null, expiry_required: true },
      ],
    ];
    for (const [policy, expected] of steps) {
      const answer = await send('PUT', { token_policy: policy });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(await exported('token_policy'), expected, JSON.stringify(policy));
    }
  });
});
