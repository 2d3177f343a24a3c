import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SignedAccess } from '../../../src/http/admission/access.ts';
import { SCOPES } from '../../../src/identity/scopes.ts';
import type { TokenLimits } from '../../../src/identity/tokens/token-limits.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assertScimError, newScimToken, scimCaller } from '../../support/world/scim.ts';

describe('The scope scim', () => {
  let atrium: TestServer;
  let scim: string;
  let robot: number;
  before(async () => {
    atrium = await openTestServer();
    scim = await newScimToken(atrium, 'acme', 'ann');
    robot = (await atrium.as('ann')('GET', '/orgs/acme/robots?name=directory')).body[0].id;
  });

  after(() => atrium.close());

  it('A token with the scope scim opens nothing but /scim/v2', async () => {
    const routes = atrium.instance.routes.filter(({ access }) => access.who !== 'anyone' && access.who !== 'webhook');
    const open: string[] = [];
    for (const { method, path, access } of routes) {
      const url = path.replace(/:org/g, 'acme').replace(/:\w+/g, '1');
      const { about, basic } = access as SignedAccess;
      const credential = basic ? `Basic ${Buffer.from(`acme:${scim}`).toString('base64')}` : `Bearer ${scim}`;
      const headers = { Authorization: credential };
      // No such version exists, so nothing is changed where the token is right.
      const wanted = { ...headers, 'If-Match': '"nothing"' };
      const body = method === 'GET' ? undefined : {};
      const answer = await atrium.call(method, `${url}${about === 'query' ? '?org=acme' : ''}`, body, wanted);
      if (answer.status !== 403) open.push(path);
    }
    assert.ok(open.length >= 20);
    // What a token may ask about itself shows nothing else.
    assert.deepEqual(
      open.filter((path) => !path.startsWith('/scim/v2/')),
      ['/api/v1/user/token', '/mcp'],
    );
    // Any token may ask which tools there are; each call of one needs its scope.
    const params = { name: 'can', arguments: { org: 'acme', relation: 'can_view', object: 'organization' } };
    const called = await atrium.call(
      'POST',
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      { Authorization: `Bearer ${scim}`, 'MCP-Protocol-Version': '2025-06-18' },
    );
    assert.deepEqual([called.status, called.body.error.data.reason], [403, 'insufficient_scope'], called.text);
    const signIn = await atrium.as()('POST', '/user/signin', { token: scim });
    assert.ok([401, 403, 404].includes(signIn.status), signIn.text);
  });

  it('Nothing else opens /scim/v2: no other scope, no limits, no person, no session, no password', async () => {
    const routes = atrium.instance.routes.filter(({ path }) => path.startsWith('/scim/v2'));
    const issue = (accountId: bigint, scopes: readonly string[], robotId?: bigint, limits?: TokenLimits) =>
      atrium.instance.identity.tokens.issue({
        accountId,
        name: `scim ${scopes.join()} ${robotId} ${limits !== undefined}`,
        scopes,
        limits,
        ...(robotId && { robotId }),
      });
    const [root, acme] = [atrium.world.users.root?.id ?? 0n, atrium.world.orgs.acme?.id ?? 0n];
    const within = { organizations: [{ id: acme, name: 'acme' }], objects: [] };
    const credentials = [
      '',
      `Bearer ${(await issue(root, ['all'])).text}`,
      `Bearer ${(await issue(root, ['scim'])).text}`,
      `Bearer ${(await issue(acme, ['all'], BigInt(robot))).text}`,
      `Bearer ${
        (
          await issue(
            acme,
            SCOPES.filter((scope) => scope !== 'scim'),
            BigInt(robot),
          )
        ).text
      }`,
      `Bearer ${(await issue(acme, ['scim', 'all'], BigInt(robot))).text}`,
      `Bearer ${(await issue(acme, ['scim'], BigInt(robot), within)).text}`,
      `Basic ${Buffer.from(`root:${atrium.world.users.root?.password}`).toString('base64')}`,
    ];
    for (const credential of credentials) {
      for (const { method, path } of routes) {
        const headers: Record<string, string> = credential === '' ? {} : { Authorization: credential };
        const body = method === 'GET' ? undefined : {};
        const answer = await atrium.call(method, path.replace(/:\w+/g, '1'), body, headers);
        assertScimError(answer, answer.status === 401 ? 401 : 403, undefined);
      }
    }
  });

  it('The scope scim is for robots, and stands alone', async () => {
    const basic = Buffer.from(`ann:${atrium.world.users.ann?.password}`).toString('base64');
    const headers = { Authorization: `Basic ${basic}` };
    const own = await atrium.as()('POST', '/users/ann/tokens', { name: 'x', scopes: ['scim'] }, headers);
    assert.deepEqual([own.status, own.body.errors?.[0].field], [422, 'scopes'], own.text);
    for (const scopes of [
      ['scim', 'all'],
      ['read:user', 'scim'],
      ['scim', 'public-only'],
    ]) {
      const both = await atrium.as('ann')('POST', `/robots/${robot}/tokens`, { name: 'x', scopes });
      assert.equal(both.status, 422, both.text);
    }
    const limits = { organizations: ['acme'] };
    const limited = await atrium.as('ann')('POST', `/robots/${robot}/tokens`, { name: 'x', scopes: ['scim'], limits });
    assert.deepEqual([limited.status, limited.body.errors?.[0].field], [422, 'limits'], limited.text);
  });

  it('Only an owner creates a token with the scope scim, because it can make anybody an owner', async () => {
    const bob = await atrium.as('bob')('POST', `/robots/${robot}/tokens`, { name: 'escalation', scopes: ['scim'] });
    assert.deepEqual(
      [bob.status, bob.body.reason, bob.body.relation],
      [403, 'missing_relation', 'owner:org'],
      bob.text,
    );
    const plain = await atrium.as('bob')('POST', `/robots/${robot}/tokens`, { name: 'plain' });
    assert.equal(plain.status, 201, plain.text);
    const root = await atrium.as('root')('POST', `/robots/${robot}/tokens`, { name: 'by root', scopes: ['scim'] });
    assert.equal(root.status, 201, root.text);
  });

  it('A token for SCIM rotates itself only if an owner has created it for that', async () => {
    const own = (token: string) => atrium.as()('POST', '/user/token/rotate', {}, { Authorization: `Bearer ${token}` });
    assert.equal((await own(scim)).status, 403);
    const body = { name: 'renewing', scopes: ['scim'], can_rotate: true };
    const made = await atrium.as('ann')('POST', `/robots/${robot}/tokens`, body);
    const next = await own(made.body.sha1);
    assert.deepEqual([next.status, next.body.scopes], [201, ['scim']], next.text);
    assert.equal((await scimCaller(atrium, next.body.sha1)('GET', '/Users?count=0')).status, 200);
  });

  it('Only an owner rotates a token with the scope scim, and its successor can do the same', async () => {
    const rotate = (name: string, token: string) =>
      atrium.as(name)('POST', `/robots/${robot}/tokens/${token}/rotate`, { overlap_hours: 1 });
    const other = await atrium.as('bob')('POST', `/robots/${robot}/tokens`, { name: 'clusters' });
    assert.equal(other.status, 201, other.text);
    assert.equal((await rotate('bob', 'clusters')).status, 201);
    const bob = await rotate('bob', 'scim');
    assert.deepEqual([bob.status, bob.body.relation], [403, 'owner:org'], bob.text);
    assert.match(bob.body.message, /only an owner can create or rotate/);
    const made = await rotate('ann', 'scim');
    assert.deepEqual([made.status, made.body.scopes], [201, ['scim']], made.text);
    for (const token of [made.body.sha1, scim]) {
      assert.equal((await scimCaller(atrium, token)('GET', '/Users?count=0')).status, 200);
    }
  });

  it('Responses to a token for SCIM say when it ends soon', async () => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const body = { name: 'ending', scopes: ['scim'], expires_at };
    const { body: token } = await atrium.as('ann')('POST', `/robots/${robot}/tokens`, body);
    const { headers } = await scimCaller(atrium, token.sha1)('GET', '/Users?count=0');
    assert.equal(headers.get('x-token-expires-at'), token.expires_at);
  });

  it('Revoking the token ends SCIM with the next request', async () => {
    const token = await newScimToken(atrium, 'globex', 'eve');
    const call = scimCaller(atrium, token);
    assert.equal((await call('GET', '/Users?count=0')).status, 200);
    const [{ id }] = (await atrium.as('eve')('GET', '/orgs/globex/robots?name=directory')).body;
    assert.equal((await atrium.as('eve')('DELETE', `/robots/${id}`)).status, 204);
    assertScimError(await call('GET', '/Users?count=0'), 401, undefined);
  });

  it('What is not supported says so: bulk requests, a search in everything, /Me', async () => {
    const call = scimCaller(atrium, scim);
    assertScimError(await call('POST', '/Bulk', { Operations: [] }), 501, undefined, /bulk requests are not supported/);
    assertScimError(await call('POST', '/.search', {}), 501, undefined);
    assertScimError(await call('GET', '/Me'), 501, undefined);
    assertScimError(await call('GET', '/Schemas?filter=id%20pr'), 403, undefined);
    const { body } = await call('GET', '/ServiceProviderConfig');
    assert.deepEqual(
      ['patch', 'bulk', 'filter', 'changePassword', 'sort', 'etag'].map((name) => body[name].supported),
      [true, false, true, false, true, true],
    );
    for (const [path, count] of [
      ['/Schemas', 3],
      ['/ResourceTypes', 2],
    ] as const) {
      const { Resources } = (await call('GET', path)).body;
      assert.equal(Resources.length, count);
      for (const one of Resources) assert.deepEqual((await call('GET', `${path}/${one.id}`)).body, one);
    }
  });
});
