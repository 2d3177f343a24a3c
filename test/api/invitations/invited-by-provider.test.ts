import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { openWebBrowser } from '../../support/server/web-browser.ts';
import { type RealProvider, startRealProvider } from '../../support/services/real-provider.ts';
import { newAddress, openHost } from '../../support/world/invitations.ts';
import { addProvider, callIn } from '../../support/world/provider-visits.ts';

describe('Accepting an invitation by continuing with a provider', () => {
  let atrium: TestServer;
  let provider: RealProvider;
  before(async () => {
    provider = await startRealProvider();
    atrium = await openTestServer({ env: { OIDC_ALLOWED_NETWORKS: '127.0.0.0/8' } });
    await provider.serve(atrium.url, 'closed');
    await addProvider(atrium, provider, 'closed', { create_accounts: false });
  });
  after(async () => {
    await atrium.close();
    await provider.close();
  });

  let subjects = 0;
  async function goOn(email: string, code: string | undefined) {
    provider.signInAs(`invited-${++subjects}`, { email, email_verified: true, name: 'Zoe' });
    const browser = openWebBrowser();
    const query = new URLSearchParams({ return_to: '/me', ...(code !== undefined && { invitation: code }) });
    await browser.visit(`${atrium.url}/api/v1/user/signin/closed?${query}`);
    return browser;
  }

  it('Only the address of an open invitation gets an account at a provider that creates none', async () => {
    const { invite, org, call, path } = await openHost(atrium);
    const { id, email, code } = await invite(newAddress());
    for (const [address, withCode] of [
      [newAddress(), code],
      [email, undefined],
      [email, 'x'.repeat(32)],
    ] as const) {
      const browser = await goOn(address, withCode);
      assert.equal((await callIn(browser, atrium.url, 'GET', '/user')).status, 401);
    }
    const browser = await goOn(email.toUpperCase(), code);
    const me = await callIn(browser, atrium.url, 'GET', '/user');
    assert.equal(me.status, 200);
    const joined = await callIn(browser, atrium.url, 'POST', `/invitations/${code}/accept`, {});
    assert.equal(joined.status, 200, JSON.stringify(joined.body));
    assert.equal(joined.body.organization.name, org.name);
    const late = await invite(newAddress());
    await call('DELETE', `${path}/${late.id}`);
    const revoked = await goOn(late.email, late.code);
    assert.equal((await callIn(revoked, atrium.url, 'GET', '/user')).status, 401);
    assert.ok(id > 0);
  });
});
