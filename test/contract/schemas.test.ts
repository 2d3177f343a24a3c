import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Type from 'typebox';
import { describeEveryDeployment } from '../../scripts/routes.ts';
import { publisher } from '../../src/http/openapi/published-schemas.ts';
import { named } from '../../src/http/schemas.ts';

interface Schema {
  readonly $ref?: string;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}
interface Media {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}
interface Operation {
  readonly operationId: string;
  readonly requestBody?: Media;
  readonly responses: Readonly<Record<string, Media>>;
}

const NOUNS =
  'AuditEntry AuditPage Cluster Contract Credential Delivery Email Error Installer Member Order Organization Overview ' +
  'Permission Principal Robot Role Session Subscription Team Token User';

/** Documents of any form: what the caller stored, or what a chart renders. */
const FORMLESS = new Set([
  'GET /api/v1/authz/roles/export',
  'PUT /api/v1/authz/roles/import',
  'POST /api/v1/user/deploy/orders',
  'GET /api/v1/user/deploy/orders/{id}/render/resources',
]);

describe('Schemas of the API documentation', async () => {
  const { paths, components } = await describeEveryDeployment();
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation: operation as Operation,
    })),
  );

  it('Every body and every response is a named schema, a list of named ones, or a document of any form', () => {
    for (const { name, operation } of operations) {
      const parts = [operation.requestBody, ...Object.values(operation.responses)];
      const schemas = parts.flatMap((part) => part?.content?.['application/json']?.schema ?? []);
      assert.equal(schemas.every(isNamed), !FORMLESS.has(name), name);
    }
  });

  it('Every noun has a schema of its own name', () => {
    const names = Object.keys(components.schemas);
    assert.deepEqual(
      NOUNS.split(' ').filter((noun) => !names.includes(noun)),
      [],
    );
  });

  it('Every reference leads to a schema, and every schema is referred to', () => {
    const referred = [...JSON.stringify({ paths, components }).matchAll(/"#\/components\/schemas\/(\w+)"/g)];
    assert.deepEqual([...new Set(referred.map(([, name]) => name))].sort(), Object.keys(components.schemas).sort());
  });

  it('Every operation has a unique name that reads as a verb and its object', () => {
    const names = new Map(operations.map(({ name, operation }) => [name, operation.operationId]));
    assert.equal(new Set(names.values()).size, operations.length);
    for (const [name, id] of names) {
      assert.match(id, /^(list|get|create|post|set|update|delete)([A-Z0-9][a-z0-9]*)+/, name);
    }
    const expected = {
      'GET /api/v1/orgs': 'listOrgs',
      'POST /api/v1/orgs': 'createOrg',
      'GET /api/v1/orgs/{org}/teams': 'listOrgTeams',
      'GET /api/v1/teams/{id}': 'getTeam',
      'PATCH /api/v1/teams/{id}': 'updateTeam',
      'DELETE /api/v1/teams/{id}/members/{username}': 'deleteTeamMember',
      'PUT /api/v1/orgs/{org}/members/{username}': 'setOrgMember',
      'GET /api/v1/user': 'getCurrentUser',
      'GET /api/v1/users/{username}': 'getUser',
      'GET /marketplace/api/v1/version': 'getMarketplaceVersion',
      'GET /api/v1/admin/marketplace/deliveries': 'listAdminMarketplaceDeliveries',
      'GET /api/v1/admin/marketplace/deliveries/{id}': 'getAdminMarketplaceDelivery',
    };
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, names.get(name)])), expected);
  });

  it('Two different schemas of the same name are rejected', () => {
    const { publish, schemas } = publisher();
    const reference = { $ref: '#/components/schemas/Thing' };
    assert.deepEqual(publish(named('Thing', Type.Object({ a: Type.String() }))), reference);
    assert.deepEqual(publish(named('Thing', Type.Object({ a: Type.String() }))), reference);
    assert.deepEqual(Object.keys(schemas()), ['Thing']);
    assert.throws(() => publish(named('Thing', Type.Object({ b: Type.String() }))), /two schemas are called Thing/);
  });
});

function isNamed({ $ref, items, anyOf }: Schema): boolean {
  if (anyOf) return anyOf.every(isNamed);
  return $ref !== undefined || (items !== undefined && isNamed(items));
}
