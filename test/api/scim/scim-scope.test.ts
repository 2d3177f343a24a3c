import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SignedAccess } from '../../../src/http/access.ts';
import { SCOPES } from '../../../src/identity/scopes.ts';
import { assertScimError, newScimToken, scimCaller } from '../../support/scim.ts';
import { openTestServer, type TestServer } from '../../support/server.ts';

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
    assert.deepEqual(
      open.filter((path) => !path.startsWith('/scim/v2/')),
      [],
    );
    const signIn = await atrium.as()('POST', '/user/signin', { token: scim });
    assert.ok([401, 403, 404].includes(signIn.status), signIn.text);
  });

  it('Nothing else opens /scim/v2: no other scope, no person, no session, no password', async () => {
    const routes = atrium.instance.routes.filter(({ path }) => path.startsWith('/scim/v2'));
    const issue = (accountId: bigint, scopes: readonly string[], robotId?: bigint) =>
      atrium.instance.identity.tokens.issue({
        accountId,
        name: `scim ${scopes.join()} ${robotId}`,
        scopes,
        ...(robotId && { robotId }),
      });
    const [root, acme] = [atrium.world.users.root?.id ?? 0n, atrium.world.orgs.acme?.id ?? 0n];
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
    for (const path of ['/Schemas', '/ResourceTypes']) {
      const { Resources } = (await call('GET', path)).body;
      assert.equal(Resources.length, 2);
      for (const one of Resources) assert.deepEqual((await call('GET', `${path}/${one.id}`)).body, one);
    }
  });
});
