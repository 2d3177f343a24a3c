import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { openTestServer } from '../../support/server/server.ts';

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
    assert.deepEqual([payload.aud, payload.scope], [atrium.url, 'all']);
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
    // The other one signs tokens for clusters.
    assert.deepEqual(keys.map(({ alg }: { alg: string }) => alg).sort(), ['ES256', 'EdDSA']);
    const [own] = keys.filter(({ alg }: { alg: string }) => alg === 'EdDSA');
    assert.equal(own.kid, decodeProtectedHeader(again).kid);
    assert.ok(keys.every((key: object) => !('d' in key)));
    // It proves an identity to others. It is not a credential here.
    const tried = await atrium.as()('GET', '/user', undefined, { Authorization: `Bearer ${again}` });
    assert.equal(tried.status, 401);
    await atrium.close();
  });

  it('A hosted token needs the scope all, does not outlive its token, and is not issued under sudo', async (t) => {
    const atrium = await openTestServer({ env: { DEPLOYMENT: 'hosted' } });
    t.after(() => atrium.close());
    const accountId = atrium.world.users.root?.id ?? 0n;
    const ask = async (path: string, token: { scopes: string[]; expiresAt?: Date }) => {
      const { text } = await atrium.instance.identity.tokens.issue({ accountId, name: crypto.randomUUID(), ...token });
      return await atrium.as()('GET', path, undefined, { Authorization: `token ${text}` });
    };
    for (const scopes of [['read:user'], ['write:user', 'write:admin', 'write:authz', 'write:organization']]) {
      const answer = await ask('/user/hosted-token', { scopes });
      assert.equal(answer.status, 403);
      assert.match(answer.body.message, /required=\[all\]/);
    }
    for (const path of ['/user/hosted-token?sudo=ann', '/user/hosted-token?sudo=root']) {
      const { status, body } = await ask(path, { scopes: ['all'] });
      assert.deepEqual([status, body.reason], [403, 'sudo_forbidden']);
    }
    const header = await atrium.as('root')('GET', '/user/hosted-token', undefined, { Sudo: 'ann' });
    assert.deepEqual([header.status, header.body.reason], [403, 'sudo_forbidden']);
    const expiresAt = new Date(Math.floor(Date.now() / 1000) * 1000 + 60_000);
    const { hostedToken } = (await ask('/user/hosted-token', { scopes: ['all'], expiresAt })).body;
    assert.equal((decodeJwt(hostedToken).exp ?? 0) * 1000, expiresAt.getTime());
  });

  for (const deployment of ['standard', 'marketplace']) {
    it(`Hosted tokens are answered with 404 on ${deployment} deployments, which publish keys for tokens of clusters only`, async () => {
      const atrium = await openTestServer({ env: { DEPLOYMENT: deployment } });
      for (const name of ['ann', undefined]) {
        const answer = await atrium.as(name)('GET', '/user/hosted-token');
        assert.deepEqual([answer.status, answer.body.url], [404, `${atrium.url}/api/v1/docs`]);
      }
      const { status, body } = await atrium.call('GET', '/.well-known/jwks.json');
      assert.deepEqual([status, body.keys.map(({ alg }: { alg: string }) => alg)], [200, ['ES256']]);
      await atrium.close();
    });
  }
});
