import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { PARAMETERS } from '../../contract/routes/parameters.ts';
import { ROUTES } from '../../contract/routes/table.ts';
import { inSession, sessionOf } from '../../support/server/browser-session.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import {
  accessReview,
  type KubePlace,
  kubeToken,
  openKubePlace,
  resource,
  review,
  tokenOf,
  tokenReview,
} from '../../support/services/kubernetes.ts';
import { assign } from '../../support/world/assignments.ts';
import { addMember, makePerson } from '../../support/world/people.ts';
import { callWith, makeRobot } from '../../support/world/robots.ts';

const ERROR = 'not a token for this cluster; use atrium kube token';

describe('Tokens for clusters', () => {
  let atrium: TestServer;
  let place: KubePlace;
  let audience = '';
  before(async () => {
    atrium = await openTestServer();
    place = await openKubePlace(atrium);
    audience = `${atrium.url}/clusters/${place.uid}`;
  });
  after(() => atrium.close());

  const ask = (spec: object) => tokenReview(place, spec);
  const rejected = async (token: string, what: string) =>
    assert.deepEqual(await ask({ token }), { authenticated: false, error: ERROR }, what);
  async function viewer() {
    const person = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(place.org.team('Viewers')), person.id);
    return person;
  }

  it('A token is for one cluster and one user, lasts ten minutes, and names no groups (K6)', async () => {
    const answer = await place.call('POST', `/clusters/${place.prod.id}/kube-token`);
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual(Object.keys(answer.body), ['token', 'expires_at']);
    const { token, expires_at: end } = answer.body;
    assert.equal(decodeProtectedHeader(token).alg, 'ES256');
    const { iss, sub, aud, iat = 0, exp = 0, jti, ...claims } = decodeJwt(token);
    assert.deepEqual([iss, sub, aud, exp - iat], [atrium.url, `user:${place.owner.id}`, audience, 600]);
    assert.deepEqual(Object.keys(claims), ['preferred_username', 'token_id']);
    assert.equal(claims.preferred_username, place.owner.name);
    assert.match(String(claims.token_id), /^\d+$/);
    assert.ok(jti !== undefined);
    assert.equal(new Date(end).getTime(), exp * 1000);
  });

  it('An API server can verify a token alone, with the discovery document and the published keys (K5)', async () => {
    const token = await kubeToken(place.call, place.prod.id);
    const { body } = await atrium.call('GET', '/.well-known/openid-configuration');
    assert.deepEqual(
      [body.issuer, body.jwks_uri, body.id_token_signing_alg_values_supported],
      [atrium.url, `${atrium.url}/.well-known/jwks.json`, ['ES256']],
    );
    const { body: keys } = await atrium.call('GET', '/.well-known/jwks.json');
    assert.ok(keys.keys.every((key: object) => !('d' in key)));
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), { issuer: body.issuer, audience });
    assert.equal(payload.preferred_username, place.owner.name);
  });

  it('A token opens nothing of Atrium (K7)', async () => {
    const token = await kubeToken(place.call, place.prod.id);
    const calls = ['/user', '/version', `/clusters/${place.prod.id}`, '/user/clusters'];
    for (const scheme of ['token', 'Bearer']) {
      for (const path of calls) {
        const answer = await atrium.as()('GET', path, undefined, { Authorization: `${scheme} ${token}` });
        assert.equal(answer.status, path === '/version' ? 200 : 401, path);
      }
    }
    const again = await callWith(atrium, token)('POST', `/clusters/${place.prod.id}/kube-token`);
    assert.equal(again.status, 401);
  });

  it('No route takes it for a credential: those that need one answer 401, and the others as they do without one', async () => {
    const token = await kubeToken(place.call, place.prod.id);
    assert.ok(atrium.instance.routes.length > 300);
    for (const { method, path, access } of atrium.instance.routes) {
      const filled = path.replace(/:(\w+)|\*/g, (whole, name) => PARAMETERS[name ?? whole] ?? 'nothing');
      const body = ROUTES[`${method} ${path}`]?.body;
      const [bare, ...carried] = await Promise.all(
        [undefined, `token ${token}`, `Bearer ${token}`].map(async (Authorization) => {
          return (await atrium.call(method, filled, body, Authorization === undefined ? {} : { Authorization })).status;
        }),
      );
      const isOpen = access.who === 'anyone' || access.who === 'webhook';
      for (const status of carried)
        assert.ok(status === 401 || (isOpen && status === bare), `${method} ${path}: ${status}`);
    }
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      subject_token: token,
      client_id: `${place.org.name}/deploy`,
    };
    const exchanged = await fetch(`${atrium.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    assert.equal(exchanged.status, 400);
    assert.equal(((await exchanged.json()) as { error: string }).error, 'invalid_request');
  });

  it('Token-review answers login, UID, groups as they are written, and the credential behind the token (K10, K11)', async () => {
    const { owner, org } = place;
    const token = await kubeToken(place.call, place.prod.id);
    const status = await ask({ token });
    const id = decodeJwt(token).token_id;
    assert.deepEqual(status, {
      authenticated: true,
      user: {
        username: owner.name,
        uid: `user:${owner.id}`,
        groups: [`atrium:${org.name}`, `atrium:${org.name}:Owners`],
        extra: { 'atrium/token-id': [id] },
      },
    });
    const robot = await makeRobot(atrium, 'runner', { org: org.name, owner: owner.name, scopes: ['kube'] });
    const look = await place.role('look', 'cluster_mgmt view clusters');
    await assign(place, look.id, { type: 'robot_ac', id: robot.id }, { type: 'cluster', id: place.prod.id });
    const ofRobot = await ask({ token: await kubeToken(robot.call, place.prod.id) });
    const name = `${org.name}/runner`;
    assert.deepEqual(ofRobot.user, {
      username: name,
      uid: `robot_ac:${robot.id}`,
      groups: [],
      extra: { 'atrium/token-id': [String(robot.tokenId)], 'atrium/robot': [name] },
    });
    const can = await accessReview(place, {
      user: name,
      uid: `robot_ac:${robot.id}`,
      extra: ofRobot.user.extra,
      ...resource('get', 'pods@shop'),
    });
    assert.deepEqual(can, { allowed: true });
  });

  it('Audiences are answered if they are asked for, and without ours nobody gets in (K3)', async () => {
    const token = await kubeToken(place.call, place.prod.id);
    const other = 'https://kubernetes.default.svc';
    assert.deepEqual((await ask({ token, audiences: [other, audience] })).audiences, [audience]);
    assert.equal('audiences' in (await ask({ token })), false);
    assert.deepEqual(await ask({ token, audiences: [other] }), { authenticated: false, error: ERROR });
  });

  it('Of other tokens, only those count that are limited to the cluster or its organization (K1)', async () => {
    const { owner, org, prod, staging } = place;
    const own = (more: object) => tokenOf(atrium, owner.name, { ownerId: org.id, ...more });
    const good = [
      await own({ objects: [prod.id] }),
      await own({ organizations: [org.id] }),
      await own({ objects: [prod.id], scopes: ['kube'] }),
    ];
    for (const { text, id } of good) {
      const status = await ask({ token: text });
      assert.equal(status.authenticated, true);
      assert.deepEqual(status.user.extra, { 'atrium/token-id': [String(id)] });
    }
    const bad = [
      await own({}),
      await own({ scopes: ['kube'] }),
      await own({ objects: [staging.id] }),
      await own({ objects: [prod.id], scopes: ['read:user', 'write:organization'] }),
      await own({ objects: [prod.id], scopes: ['all', 'public-only'] }),
    ];
    for (const { text } of bad) await rejected(text, text);
    for (const text of ['nonsense', 'a.b.c', `${'x'.repeat(9000)}`, 'atr_0123']) await rejected(text, text);
    await rejected(place.robotAccount.text, 'the reviewer itself');
  });

  it('Strangers are the same as nobody, and site administrators are known (K9)', async () => {
    const stranger = await makePerson(atrium);
    const text = async (name: string) => (await tokenOf(atrium, name, { organizations: [place.org.id] })).text;
    await rejected(await text(stranger.name), 'a stranger');
    const admin = await makePerson(atrium, { isAdmin: true });
    const status = await ask({ token: await text(admin.name) });
    assert.deepEqual([status.user.username, status.user.groups], [admin.name, []]);
  });

  it('A token of another cluster, of another key or of another algorithm is not accepted', async () => {
    const { call, staging } = place;
    await rejected(await kubeToken(call, staging.id), 'another cluster');
    const token = await kubeToken(call, place.prod.id);
    const [header = '', payload = ''] = token.split('.');
    await rejected(`${header}.${payload}.`, 'no signature');
    const { kid = '' } = decodeProtectedHeader(token);
    const claims = decodeJwt(token);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const forged = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey);
    await rejected(forged, 'another key');
    const none = `${Buffer.from(JSON.stringify({ alg: 'none', kid })).toString('base64url')}.${payload}.x`;
    await rejected(none, 'none');
    const { body } = await atrium.call('GET', '/.well-known/jwks.json');
    const start = `${Buffer.from(JSON.stringify({ alg: 'HS256', kid })).toString('base64url')}.${payload}`;
    const mac = createHmac('sha256', JSON.stringify(body.keys[0])).update(start).digest('base64url');
    await rejected(`${start}.${mac}`, 'the public key as a secret');
    const changed = Buffer.from(JSON.stringify({ ...claims, sub: 'user:1' })).toString('base64url');
    await rejected(`${header}.${changed}.${token.split('.')[2]}`, 'another subject');
  });

  it('A token ends with the account, the robot, and the token or session that it was made with (K8)', async () => {
    const person = await viewer();
    const credential = await tokenOf(atrium, person.name, {});
    const token = await kubeToken(credential.call, place.prod.id);
    assert.equal((await ask({ token })).authenticated, true);
    await atrium.instance.identity.tokens.revoke(credential.id);
    await rejected(token, 'the token is revoked');

    const second = await kubeToken(atrium.as(person.name), place.prod.id);
    assert.equal((await ask({ token: second })).authenticated, true);
    await atrium.as('root')('PATCH', `/admin/users/${person.name}`, { active: false });
    await rejected(second, 'the account is not active');
    await atrium.as('root')('PATCH', `/admin/users/${person.name}`, { active: true });
    assert.equal((await ask({ token: second })).authenticated, true);

    const robot = await makeRobot(atrium, 'short', { org: place.org.name, owner: place.owner.name });
    const look = await place.role('look-2', 'cluster_mgmt view clusters');
    await assign(place, look.id, { type: 'robot_ac', id: robot.id }, { type: 'cluster', id: place.prod.id });
    const third = await kubeToken(robot.call, place.prod.id);
    assert.equal((await ask({ token: third })).authenticated, true);
    assert.equal((await place.call('DELETE', `/robots/${robot.id}`)).status, 204);
    await rejected(third, 'the robot is gone');
  });

  it('A token that was made in a session ends when the user signs out', async () => {
    const person = await viewer();
    const opened = await atrium.as()('POST', '/user/signin', { token: person.token });
    assert.equal(opened.status < 300, true, opened.text);
    const browser = inSession(atrium, sessionOf(opened));
    const made = await browser('POST', `/clusters/${place.prod.id}/kube-token`);
    assert.equal(made.status, 201, made.text);
    const { token } = made.body;
    const { user } = await ask({ token });
    const get = { user: person.name, uid: user.uid, extra: user.extra, ...resource('get', 'pods@shop') };
    assert.deepEqual(await accessReview(place, get), { allowed: true });
    assert.equal((await browser('POST', '/user/signout')).status < 300, true);
    await rejected(token, 'signed out');
    const gone = await accessReview(place, get);
    assert.deepEqual([gone.allowed, gone.denied], [false, true]);
  });

  it('No token for a cluster outlives the credential that it is made with', async () => {
    const expiresAt = new Date(Math.floor(Date.now() / 1000) * 1000 + 60_000);
    const { call } = await tokenOf(atrium, place.owner.name, { expiresAt });
    assert.equal(decodeJwt(await kubeToken(call, place.prod.id)).exp, expiresAt.getTime() / 1000);
  });

  it('A token needs can_view, a scope and limits that include the cluster, and is for nobody else (K6)', async () => {
    const at = `/clusters/${place.prod.id}/kube-token`;
    const expect = async (call: typeof place.call, status: number, reason: string, path = at) => {
      const answer = await call('POST', path);
      assert.deepEqual([answer.status, answer.body?.reason], [status, reason], answer.text);
    };
    const { owner, org, prod, staging } = place;
    await expect(atrium.as(), 401, 'unauthenticated');
    await expect(atrium.as(place.dan.name), 404, 'cluster_not_found');
    await expect((await tokenOf(atrium, owner.name, { scopes: ['write:organization'] })).call, 403, 'forbidden');
    await kubeToken((await tokenOf(atrium, owner.name, { scopes: ['kube'] })).call, prod.id);
    const limited = await tokenOf(atrium, owner.name, { objects: [staging.id], ownerId: org.id });
    await expect(limited.call, 404, 'cluster_not_found');
    await kubeToken(limited.call, staging.id);
    await expect(atrium.as('root'), 403, 'sudo_forbidden', `${at}?sudo=${owner.name}`);
    await expect(place.call, 400, 'invalid_request', `${at}?lifetime=1h`);
    await expect(place.api, 403, 'forbidden');
  });

  it('A TokenReview without a token, or of another kind, is rejected; a token is nowhere in the log (K12)', async () => {
    const at = `/clusters/${place.prod.id}/token-review`;
    const wrong = [
      review({}),
      review({ token: '' }),
      review({ token: 5 }),
      review({ token: 'x', audiences: 'y' }),
      { ...review({ token: 'x' }), kind: 'SubjectAccessReview' },
      { ...review({ token: 'x' }), apiVersion: 'authentication.k8s.io/v1beta1' },
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' },
    ];
    for (const body of wrong) assert.equal((await place.api('POST', at, body)).status, 422, JSON.stringify(body));
    const token = await kubeToken(place.call, place.prod.id);
    const body = { ...review({ token, audiences: null }), metadata: { creationTimestamp: null }, status: {} };
    const answer = await place.api('POST', `${at}?timeout=30s`, body);
    assert.deepEqual([answer.status, answer.body?.status.authenticated], [200, true]);
    assert.equal(answer.text.includes(token), false);
    assert.equal(atrium.logged().includes(token), false);
    const { text } = await place.call('GET', `/orgs/${place.org.name}/audit?limit=50`);
    assert.equal(text.includes(token) || text.includes('token-review'), false);
  });
});
