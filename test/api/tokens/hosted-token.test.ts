import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { openTestServer } from '../../support/server.ts';

describe('Hosted tokens', () => {
  it('A hosted token is a short-lived JWT that anyone can verify with the published keys', async () => {
    const atrium = await openTestServer({ env: { DEPLOYMENT: 'hosted' } });
    const { status, body } = await atrium.as('ann')('GET', '/user/hosted-token');
    assert.deepEqual([status, Object.keys(body)], [200, ['hostedToken']]);
    const keySet = createRemoteJWKSet(new URL(`${atrium.url}/.well-known/jwks.json`));
    const { payload } = await jwtVerify(body.hostedToken, keySet, { issuer: atrium.url, algorithms: ['EdDSA'] });
    assert.equal(payload.sub, String(atrium.world.users.ann?.id));
    assert.equal(payload.preferred_username, 'ann');
    assert.equal(payload.is_admin, false);
    assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 300);
    assert.ok(Math.abs((payload.iat ?? 0) * 1000 - Date.now()) < 60_000);

    const later = { currentDate: new Date(Date.now() + 301_000) };
    await assert.rejects(jwtVerify(body.hostedToken, keySet, later), { code: 'ERR_JWT_EXPIRED' });
    const [head, claims, signature] = body.hostedToken.split('.');
    const forged = Buffer.from(JSON.stringify({ ...payload, is_admin: true })).toString('base64url');
    await assert.rejects(jwtVerify(`${head}.${forged}.${signature}`, keySet), /signature/);
    assert.notEqual(claims, forged);
    const again = (await atrium.as('ann')('GET', '/user/hosted-token')).body.hostedToken;
    assert.notEqual(again, body.hostedToken);

    const keys = (await atrium.call('GET', '/.well-known/jwks.json')).body.keys;
    assert.equal(keys.length, 1);
    assert.equal(keys[0].kid, decodeProtectedHeader(again).kid);
    assert.equal('d' in keys[0], false);
    // It proves an identity to others. It is not a credential here.
    const tried = await atrium.as()('GET', '/user', undefined, { Authorization: `Bearer ${again}` });
    assert.equal(tried.status, 401);
    await atrium.close();
  });

  for (const deployment of ['standard', 'marketplace']) {
    it(`Hosted tokens and their public keys are answered with 404 on ${deployment} deployments`, async () => {
      const atrium = await openTestServer({ env: { DEPLOYMENT: deployment } });
      for (const name of ['ann', undefined]) {
        const answer = await atrium.as(name)('GET', '/user/hosted-token');
        assert.deepEqual([answer.status, answer.body.url], [404, `${atrium.url}/api/v1/docs`]);
      }
      assert.equal((await atrium.call('GET', '/.well-known/jwks.json')).status, 404);
      await atrium.close();
    });
  }
});
