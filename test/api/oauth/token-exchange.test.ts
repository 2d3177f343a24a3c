import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf, brokenLinks } from '../../support/checks/audit.ts';
import { COUNTED_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { type FakeIssuer, LOOPBACK, startFakeIssuer } from '../../support/services/token-issuer.ts';
import {
  ASSERTION,
  BEARER,
  exchangeForm,
  type FederatedRobot,
  federatedCall,
  makeFederatedRobot,
  makeRule,
  postForm,
  TYPE,
} from '../../support/world/federation.ts';
import { callWith } from '../../support/world/robots.ts';

const REJECTED = 'the token is not accepted for this client';

for (const driver of COUNTED_DRIVERS) {
  describe(`POST /oauth/token on ${driver}`, () => {
    let atrium: TestServer;
    let issuer: FakeIssuer;
    let robot: FederatedRobot;
    // biome-ignore lint/suspicious/noExplicitAny: the rule as it was answered.
    let rule: any;
    before(async () => {
      issuer = await startFakeIssuer();
      atrium = await openTestServer({ driver, env: { ...LOOPBACK, AUTH_FAILURES: '10000' } });
      robot = await makeFederatedRobot(atrium);
      rule = await makeRule(atrium, robot, issuer, { name: 'main' });
    });
    after(async () => {
      await atrium.close();
      await issuer.close();
    });

    const token = (more: Record<string, unknown> = {}) => issuer.token(atrium.url, more);
    const exchange = async (text: string, more: Record<string, string> = {}) =>
      postForm(atrium, exchangeForm(robot.clientId, text, more));

    it('Each of the three grants gives the robot a token for an hour at most', async () => {
      const forms = [
        exchangeForm(robot.clientId, await token()),
        exchangeForm(robot.clientId, await token(), { subject_token_type: `${TYPE}id_token`, audience: atrium.url }),
        { grant_type: BEARER, client_id: robot.clientId, assertion: await token() },
        {
          grant_type: 'client_credentials',
          client_id: robot.clientId,
          client_assertion_type: ASSERTION,
          client_assertion: await token(),
        },
      ];
      for (const form of forms) {
        const { status, headers, body } = await postForm(atrium, form);
        assert.equal(status, 200, JSON.stringify(body));
        assert.equal(headers.get('cache-control'), 'no-store');
        assert.equal(headers.get('access-control-allow-origin'), null);
        const { access_token, ...rest } = body;
        assert.deepEqual(rest, {
          token_type: 'Bearer',
          issued_token_type: `${TYPE}access_token`,
          expires_in: 3600,
          scope: 'all',
        });
        const user = await callWith(atrium, access_token)('GET', '/user');
        assert.deepEqual([user.status, user.body.login], [200, robot.clientId]);
      }
    });

    it('A token is accepted once, also if its signature is written differently, or its jti is sent in another text', async () => {
      const text = await token();
      assert.equal((await exchange(text)).status, 200);
      assert.deepEqual([(await exchange(text)).status, (await exchange(text)).body.error], [400, 'invalid_request']);
      const jti = 'one and the same';
      assert.equal((await exchange(await token({ jti }))).status, 200);
      assert.equal((await exchange(await token({ jti, nonce: 'another text' }))).status, 400);
      await issuer.addKey('elliptic', 'ES256');
      const [rule2, elliptic] = [
        await makeFederatedRobot(atrium),
        await issuer.token(atrium.url, {}, { alg: 'ES256', kid: 'elliptic' }),
      ];
      await makeRule(atrium, rule2, issuer, { jwks: issuer.jwks() });
      const send = (other: string) => postForm(atrium, exchangeForm(rule2.clientId, other));
      const twin = withOtherS(elliptic);
      assert.notEqual(twin, elliptic);
      assert.equal((await send(elliptic)).status, 200);
      assert.equal((await send(twin)).status, 400);
      for (const last of lastCharacters(elliptic)) assert.equal((await send(last)).status, 400, last.slice(-4));
      const fresh = await issuer.token(atrium.url, {}, { alg: 'ES256', kid: 'elliptic' });
      assert.equal((await send(withOtherS(fresh))).status, 200, 'the twin is a valid signature, too');
      assert.equal((await send(fresh)).status, 400);
    });

    it('Of many requests with one token at the same moment, exactly one gets a token', async () => {
      for (let round = 0; round < 5; round++) {
        const text = await token();
        const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(text)));
        assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(400)]);
        const jti = `round ${round}`;
        const others = await Promise.all([token({ jti, n: 1 }), token({ jti, n: 2 })]);
        const more = await Promise.all(others.map((other) => exchange(other)));
        assert.deepEqual(more.map(({ status }) => status).sort(), [200, 400]);
      }
    });

    it('Only success spends a token', async () => {
      const text = await token();
      assert.equal((await postForm(atrium, exchangeForm('acme/nobody', text))).status, 400);
      assert.equal((await exchange(text, { scope: 'nonsense' })).body.error, 'invalid_scope');
      const explained = await atrium.as('ann')('POST', `${robot.rules}/explain`, { token: text });
      assert.deepEqual([explained.status, explained.body.accepted, explained.body.rule], [200, true, rule.id]);
      assert.equal((await exchange(text)).status, 200);
      const again = await atrium.as('ann')('POST', `${robot.rules}/explain`, { token: text });
      const used = again.body.rules[0].checks.find(({ what }: { what: string }) => what === 'used');
      assert.deepEqual([again.body.accepted, again.body.rule, used.holds, used.got], [false, null, false, 'used']);
    });

    it('Whatever is wrong with a token is rejected with the same words, as the grant has it', async () => {
      const used = await token();
      await exchange(used);
      const wrong: [clientId: string, text: string][] = [
        [robot.clientId, used],
        [robot.clientId, await token({ repository_id: '124' })],
        [robot.clientId, 'nonsense'],
        [robot.clientId, `${(await token()).slice(0, -8)}AAAAAAAA`],
        ['acme/nobody', await token()],
        ['nobody/deploy', await token()],
        ['nonsense', await token()],
        [`globex/${robot.name}`, await token()],
        ['acme/ci', await token()],
      ];
      for (const [clientId, text] of wrong) {
        const common = { client_id: clientId };
        const exchanged = await postForm(atrium, exchangeForm(clientId, text));
        const body = (error: string) => ({ error, error_description: REJECTED });
        assert.deepEqual([exchanged.status, exchanged.body], [400, body('invalid_request')]);
        assert.equal(exchanged.headers.get('cache-control'), 'no-store');
        const bearer = await postForm(atrium, { grant_type: BEARER, ...common, assertion: text });
        assert.deepEqual([bearer.status, bearer.body], [400, body('invalid_grant')]);
        const assertion = { client_assertion_type: ASSERTION, client_assertion: text };
        const client = await postForm(atrium, { grant_type: 'client_credentials', ...common, ...assertion });
        assert.deepEqual([client.status, client.body], [401, body('invalid_client')]);
      }
    });

    it('A request that is not one of the three grants is rejected before the token is looked at', async () => {
      const text = await token();
      const form = exchangeForm(robot.clientId, text);
      const { client_id: _, ...nameless } = form;
      const without = (name: string) => Object.fromEntries(Object.entries(form).filter(([key]) => key !== name));
      const cases: [form: string | Record<string, string>, status: number, error: string][] = [
        [nameless, 400, 'invalid_request'],
        [{ grant_type: BEARER, assertion: text }, 400, 'invalid_request'],
        [
          { grant_type: 'client_credentials', client_assertion: text, client_assertion_type: ASSERTION },
          400,
          'invalid_request',
        ],
        [without('grant_type'), 400, 'invalid_request'],
        [without('subject_token'), 400, 'invalid_request'],
        [without('subject_token_type'), 400, 'invalid_request'],
        [{ ...form, client_id: '' }, 400, 'invalid_request'],
        [{ ...form, grant_type: 'password' }, 400, 'unsupported_grant_type'],
        [{ ...form, grant_type: 'authorization_code' }, 400, 'unsupported_grant_type'],
        [{ ...form, subject_token_type: `${TYPE}access_token` }, 400, 'invalid_request'],
        [{ ...form, subject_token_type: `${TYPE}saml2` }, 400, 'invalid_request'],
        [{ ...form, requested_token_type: `${TYPE}refresh_token` }, 400, 'invalid_request'],
        [{ ...form, actor_token: text, actor_token_type: `${TYPE}jwt` }, 400, 'invalid_request'],
        [{ ...form, actor_token_type: `${TYPE}jwt` }, 400, 'invalid_request'],
        [{ ...form, resource: 'https://elsewhere.example' }, 400, 'invalid_target'],
        [{ ...form, audience: 'https://elsewhere.example' }, 400, 'invalid_target'],
        [`${new URLSearchParams(form)}&client_id=globex%2Fci`, 400, 'invalid_request'],
        [`${new URLSearchParams(form)}&subject_token=x`, 400, 'invalid_request'],
        [`${new URLSearchParams(form)}&resource=a&resource=b`, 400, 'invalid_request'],
        ['', 400, 'invalid_request'],
      ];
      for (const [sent, status, error] of cases) {
        const answer = await postForm(atrium, sent);
        assert.deepEqual([answer.status, answer.body.error], [status, error], JSON.stringify(sent).slice(0, 300));
        assert.deepEqual(Object.keys(answer.body), ['error', 'error_description']);
        assert.equal(answer.headers.get('cache-control'), 'no-store');
      }
      const json = await postForm(atrium, JSON.stringify(form), { 'Content-Type': 'application/json' });
      assert.deepEqual([json.status, json.body.error], [400, 'invalid_request']);
      const query = await postForm(atrium, form, {}, `/oauth/token?client_id=${robot.clientId}`);
      assert.deepEqual([query.status, query.body.error], [400, 'invalid_request']);
      const long = await postForm(atrium, { ...form, subject_token: 'a'.repeat(200_000) });
      assert.deepEqual([long.status, long.body.error], [413, 'invalid_request']);
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const answer = await fetch(`${atrium.url}/oauth/token`, { method });
        assert.deepEqual(
          [answer.status, Object.keys((await answer.json()) as object)],
          [405, ['error', 'error_description']],
        );
      }
      assert.equal((await fetch(`${atrium.url}/api/v1/oauth/token`, { method: 'POST' })).status, 404);
      assert.equal((await exchange(text)).status, 200, 'none of these has spent the token');
    });

    it('A request for less than the rule gives gets less, and one for more is rejected', async () => {
      const narrow = await makeFederatedRobot(atrium);
      await makeRule(atrium, narrow, issuer, { scopes: ['write:organization', 'read:authz'], lifetime: 'PT5M' });
      const ask = async (scope: string) => postForm(atrium, exchangeForm(narrow.clientId, await token(), { scope }));
      const less = await ask('read:organization');
      assert.deepEqual([less.status, less.body.scope, less.body.expires_in], [200, 'read:organization', 300]);
      const call = callWith(atrium, less.body.access_token);
      assert.equal((await call('GET', `/robots/${narrow.id}`)).status, 404, 'the robot holds nothing');
      assert.equal((await call('GET', '/authz/roles?org=acme')).status, 403);
      const same = await ask('');
      assert.deepEqual([same.status, same.body.scope], [200, 'read:authz write:organization']);
      for (const more of ['all', 'write:authz', 'read:organization write:user', 'nonsense', 'scim']) {
        assert.deepEqual([(await ask(more)).status, (await ask(more)).body.error], [400, 'invalid_scope'], more);
      }
    });

    it('The rules of a robot are tried in the order of their IDs, and the first that fits counts', async () => {
      const many = await makeFederatedRobot(atrium);
      await makeRule(atrium, many, issuer, { claims: { ref: 'refs/tags/*' }, scopes: ['read:user'] });
      const second = await makeRule(atrium, many, issuer, {
        claims: { ref: 'refs/heads/*' },
        scopes: ['read:organization'],
      });
      await makeRule(atrium, many, issuer, { scopes: ['all'] });
      const answer = await postForm(atrium, exchangeForm(many.clientId, await token()));
      assert.equal(answer.body.scope, 'read:organization');
      const beyond = await postForm(atrium, exchangeForm(many.clientId, await token(), { scope: 'all' }));
      assert.equal(beyond.body.error, 'invalid_scope');
      const shown = await atrium.as('ann')('GET', `${many.rules}/${second.id}`);
      assert.equal(shown.body.live_tokens, 1);
      assert.ok(Date.parse(shown.body.last_used_at) > Date.now() - 60_000);
    });

    it('A rule without single use accepts a token again and again, and what it issues ends with that token', async () => {
      const many = await makeFederatedRobot(atrium);
      await makeRule(atrium, many, issuer, { single_use: false });
      const text = await token({ exp: Math.floor(Date.now() / 1000) + 120 });
      for (let time = 0; time < 3; time++) {
        const { status, body } = await postForm(atrium, exchangeForm(many.clientId, text));
        assert.equal(status, 200);
        assert.ok(body.expires_in > 60 && body.expires_in <= 120, String(body.expires_in));
      }
      const now = Math.floor(Date.now() / 1000);
      const long = await token({ iat: now, exp: now + 3601 });
      assert.equal((await postForm(atrium, exchangeForm(many.clientId, long))).status, 400);
      assert.equal((await exchange(long)).status, 200, 'with single use, a token may be for longer');
    });

    it('The audit log names the robot, and the issuer, subject, rule and jti of the token that it acts with', async () => {
      const acting = await makeFederatedRobot(atrium, [{ role: { name: 'cluster-operator' } }]);
      const made = await makeRule(atrium, acting, issuer);
      const jti = crypto.randomUUID();
      const { body } = await postForm(atrium, exchangeForm(acting.clientId, await token({ jti })));
      const via = { issuer: issuer.url, subject: 'repo:acme/app:ref:refs/heads/main', rule: made.id, jti };
      const page = await atrium.as('ann')('GET', `/orgs/acme/audit?actor=robot:${acting.name}`);
      const [entry] = page.body.items;
      assert.deepEqual([entry.action, entry.actor.type, entry.actor.id], ['trust_rule.use', 'robot_ac', acting.id]);
      assert.deepEqual(entry.via, via);
      assert.ok(!JSON.stringify(page.body).includes(body.access_token));
      const prod = Number(atrium.world.clusters.prod?.id);
      const changed = await callWith(atrium, body.access_token)('POST', `/clusters/${prod}/heartbeat`, {
        k8sVersion: 'v1.36.3',
      });
      assert.equal(changed.status, 204, changed.text);
      const entries = await auditOf(atrium.instance.db, atrium.world.orgs.acme?.id ?? 0n);
      assert.deepEqual(brokenLinks(entries), []);
      const exported = await atrium.as('ann')('GET', '/orgs/acme/audit/verify');
      assert.equal(exported.body.ok, true);
    });

    it('What a robot does with an issued token is audited with that token', async () => {
      const acting = await makeFederatedRobot(atrium);
      await makeRule(atrium, acting, issuer);
      const call = await federatedCall(atrium, acting, issuer);
      assert.equal((await call('POST', '/orgs/acme/robots', { name: 'never' })).status, 403);
      const role = await atrium.as('ann')('POST', '/authz/roles?org=acme', {
        name: `maker ${acting.name}`,
        permissions: [{ namespace: 'robot_mgmt', action: 'create robot accounts' }],
      });
      assert.equal(role.status, 201, role.text);
      const to = { type: 'robot_ac', id: acting.id };
      await atrium.as('ann')('POST', '/authz/assignments?org=acme', { to, role: { id: role.body.id } });
      const made = await call('POST', '/orgs/acme/robots', { name: `by ${acting.name}`.replace(' ', '-') });
      assert.equal(made.status, 201, made.text);
      const page = await atrium.as('ann')('GET', `/orgs/acme/audit?object=robot_ac:${made.body.id}`);
      assert.equal(page.body.items[0].via.issuer, issuer.url);
    });

    it('The metadata of the server names the token endpoint', async () => {
      const answer = await fetch(`${atrium.url}/.well-known/oauth-authorization-server`);
      const metadata = (await answer.json()) as Record<string, unknown>;
      assert.deepEqual([metadata.issuer, metadata.token_endpoint], [atrium.url, `${atrium.url}/oauth/token`]);
    });
  });
}

/** The same signature of an elliptic curve, written differently: for every (r, s) there is (r, n - s). */
function withOtherS(text: string): string {
  const [head, body, signature = ''] = text.split('.');
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const bytes = Buffer.from(signature, 'base64url');
  const s = BigInt(`0x${bytes.subarray(32).toString('hex')}`);
  const other = Buffer.from((order - s).toString(16).padStart(64, '0'), 'hex');
  return [head, body, Buffer.concat([bytes.subarray(0, 32), other]).toString('base64url')].join('.');
}

/** Texts whose signature decodes to the same bytes, because the last character has bits that mean nothing. */
function lastCharacters(text: string): string[] {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const bytes = Buffer.from(text.split('.')[2] ?? '', 'base64url');
  return [...digits]
    .map((digit) => `${text.slice(0, -1)}${digit}`)
    .filter((other) => other !== text && Buffer.from(other.split('.')[2] ?? '', 'base64url').equals(bytes));
}
