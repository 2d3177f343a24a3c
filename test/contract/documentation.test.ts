import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { numbersOf } from '../support/authz.ts';
import { openTestServer, type TestServer } from '../support/server.ts';

interface Operation {
  readonly requestBody?: { readonly required: boolean };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, object>> }>>;
}

const { paths } = JSON.parse(readFileSync('openapi/atrium.json', 'utf8')) as {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
const OPERATIONS = new Map(
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  ),
);

/** Operations that answer 2xx without a body although the status would allow one. */
const EMPTY = new Set(['GET /api/v1/user/signout', 'POST /api/v1/user/credentials']);

describe('API documentation', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('Every operation documents the content of its successful response, unless that is empty', () => {
    for (const [name, { responses }] of OPERATIONS) {
      const good = Object.entries(responses).filter(([status]) => /^[23]/.test(status));
      assert.ok(good.length > 0, `${name} documents no success`);
      const empty = good.filter(([status, { content }]) => status !== '204' && !status.startsWith('3') && !content);
      assert.equal(empty.length > 0, EMPTY.has(name), name);
    }
  });

  it('Responses that are not JSON are documented with their media types', () => {
    const types = (name: `${string} ${string}`) => Object.keys(OPERATIONS.get(name)?.responses['200']?.content ?? {});
    assert.deepEqual(types('GET /links/installer/{ownerID}/{name}/{installerID}/archive.tar.gz'), ['application/gzip']);
    assert.deepEqual(types('GET /links/installer.pub'), ['application/x-pem-file']);
    assert.deepEqual(types('GET /api/v1/orgs/{org}/audit/export'), ['application/x-ndjson']);
    assert.deepEqual(types('GET /api/v1/admin/audit/export'), ['application/x-ndjson']);
    assert.deepEqual(types('GET /api/v1/authz/roles/export'), ['application/yaml', 'application/json']);
    assert.deepEqual(types('GET /api/v1/user/deploy/orders/{id}/render/manifest'), ['application/yaml']);
  });

  it('Every notification of a marketplace documents that it can be rejected with 403', () => {
    const notifications = [...OPERATIONS].filter(([name]) => name.endsWith('/notification/resource'));
    assert.equal(notifications.length, 3);
    for (const [name, { responses }] of notifications) {
      assert.deepEqual(Object.keys(responses).sort(), ['200', '400', '403', '500'], name);
    }
  });

  it('A body is documented as required exactly where a request without one is rejected', async () => {
    const id = numbersOf(atrium);
    const values: Readonly<Record<string, string | number>> = {
      org: 'acme',
      username: 'cat',
      cloud: 'aws',
      clusters: id.cluster('prod'),
      contracts: id.contract('acme'),
      robots: id.robot('ci'),
      teams: id.team('operators'),
      roles: id.role('cluster-operator'),
    };
    let optional = 0;
    for (const [name, { requestBody }] of OPERATIONS) {
      if (!requestBody || name.includes('/marketplace/')) continue;
      const [method = '', path = ''] = name.split(' ');
      const filled = path
        .replace(/(\w+)\/\{id\}/, (_all, noun: string) => `${noun}/${values[noun]}`)
        .replace(/\{(\w+)\}/g, (_all, parameter: string) => String(values[parameter]));
      const query = path.includes('/authz/') ? '?org=acme' : '';
      const basic = path.endsWith('/tokens') && path.includes('/users/');
      const token = atrium.world.users.root?.token ?? '';
      const Authorization = basic ? `Basic ${Buffer.from(`${token}:`).toString('base64')}` : `token ${token}`;
      const { status, body, text } = await atrium.call(method, `${filled}${query}`, undefined, { Authorization });
      const isMissed =
        status === 422 &&
        body.errors.every(({ field }: { field: string }) => !/^(cluster_uid|credential)$/.test(field));
      assert.equal(isMissed, requestBody.required, `${name}: ${status} ${text}`);
      if (!requestBody.required) optional++;
    }
    assert.ok(optional >= 7, `${optional} bodies are optional`);
  });
});
