import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { makeHolder } from '../../support/world/authz.ts';

const KNOWN = [
  'cluster_mgmt/view clusters',
  'cluster_mgmt/import clusters',
  'cluster_mgmt/reconfigure clusters',
  'cluster_mgmt/connect to clusters',
  'org_mgmt/edit',
];

interface Entry {
  readonly namespace: string;
  readonly action: string;
  readonly description: string;
  readonly associated?: readonly { namespace: string; action: string; required: boolean }[];
}

describe('GET /authz/roles/available_permissions', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('The available permissions are the same for every member and for site administrators', async () => {
    const path = '/authz/roles/available_permissions?org=acme';
    const first = await atrium.as('ann')('GET', path);
    assert.equal(first.status, 200);
    for (const who of ['bob', 'cat', 'dan', 'root']) assert.equal((await atrium.as(who)('GET', path)).text, first.text);
  });

  it('Each available permission is listed once with a description and its associated permissions', async () => {
    const { body } = await atrium.as('dan')('GET', '/authz/roles/available_permissions?org=acme');
    assert.deepEqual(Object.keys(body), ['permissions']);
    const entries: Entry[] = body.permissions;
    const names = entries.map(({ namespace, action }) => `${namespace}/${action}`);
    assert.equal(new Set(names).size, names.length);
    for (const known of KNOWN) assert.ok(names.includes(known), known);
    for (const { namespace, action, description, associated, ...rest } of entries) {
      assert.match(namespace, /^[a-z]+_mgmt$/);
      assert.match(action, /^[a-z]+( [a-z]+)*$/);
      assert.match(description, /^[A-Z].*\.$/);
      assert.deepEqual(rest, {});
      for (const other of associated ?? []) {
        assert.deepEqual(Object.keys(other), ['namespace', 'action', 'required']);
        assert.ok(!other.required || other.namespace === namespace);
        assert.ok(names.includes(`${other.namespace}/${other.action}`));
      }
      assert.notEqual(associated?.length, 0);
    }
  });

  it('Token permissions name the robot account permissions that they need and work together with them', async () => {
    const { body } = await atrium.as('ann')('GET', '/authz/roles/available_permissions?org=acme');
    const robot = atrium.world.robots.ci;
    const calls: Record<string, readonly [method: string, path: string, status: number, body?: object]> = {
      'view tokens': ['GET', `/robots/${robot}/tokens`, 200],
      'create tokens': ['POST', `/robots/${robot}/tokens`, 201, { name: 'made' }],
      'revoke tokens': ['DELETE', `/robots/${robot}/tokens/made`, 204],
    };
    const entries = (body.permissions as Entry[]).filter(({ namespace }) => namespace === 'token_mgmt');
    assert.deepEqual(
      entries.map(({ action }) => action),
      Object.keys(calls),
    );
    for (const { namespace, action, associated = [] } of entries) {
      const [method, path, status, sent] = calls[action] ?? assert.fail(action);
      const alone = await makeHolder(atrium, [{ namespace, action }]);
      assert.equal((await atrium.as(alone.name)(method, path, sent)).status, 404);
      const optional = associated.filter(({ required }) => !required);
      const able = await makeHolder(atrium, [{ namespace, action }, ...optional.map(({ required, ...pair }) => pair)]);
      const answer = await atrium.as(able.name)(method, path, sent);
      assert.equal(answer.status, status, answer.text);
    }
  });

  it('A role accepts every available permission', async () => {
    const { body } = await atrium.as('ann')('GET', '/authz/roles/available_permissions?org=acme');
    for (const { namespace, action } of body.permissions as Entry[]) {
      const permissions = [{ namespace, action }];
      const made = await atrium.as('ann')('POST', '/authz/roles?org=acme', {
        name: `${namespace} ${action}`,
        permissions,
      });
      assert.deepEqual([made.status, made.body.permissions], [201, permissions]);
    }
  });

  it('A role accepts a permission by the name that people read, and answers with the action that programs send', async () => {
    const permissions = [{ namespace: 'cluster_mgmt', action: 'edit clusters' }];
    const made = await atrium.as('ann')('POST', '/authz/roles?org=acme', { name: 'by name', permissions });
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(made.body.permissions, [{ namespace: 'cluster_mgmt', action: 'reconfigure clusters' }]);
    const other = [{ namespace: 'org_mgmt', action: 'edit clusters' }];
    const rejected = await atrium.as('ann')('POST', '/authz/roles?org=acme', { name: 'by none', permissions: other });
    assert.deepEqual([rejected.status, rejected.body.message], [400, 'unknown permission: org_mgmt "edit clusters"']);
  });
});
