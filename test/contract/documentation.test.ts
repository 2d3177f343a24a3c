import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { OBJECT_TYPES } from '../../src/changes/object-kinds.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';
import { numbersOf, resourceIds } from '../support/world/authz.ts';

interface Operation {
  readonly description?: string;
  readonly parameters?: readonly { readonly name: string; readonly schema: object }[];
  readonly requestBody?: { readonly required: boolean };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, object>> }>>;
  readonly 'x-errors': readonly number[];
  readonly 'x-robots': boolean | 'only';
}

const { paths } = JSON.parse(readFileSync('openapi/atrium.json', 'utf8')) as {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
const OPERATIONS = new Map(
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  ),
);

function statusesOf({ responses, 'x-errors': errors }: Operation): string[] {
  return [...Object.keys(responses).filter((status) => status !== 'default'), ...errors.map(String)];
}

/** Operations that answer 2xx without a body although the status would allow one. */
const EMPTY = new Set([
  'POST /api/v1/user/password/forgot',
  'POST /api/v1/user/signup',
  'GET /api/v1/user/signout',
  'POST /api/v1/user/credentials',
]);

describe('API documentation', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer();
  });
  after(() => atrium.close());

  it('Every schema of a route is a valid JSON schema, which the server itself does not check', () => {
    const ajv = new Ajv();
    for (const { method, path, schema } of atrium.instance.routes) {
      const { params, querystring, body, response } = schema;
      for (const part of [params, querystring, body, ...Object.values(response ?? {})]) {
        assert.ok(part === undefined || ajv.validateSchema(part), `${method} ${path}: ${ajv.errorsText()}`);
      }
    }
    assert.equal(ajv.validateSchema({ type: 'strings' }), false);
  });

  it('The document is served as JSON and as YAML, with a tag that saves the next download', async () => {
    const served = async (suffix: string) => {
      const first = await atrium.as()('GET', `/openapi.${suffix}`);
      assert.equal(first.status, 200);
      assert.equal(first.headers.get('content-type'), `application/${suffix}; charset=utf-8`);
      assert.equal(first.headers.get('cache-control'), 'no-cache');
      assert.equal(first.text, readFileSync(`openapi/atrium.${suffix}`, 'utf8'));
      const etag = first.headers.get('etag') ?? '';
      assert.match(etag, /^"[\w-]{22}"$/);
      const again = await atrium.as()('GET', `/openapi.${suffix}`, undefined, { 'If-None-Match': etag });
      assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', etag]);
      const stale = await atrium.as()('GET', `/openapi.${suffix}`, undefined, { 'If-None-Match': '"old"' });
      assert.equal(stale.status, 200);
      return first.text;
    };
    assert.deepEqual(parse(await served('yaml')), JSON.parse(await served('json')));
  });

  it('An operation that only some deployments have says so', () => {
    const text = (name: `${string} ${string}`) => OPERATIONS.get(name)?.description ?? '';
    assert.match(text('GET /api/v1/user/hosted-token'), /Exists only if `DEPLOYMENT` is `hosted`\.$/);
    assert.match(text('GET /links/installer.pub'), /Exists only if `DEPLOYMENT` is `marketplace`\.$/);
    assert.doesNotMatch(text('GET /api/v1/user'), /Exists only/);
  });

  it('Every operation says whether robots may call it', () => {
    for (const { method, path, access } of atrium.instance.routes) {
      const name = `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}` as const;
      const declared = access.who === 'anyone' ? 'as users' : access.who === 'webhook' ? 'never' : access.robots;
      const expected = declared === 'only' ? declared : declared !== 'never';
      const operation = OPERATIONS.get(name);
      if (operation !== undefined) assert.equal(operation['x-robots'], expected, name);
    }
    assert.equal(OPERATIONS.get('POST /api/v1/clusters/{id}/heartbeat')?.['x-robots'], true);
  });

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
    for (const [name, operation] of notifications) {
      assert.deepEqual(statusesOf(operation).sort(), ['200', '400', '403', '413', '500'], name);
    }
  });

  it('A test fails when a response has a status or a header that its documentation does not name', async () => {
    const wrong = createServer(({ url }, response) =>
      response.writeHead(url === '/api/v1/user' ? 200 : 418, { 'X-Total-Count': '1' }).end(),
    ).listen(0, '127.0.0.1');
    await once(wrong, 'listening');
    const base = `http://127.0.0.1:${(wrong.address() as AddressInfo).port}`;
    const call = (path: string) => atrium.call('GET', path, undefined, undefined, base);
    try {
      await assert.rejects(call('/api/v1/teams/7?x=1'), /^Error: GET \/api\/v1\/teams\/\{id\} answered 418, which/);
      await assert.rejects(call('/api/v1/user'), /^Error: GET \/api\/v1\/user answered 200 with x-total-count, which/);
      assert.equal((await call('/no/documented/path')).status, 418);
    } finally {
      wrong.closeAllConnections();
      wrong.close();
    }
  });

  it('Every operation says whether robots may call it, and only those say yes that robots can call', () => {
    const yes = [...OPERATIONS].filter(([, operation]) => operation['x-robots'] && !isPublic(operation));
    for (const [name, { description = '', 'x-robots': robots }] of OPERATIONS) {
      const words =
        robots === 'only'
          ? /Only robots may call/
          : robots
            ? /[Rr]obots may call|So may robots/
            : /Robots may not call/;
      assert.match(description, words, name);
    }
    const names = yes.map(([name]) => name);
    assert.ok(names.includes('POST /api/v1/clusters/{id}/heartbeat'));
    assert.ok(names.includes('GET /api/v1/user') && names.includes('POST /api/v1/orgs/{org}/teams'));
    assert.ok(!names.includes('PATCH /api/v1/user') && !names.includes('POST /api/v1/orgs'));

    function isPublic({ description = '' }: Operation): boolean {
      return description.startsWith('Requires no authentication');
    }
  });

  it('Errors are described once, and no group of operations is a list of everything', () => {
    for (const [name, { responses }] of OPERATIONS) {
      const errors = Object.keys(responses).filter((status) => !/^[23]/.test(status));
      // A range that is not in the archive is no error with a body.
      assert.deepEqual(
        errors.filter((status) => status !== '416'),
        ['default'],
        name,
      );
    }
    const groups = Map.groupBy(OPERATIONS, ([, operation]) => (operation as { tags?: string[] }).tags?.[0] ?? '');
    for (const [tag, operations] of groups) assert.ok(tag !== '' && operations.length <= 50, `${tag} is too large`);
  });

  it('Statuses that only the feature behind a route knows are documented', () => {
    const has = (name: `${string} ${string}`, ...statuses: readonly string[]) => {
      const operation = OPERATIONS.get(name);
      const documented = operation ? statusesOf(operation) : [];
      assert.deepEqual(
        statuses.filter((status) => !documented.includes(status)),
        [],
        name,
      );
    };
    has('PUT /api/v1/authz/roles/{id}', '400', '404', '409', '412', '413', '422');
    has('GET /api/v1/user/credentials/{credName}', '404');
    has('GET /api/v1/user/following/{username}', '404');
    has('GET /api/v1/clusters/{id}', '400', '404', '503');
    has('PATCH /api/v1/teams/{id}', '409', '412');
    has('DELETE /api/v1/orgs/{org}/members/{username}', '409');
    has('POST /api/v1/user/signin', '403', '404', '429');
    has('GET /api/v1/user/clouds/{cloud}/buckets', '400', '502');
    has('GET /api/v1/user/bus/cluster-resource-history', '400', '503');
    has('GET /links/installer/{ownerID}/{name}/{installerID}/archive.tar.gz', '206', '304', '410', '416');
    has(
      'GET /marketplace/api/v1/marketplaces/standalone-organizations/{claimID}/claimable',
      ...['404', '409', '429', '500'],
    );
  });

  it('Numbers are documented as numbers, and closed sets as enums, in paths and queries', () => {
    const schemaOf = (name: `${string} ${string}`, parameter: string) =>
      OPERATIONS.get(name)?.parameters?.find((one) => one.name === parameter)?.schema;
    const id = { type: 'integer', format: 'int64', minimum: 1 };
    assert.deepEqual(schemaOf('GET /api/v1/teams/{id}', 'id'), id);
    assert.deepEqual(schemaOf('GET /api/v1/authz/objects/{objectType}/{objID}/explain', 'objID'), id);
    assert.deepEqual(schemaOf('GET /api/v1/authz/objects/{objectType}/{objID}/explain', 'objectType'), {
      type: 'string',
      enum: OBJECT_TYPES,
    });
    let pages = 0;
    for (const [name, { parameters = [] }] of OPERATIONS) {
      for (const { name: parameter, schema } of parameters) {
        assert.notDeepEqual(schema, {}, `${name} ${parameter}`);
        if (parameter !== 'page' && parameter !== 'limit') continue;
        assert.deepEqual(schema, { type: 'integer', minimum: 1 }, name);
        pages++;
      }
    }
    assert.ok(pages > 40, `${pages} parameters`);
  });

  it('An ID that is not a number is still rejected with 400, and a page that is not one still means the first', async () => {
    const call = atrium.as('ann');
    assert.equal((await call('GET', '/teams/seven')).body.message, 'invalid team ID: "seven"');
    const [odd, first] = [await call('GET', '/user/teams?page=x&limit=0'), await call('GET', '/user/teams')];
    assert.equal(odd.status, 200);
    assert.deepEqual(odd.body, first.body);
  });

  it('A body is documented as required exactly where a request without one is rejected', async () => {
    const id = numbersOf(atrium);
    const values: Readonly<Record<string, string | number>> = {
      org: 'acme',
      username: 'cat',
      cloud: 'aws',
      ...resourceIds(atrium.world),
      teams: id.team('operators'),
      roles: id.role('cluster-operator'),
    };
    let optional = 0;
    for (const [name, { requestBody }] of OPERATIONS) {
      // Marketplaces send what they want, and people are rejected before what only robots send is read.
      if (!requestBody || /\/marketplace\/|\/(?:access|token)-review$/.test(name)) continue;
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
