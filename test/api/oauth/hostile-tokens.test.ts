import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { COUNTS } from '../../counts.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { type FakeIssuer, LOOPBACK, startFakeIssuer } from '../../support/services/token-issuer.ts';
import {
  exchangeForm,
  type FederatedRobot,
  makeFederatedRobot,
  makeRule,
  postForm,
} from '../../support/world/federation.ts';
import { type HostileToken, hostileTokens } from '../../support/world/hostile-tokens.ts';

const CLAIMS = { repository_id: '123', '/build/number': '7' };
const BUILD = { build: { number: 7 } };

describe('Hostile tokens', () => {
  let atrium: TestServer;
  let issuer: FakeIssuer;
  let robot: FederatedRobot;
  before(async () => {
    issuer = await startFakeIssuer();
    atrium = await openTestServer({ env: { ...LOOPBACK, AUTH_FAILURES: '100000', RATE_LIMIT: '0' } });
    robot = await makeFederatedRobot(atrium);
    await makeRule(atrium, robot, issuer, { claims: CLAIMS });
  });
  after(async () => {
    await atrium.close();
    await issuer.close();
  });

  const send = (text: string, to = robot) => postForm(atrium, exchangeForm(to.clientId, text));
  const valid = (more: Record<string, unknown> = {}, header = {}) =>
    issuer.token(atrium.url, { ...BUILD, ...more }, header);
  /** A new rule, which no keys are remembered for. */
  const another = async (more: object = {}) => {
    const made = await makeFederatedRobot(atrium);
    await makeRule(atrium, made, issuer, { claims: CLAIMS, ...more });
    return made;
  };

  it('No forged token is accepted, with fetched keys and with pasted ones, and explain rejects each as well', async () => {
    const pasted = await another({ jwks: issuer.jwks() });
    const tokens = await hostileTokens(issuer, atrium.url);
    assert.ok(tokens.length >= 300, String(tokens.length));
    assert.equal(new Set(tokens.map(({ text }) => text)).size, tokens.length, 'each is another text');
    const tryOne = async ({ name, text }: HostileToken) => {
      for (const to of [robot, pasted]) {
        const { status, body } = await send(text, to);
        assert.deepEqual([status, body.error], [400, 'invalid_request'], name);
      }
      const explained = await atrium.as('ann')('POST', `${robot.rules}/explain`, { token: text });
      // Explain takes a token without the spaces around it, as it is pasted.
      const isSpaced = text !== text.trim();
      assert.deepEqual([explained.status, explained.body.accepted], [200, isSpaced], `${name} ${explained.text}`);
    };
    const tried = tokens.filter((_one, at) => at % COUNTS.hostileTokenStep === 0);
    for (let at = 0; at < tried.length; at += 20) await Promise.all(tried.slice(at, at + 20).map(tryOne));
    assert.equal((await send(await valid())).status, 200, 'a good one still is');
    assert.equal((await send(await valid(), pasted)).status, 200);
    assert.equal(
      (await send(await valid({ repository_id: 123, build: { number: '7' } }))).status,
      200,
      'numbers by their text',
    );
    assert.equal((await send(await valid({ aud: ['elsewhere', atrium.url] }))).status, 200, 'one of several audiences');
    const shown = await atrium.as('ann')('GET', robot.rules);
    assert.equal(shown.body[0].live_tokens, 3);
  });

  it('A prefix of a claim fits what begins with it and ends at a name', async () => {
    const prefixed = await another({ claims: { sub: 'repo:acme/*' } });
    for (const [sub, status] of [
      ['repo:acme/app:ref:refs/heads/main', 200],
      ['repo:acme/', 200],
      ['repo:acme', 400],
      ['repo:acme-evil/app', 400],
      ['REPO:acme/app', 400],
      ['x repo:acme/app', 400],
      ['repo:acme/*', 200],
      ['*', 400],
    ] as const) {
      assert.equal((await send(await valid({ sub }), prefixed)).status, status, sub);
    }
  });

  it('A number that is not exact fits no rule, because another ID would be read as the same number', async () => {
    const large = await another({ claims: { repository_id: '9007199254740992', ref: 'refs/heads/*' } });
    const raw = async (number: string) => {
      const claims = JSON.stringify(issuer.claims(atrium.url, { repository_id: 0 }));
      return await issuer.signText(claims.replace('"repository_id":0', `"repository_id":${number}`));
    };
    for (const number of ['9007199254740992', '9007199254740993', '9007199254740992.0', '1e300']) {
      assert.equal((await send(await raw(number), large)).status, 400, number);
    }
    assert.equal(
      (await send(await valid({ repository_id: '9007199254740992' }), large)).status,
      200,
      'a text is exact',
    );
    const exact = await another({ claims: { repository_id: '9007199254740991' } });
    assert.equal((await send(await raw('9007199254740991'), exact)).status, 200);
  });

  it('A token that one rule has accepted is spent for every rule and every robot of the same keys', async () => {
    const [one, other] = [await another(), await another()];
    const text = await valid();
    assert.equal((await send(text, one)).status, 200);
    assert.equal((await send(text, other)).status, 400, 'the same token');
    const jti = 'spent by another robot';
    assert.equal((await send(await valid({ jti }), one)).status, 200);
    assert.equal((await send(await valid({ jti, nonce: 'x' }), other)).status, 400, 'the same jti');
    await makeRule(atrium, other, issuer, { claims: { ref: 'refs/heads/*' } });
    assert.equal((await send(await valid({ jti, nonce: 'y' }), other)).status, 400, 'and with another rule');
  });

  it('An issuer that answers a byte at a time is given up, and other robots do not wait for it', async () => {
    const drip = await startFakeIssuer();
    drip.trickles.add('/keys');
    try {
      const slow = await makeFederatedRobot(atrium);
      await makeRule(atrium, slow, drip, { claims: CLAIMS });
      const began = performance.now();
      const waiting = send(await drip.token(atrium.url, BUILD), slow);
      assert.equal((await send(await valid())).status, 200);
      const meanwhile = performance.now() - began;
      assert.equal((await waiting).status, 400);
      const all = performance.now() - began;
      assert.ok(meanwhile < all && all < 30_000, `${meanwhile} ms of ${all} ms`);
    } finally {
      await drip.close();
    }
  });

  it('Every kind of key is accepted with its own algorithms, and no key with another one', async () => {
    const kinds = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
    for (const alg of kinds) await issuer.addKey(alg, alg);
    const robots = await another();
    for (const alg of kinds) {
      const right = await valid({}, { alg, kid: alg });
      assert.equal((await send(right, robots)).status, 200, alg);
      const [head = '', ...rest] = (await valid({}, { alg, kid: alg })).split('.');
      for (const other of kinds.filter((one) => one !== alg)) {
        const header = { ...JSON.parse(Buffer.from(head, 'base64url').toString()), alg: other };
        const forged = [Buffer.from(JSON.stringify(header)).toString('base64url'), ...rest].join('.');
        assert.equal((await send(forged, robots)).status, 400, `${other} with the key and signature of ${alg}`);
      }
    }
    const nameless = await valid({}, { kid: undefined, alg: 'RS256' });
    assert.equal((await send(nameless, robots)).status, 200, 'without a name, every key is tried');
  });

  it('The discovery document must name the issuer as the rule does, and nothing follows a redirect', async () => {
    const good = { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` };
    const path = '/.well-known/openid-configuration';
    const documents: [name: string, status: number, body: string, headers?: Record<string, string>][] = [
      ['another issuer', 200, JSON.stringify({ ...good, issuer: 'https://evil.example' })],
      ['a trailing slash', 200, JSON.stringify({ ...good, issuer: `${issuer.url}/` })],
      ['another case', 200, JSON.stringify({ ...good, issuer: issuer.url.toUpperCase() })],
      ['a list', 200, JSON.stringify({ ...good, issuer: [issuer.url] })],
      ['no issuer', 200, JSON.stringify({ jwks_uri: good.jwks_uri })],
      ['no keys', 200, JSON.stringify({ issuer: issuer.url })],
      ['keys at no address', 200, JSON.stringify({ ...good, jwks_uri: 'keys' })],
      ['keys in a file', 200, JSON.stringify({ ...good, jwks_uri: 'file:///etc/passwd' })],
      ['keys in the address', 200, JSON.stringify({ ...good, jwks_uri: 'data:application/json,{}' })],
      ['keys at a metadata service', 200, JSON.stringify({ ...good, jwks_uri: 'http://169.254.169.254/keys' })],
      ['an error', 500, JSON.stringify(good)],
      ['a redirect', 302, '', { Location: `${issuer.url}/other` }],
      ['no JSON', 200, '<html>'],
      ['a JSON list', 200, '[]'],
      ['too much', 200, JSON.stringify({ ...good, filler: 'x'.repeat(400_000) })],
    ];
    issuer.answers.set('/other', (respond) => respond(200, JSON.stringify(good)));
    for (const [name, status, body, headers] of documents) {
      issuer.answers.set(path, (respond) => respond(status, body, headers));
      assert.equal((await send(await valid(), await another())).status, 400, name);
    }
    issuer.answers.clear();
    assert.ok(!issuer.asked.includes('/other'));
  });

  it('A key set that is huge, slow, empty, private or crooked accepts nothing', async () => {
    const [first] = issuer.published;
    const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
    const many = Array.from({ length: 5000 }, (_, at) => ({ ...first, kid: `other${at}` }));
    const sets: [name: string, body: string][] = [
      ['huge', JSON.stringify({ keys: [...many, first] })],
      ['empty', JSON.stringify({ keys: [] })],
      ['no list', JSON.stringify({ keys: first })],
      ['no JSON', 'keys'],
      ['of another use', JSON.stringify({ keys: [{ ...first, use: 'enc' }] })],
      ['of another algorithm', JSON.stringify({ keys: [{ ...first, alg: 'PS256' }] })],
      ['for another operation', JSON.stringify({ keys: [{ ...first, key_ops: ['sign'] }] })],
      ['symmetric', JSON.stringify({ keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'first' }] })],
      ['private', JSON.stringify({ keys: [{ ...first, d: 'AQAB' }] })],
      ['small', JSON.stringify({ keys: [{ ...small, kid: 'first' }] })],
      ['with the exponent 1', JSON.stringify({ keys: [{ ...first, e: 'AQ' }] })],
      ['of texts', JSON.stringify({ keys: ['first', null, 1, []] })],
    ];
    for (const [name, body] of sets) {
      issuer.answers.set('/keys', (respond) => respond(200, body));
      assert.equal((await send(await valid(), await another())).status, 400, name);
    }
    issuer.answers.set('/keys', () => undefined);
    const began = performance.now();
    assert.equal((await send(await valid(), await another())).status, 400, 'slow');
    assert.ok(performance.now() - began < 12_000);
    issuer.answers.clear();
  });

  it('The keys of an issuer are kept, and read again for an unknown key, but not for each', async () => {
    const robots = await another();
    const reads = () => issuer.asked.filter((path) => path === '/keys').length;
    assert.equal((await send(await valid(), robots)).status, 200);
    const before = reads();
    for (let time = 0; time < 3; time++) assert.equal((await send(await valid(), robots)).status, 200);
    assert.equal(reads(), before);
    await issuer.addKey('rotated', 'ES256');
    const rotated = { alg: 'ES256', kid: 'rotated' };
    assert.equal((await send(await valid({}, rotated), robots)).status, 400, 'asked less than ten seconds ago');
    for (let time = 0; time < 5; time++) await send(await valid({}, { ...rotated, kid: 'rotated' }), robots);
    assert.equal(reads(), before);
    // Another rule has keys of its own.
    assert.equal((await send(await valid({}, rotated), await another())).status, 200);
    assert.equal(reads(), before + 1);
  });

  it('An issuer may not be called in a private network that the operator has not allowed', async () => {
    const closed = await openTestServer({ env: { AUTH_FAILURES: '1000' } });
    try {
      const inside = await makeFederatedRobot(closed);
      const body = { name: 'x', issuer: issuer.url, claims: { sub: 'x' } };
      const plain = await closed.as('ann')('POST', inside.rules, body);
      assert.deepEqual([plain.status, plain.body.errors[0].field], [422, 'issuer']);
      const keyed = await closed.as('ann')('POST', inside.rules, { ...body, jwks: issuer.jwks() });
      assert.equal(keyed.body.errors[0].message, 'issuer must not be an http URL: use the https URL of the issuer');
      const secure = issuer.url.replace('http:', 'https:');
      const asked = issuer.asked.length;
      await makeRule(closed, inside, issuer, { issuer: secure });
      const token = await issuer.token(closed.url, { iss: secure });
      assert.equal((await postForm(closed, exchangeForm(inside.clientId, token))).status, 400);
      const explained = await closed.as('ann')('POST', `${inside.rules}/explain`, { token });
      assert.match(explained.body.rules[0].checks[0].got, /may not be called/);
      assert.equal(issuer.asked.length, asked);
      const named = 'https://issuer.example';
      await makeRule(closed, inside, issuer, { issuer: named, jwks: issuer.jwks() });
      const pasted = await issuer.token(closed.url, { iss: named });
      assert.equal((await postForm(closed, exchangeForm(inside.clientId, pasted))).status, 200);
      assert.equal(issuer.asked.length, asked, 'with pasted keys, nothing is fetched');
    } finally {
      await closed.close();
    }
  });

  it('Failures count by address like wrong passwords, and a good token does not', async () => {
    const braked = await openTestServer({ env: { ...LOOPBACK, AUTH_FAILURES: '3' } });
    try {
      const slow = await makeFederatedRobot(braked);
      await makeRule(braked, slow, issuer);
      for (let time = 0; time < 6; time++) {
        const good = await postForm(braked, exchangeForm(slow.clientId, await issuer.token(braked.url)));
        assert.equal(good.status, 200);
      }
      const statuses: number[] = [];
      for (let time = 0; time < 4; time++) {
        const { status, body, headers } = await postForm(braked, exchangeForm(slow.clientId, 'wrong'));
        statuses.push(status);
        if (status !== 429) continue;
        assert.deepEqual(Object.keys(body), ['error', 'error_description']);
        assert.ok(Number(headers.get('retry-after')) >= 1);
      }
      assert.deepEqual(statuses, [400, 400, 400, 429]);
    } finally {
      await braked.close();
    }
  });
});
