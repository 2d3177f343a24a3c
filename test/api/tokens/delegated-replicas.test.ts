import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inSession, sessionOf } from '../../support/server/browser-session.ts';
import { openPair, type SecondProcess } from '../../support/server/processes.ts';
import type { TestServer } from '../../support/server/server.ts';
import { bearer, tokenCalls } from '../../support/world/tokens.ts';

describe('Delegated tokens on two replicas', () => {
  let atrium: TestServer;
  let other: SecondProcess;
  before(async () => {
    const pair = await openPair({ AUTH_FAILURES: '1000' });
    atrium = pair.atrium;
    other = await pair.open();
  });
  after(async () => {
    await other.close();
    await atrium.close();
  });

  const body = { delegated: true, limits: { organizations: ['acme'] } };
  const statusOn = async (url: string, token: string) =>
    (await fetch(`${url}/api/v1/orgs/acme/teams`, { headers: bearer(token) })).status;
  const accepted = async (token: string) => {
    for (const url of [atrium.url, other.url, other.url]) assert.equal(await statusOn(url, token), 200);
  };

  it('One click ends a token with the next request on every replica', async () => {
    const { id, sha1 } = await tokenCalls(atrium).make('ann', { name: 'assistant', ...body });
    await accepted(sha1);
    assert.equal((await atrium.as('ann')('DELETE', `/users/ann/tokens/${id}`)).status, 204);
    for (const url of [other.url, atrium.url]) assert.equal(await statusOn(url, sha1), 401);
  });

  it('So does the end of the session that made it', async () => {
    const session = sessionOf(await atrium.as()('POST', '/user/signin', { token: atrium.world.users.ann?.token }));
    const page = inSession(atrium, session);
    const { sha1 } = (await page('POST', '/users/ann/tokens', { name: 'of the session', ...body })).body;
    await accepted(sha1);
    assert.equal((await page('POST', '/user/signout')).status, 200);
    for (const url of [other.url, atrium.url]) assert.equal(await statusOn(url, sha1), 401);
  });
});
