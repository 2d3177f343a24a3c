import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { assertRejected } from '../../support/world/authz.ts';

const GOOD = { name: 'good', uid: '00000000-1111-2222-3333-444444444444' };
const NAME = /^name must have 1 to 100 characters: letters, digits/;

/** Invalid bodies, for POST and PATCH alike, except for required fields. */
const REFUSED: readonly [what: string, body: unknown, status: number, message: RegExp][] = [
  ['an empty name', { ...GOOD, name: '' }, 422, NAME],
  ['a name of 101 characters', { ...GOOD, name: 'x'.repeat(101) }, 422, NAME],
  ['a name with a space', { ...GOOD, name: 'my cluster' }, 422, NAME],
  ['a name with a slash', { ...GOOD, name: '../etc' }, 422, NAME],
  ['a name that ends with a dash', { ...GOOD, name: 'a-' }, 422, NAME],
  ['a name with a non-ASCII character', { ...GOOD, name: 'clüster' }, 422, NAME],
  ['a taken name', { ...GOOD, name: 'prod' }, 422, /^name is taken/],
  ['a numeric name', { ...GOOD, name: 7 }, 422, /^name must be string/],
  ['a UID that is not a UUID', { ...GOOD, uid: 'kube-system' }, 422, /^uid must be a UUID$/],
  ['an empty UID', { ...GOOD, uid: '' }, 422, /^uid must be a UUID$/],
  ['a null provider', { ...GOOD, provider: null }, 422, /^provider must be string/],
  ['a provider of 101 characters', { ...GOOD, provider: 'x'.repeat(101) }, 422, /^provider must have at most 100/],
  ['a display name with a line break', { ...GOOD, displayName: 'a\nb' }, 422, /^displayName must not contain control/],
  ['an external ID that is too long', { ...GOOD, externalID: 'x'.repeat(256) }, 422, /^externalID must have at most/],
  ['a hub UID that is too long', { ...GOOD, hubClusterUID: 'x'.repeat(101) }, 422, /^hubClusterUID must have/],
  ['a javascript: endpoint', { ...GOOD, endpoint: 'javascript:alert(1)' }, 422, /^endpoint must be an http/],
  ['a file: endpoint', { ...GOOD, endpoint: 'file:///etc/passwd' }, 422, /^endpoint must be an http/],
  ['a negative node count', { ...GOOD, nodeCount: -1 }, 422, /^nodeCount must be >= 0/],
  ['a fractional node count', { ...GOOD, nodeCount: 1.5 }, 422, /^nodeCount must be integer/],
  ['a node count above the maximum', { ...GOOD, nodeCount: 1_000_001 }, 422, /^nodeCount must be <= 1000000/],
  ['a manager ID given as a string', { ...GOOD, managerID: '7' }, 422, /^managerID must be number/],
  ['a negative manager ID', { ...GOOD, managerID: -1 }, 400, /^invalid manager ID: -1$/],
  ['an empty cluster manager', { ...GOOD, clusterManagers: [''] }, 422, /^clusterManagers must have 1 to 100/],
  ['101 cluster managers', { ...GOOD, clusterManagers: Array(101).fill('x') }, 422, /^clusterManagers must NOT have/],
  ['an array as its body', [GOOD], 422, /object/],
  ['a body that is not valid JSON', '{"name":', 422, /not valid JSON/],
];

/** A change that contains the UID of another cluster would be rejected for that alone. */
function withoutUid(body: unknown): unknown {
  if (typeof body !== 'object' || !(body && 'uid' in body && body.uid === GOOD.uid)) return body;
  const { uid: _uid, ...rest } = body;
  return rest;
}

describe('Rejected cluster requests', () => {
  let atrium: TestServer;
  let path: string;
  before(async () => {
    atrium = await openTestServer();
    path = `/clusters/${atrium.world.clusters.staging?.id}`;
  });
  after(() => atrium.close());

  const seen = async () => (await atrium.as('ann')('GET', '/orgs/acme/clusters')).text.replace(/"age":"\w+"/g, '');

  for (const [what, body, status, message] of REFUSED) {
    it(`Creating or editing a cluster with ${what} is rejected with ${status}`, async () => {
      const before = await seen();
      for (const url of ['/orgs/acme/clusters', '/user/clusters']) {
        // A user may have a cluster with the same name as one of acme's.
        if (url === '/user/clusters' && what === 'a taken name') continue;
        await assertRejected(atrium, { who: 'ann', send: ['POST', url, body], status, message });
      }
      await assertRejected(atrium, { who: 'ann', send: ['PATCH', path, withoutUid(body)], status, message });
      assert.equal(await seen(), before);
    });
  }

  it('Creating a cluster without a name or a UID is rejected with 422', async () => {
    for (const field of ['name', 'uid'] as const) {
      const { [field]: _left, ...body } = GOOD;
      const message = `${field} is required`;
      await assertRejected(atrium, { who: 'ann', send: ['POST', '/orgs/acme/clusters', body], status: 422, message });
    }
  });

  it('Reusing a cluster UID, in any letter case, or changing one is rejected with 422', async () => {
    const uid = atrium.world.clusters.prod?.uid.toUpperCase();
    const send = ['POST', '/orgs/acme/clusters', { ...GOOD, uid }] as const;
    await assertRejected(atrium, { who: 'ann', send, status: 422, message: /^uid is taken/ });
    const change = ['PATCH', path, { uid: GOOD.uid }] as const;
    await assertRejected(atrium, { who: 'ann', send: change, status: 422, message: 'uid cannot be changed' });
  });

  it('A non-member gets the same 404 for an existing cluster as for a missing one', async () => {
    const missing = await atrium.as('eve')('GET', '/clusters/999999');
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { project: 'x' }],
      ['DELETE', undefined],
    ] as const) {
      const answer = await atrium.as('eve')(method, path, body);
      assert.deepEqual([answer.status, answer.body], [404, missing.body], method);
    }
    for (const method of ['GET', 'POST']) {
      const answer = await atrium.as('eve')(method, '/orgs/acme/clusters', method === 'POST' ? GOOD : undefined);
      const nowhere = await atrium.as('eve')(method, '/orgs/nowhere/clusters', method === 'POST' ? GOOD : undefined);
      assert.deepEqual([answer.status, answer.body], [404, nowhere.body], method);
    }
    for (const id of ['0', '-1', 'x', '9223372036854775808'])
      assert.equal((await atrium.as('eve')('GET', `/clusters/${id}`)).status, 400, id);
  });

  it('The 403 for a cluster write by a viewer names the missing relation', async () => {
    const table = [
      ['POST', '/orgs/acme/clusters', GOOD, 'import_clusters:org'],
      ['PATCH', path, { project: 'x' }, 'edit:cluster'],
      ['DELETE', path, undefined, 'remove:cluster'],
      ['POST', `${path}/heartbeat`, {}, 'edit:cluster'],
    ] as const;
    for (const [method, url, body, relation] of table) {
      const message = `missing relation ${relation}`;
      await assertRejected(atrium, { who: 'cat', send: [method, url, body], status: 403, message });
    }
  });
});
