import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { allowedTo, assertRejected, numbersOf, type Rejected } from '../../support/world/authz.ts';

const EVERYTHING_ON_A_CLUSTER = ['can_view', 'can_edit', 'can_remove', 'can_connect', 'can_view_orchestratorconfig'];

describe('GET /authz/objects/{type}/{id}/allowed-permissions', () => {
  let atrium: TestServer;
  let id: ReturnType<typeof numbersOf>;
  before(async () => {
    atrium = await openTestServer();
    id = numbersOf(atrium);
  });
  after(() => atrium.close());

  it('Owners and editors hold every permission on a cluster, and viewers can only view and connect', async () => {
    const prod = id.cluster('prod');
    assert.deepEqual(await allowedTo(atrium, 'ann', 'cluster', prod), EVERYTHING_ON_A_CLUSTER);
    assert.deepEqual(await allowedTo(atrium, 'bob', 'cluster', prod), EVERYTHING_ON_A_CLUSTER);
    const looks = ['can_view', 'can_connect', 'can_view_orchestratorconfig'];
    assert.deepEqual(await allowedTo(atrium, 'cat', 'cluster', prod), looks);
  });

  it('A custom role grants exactly the permissions it contains', async () => {
    assert.deepEqual(await allowedTo(atrium, 'dan', 'cluster', id.cluster('prod')), ['can_view', 'can_connect']);
    assert.deepEqual(await allowedTo(atrium, 'dan', 'contract', id.contract('acme')), []);
  });

  it('A site administrator holds the permissions of an owner in organizations they do not belong to', async () => {
    assert.deepEqual(await allowedTo(atrium, 'root', 'cluster', id.cluster('prod')), EVERYTHING_ON_A_CLUSTER);
    assert.deepEqual(
      await allowedTo(atrium, 'root', 'cluster', id.cluster('globex'), 'globex'),
      EVERYTHING_ON_A_CLUSTER,
    );
    const owner = await allowedTo(atrium, 'ann', 'organization', id.org('acme'));
    assert.deepEqual(await allowedTo(atrium, 'root', 'organization', id.org('acme')), owner);
  });

  it('A personal cluster is accessible to its owner in every organization and to nobody else', async () => {
    for (const org of ['acme', 'globex']) {
      assert.deepEqual(await allowedTo(atrium, 'ann', 'cluster', id.cluster('laptop'), org), EVERYTHING_ON_A_CLUSTER);
    }
    for (const other of ['bob', 'root', 'eve']) {
      assert.deepEqual(await allowedTo(atrium, other, 'cluster', id.cluster('laptop')), []);
    }
  });

  it('The only owner and a site administrator can view, edit and add members to the Owners team', async () => {
    const expected = ['can_view', 'can_edit', 'can_add_member'];
    for (const who of ['root', 'ann']) {
      assert.deepEqual(await allowedTo(atrium, who, 'team', id.team('Owners')), expected);
    }
  });

  it('Permissions on the organization itself are reported like those on any other type', async () => {
    assert.ok((await allowedTo(atrium, 'ann', 'organization', id.org('acme'))).includes('can_delete'));
    assert.deepEqual(await allowedTo(atrium, 'dan', 'organization', id.org('acme')), [
      'can_view',
      'can_leave',
      'can_view_clusters',
      'can_connect_clusters',
    ]);
  });

  it('Users can view and edit themselves, also in organizations they do not belong to', async () => {
    for (const who of ['ann', 'eve', 'root']) {
      assert.deepEqual(await allowedTo(atrium, who, 'user', id.user(who)), ['can_view', 'can_edit']);
    }
  });

  it('Objects that are missing, in another organization or not visible to the caller yield no permissions', async () => {
    const asked: [string, string, number | bigint, string?][] = [
      ['eve', 'cluster', id.cluster('prod')],
      ['eve', 'organization', id.org('acme')],
      ['eve', 'team', id.team('Owners')],
      ['ann', 'cluster', id.cluster('globex')],
      ['ann', 'organization', id.org('globex')],
      ['root', 'cluster', id.cluster('globex')],
      ['ann', 'team', id.team('Owners', 'globex')],
      ['ann', 'cluster', 9007199254740993n],
      ['ann', 'token', 2n ** 63n - 1n],
      ['root', 'contract', 999_999],
      ['ann', 'organization', id.user('ann')],
    ];
    for (const [who, type, object] of asked) assert.deepEqual(await allowedTo(atrium, who, type, object), []);
  });

  it('A large object ID is returned exactly', async () => {
    for (const large of ['9007199254740993', '9223372036854775807']) {
      const path = `/authz/objects/cluster/${large}/allowed-permissions?org=acme`;
      const expected = `{"objectType":"cluster","objectID":${large},"allowedPermissions":[]}`;
      assert.equal((await atrium.as('ann')('GET', path)).text, expected);
    }
  });

  it('Organization names are case-insensitive', async () => {
    assert.deepEqual(await allowedTo(atrium, 'dan', 'cluster', id.cluster('prod'), 'ACME'), [
      'can_view',
      'can_connect',
    ]);
  });

  it('A Kelvin sign does not match a k in an organization name, even when the name is cached', async () => {
    assert.equal((await atrium.as('ann')('POST', '/orgs', { username: 'kite' })).status, 201);
    const asked = (org: string) => atrium.as('ann')('GET', `/authz/objects/cluster/1/allowed-permissions?org=${org}`);
    for (let time = 0; time < 3; time++) {
      assert.equal((await asked('kite')).status, 200);
      assert.equal((await asked('KITE')).status, 200);
      assert.equal((await asked('%E2%84%AAite')).status, 403);
    }
  });

  it('Requests with an invalid caller, organization, object type or object ID are rejected', async () => {
    const on = (object: string, query = '?org=acme') => ['GET', `/authz/objects/${object}/allowed-permissions${query}`];
    const NOT_MEMBER = 'Must be an organization member';
    const rows: [string | undefined, string[], number, string | RegExp][] = [
      [undefined, on('cluster/1'), 401, 'token is required'],
      ['mia', on('cluster/1'), 403, 'This account is not activated.'],
      ['zed', on('cluster/1'), 403, /prohibited from signing in/],
      ['ann', on(`user/${id.user('bob')}`), 403, 'permissions cannot be queried on other users'],
      ['root', on(`user/${id.user('bob')}`), 403, 'permissions cannot be queried on other users'],
      ['ann', on('user/999999'), 403, 'permissions cannot be queried on other users'],
      ['ann', on('cluster/1', '?org=nowhere'), 403, NOT_MEMBER],
      ['root', on('cluster/1', '?org=nowhere'), 403, NOT_MEMBER],
      ['ann', on('cluster/1', '?org=ann'), 403, NOT_MEMBER],
      ['ann', on('cluster/1', ''), 400, 'query parameter org is required'],
      ['ann', on('cluster/1', '?org='), 400, 'query parameter org is required'],
      ['ann', on('cluster/1', '?org=acme&org=acme'), 400, 'query parameter org is given more than once'],
      ['ann', on('role/1'), 400, 'invalid object type: "role"'],
      ['ann', on('platform/1'), 400, 'invalid object type: "platform"'],
      ['ann', on('Cluster/1'), 400, 'invalid object type: "Cluster"'],
      ['ann', on('toString/1'), 400, /^invalid object type/],
      ...['0', '-1', '1.5', '1e3', '0x1', 'abc', '%20', '9223372036854775808', '1'.repeat(30)].map(
        (bad): [string, string[], number, RegExp] => ['ann', on(`cluster/${bad}`), 400, /^invalid object ID/],
      ),
    ];
    for (const [who, send, status, message] of rows) {
      await assertRejected(atrium, { who, send: send as unknown as Rejected['send'], status, message });
    }
  });
});
