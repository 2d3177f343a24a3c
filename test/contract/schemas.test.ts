import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Type from 'typebox';
import { NAMED_ROUTES, operationName } from '../../scripts/openapi/operation-names.ts';
import { publisher } from '../../scripts/openapi/published-schemas.ts';
import { createWords } from '../../scripts/openapi/words/words.ts';
import { describeEveryDeployment } from '../../scripts/routes.ts';
import { named } from '../../src/http/wire/schemas.ts';

interface Schema {
  readonly $ref?: string;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}
interface Media {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}
interface Described {
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly items?: Described;
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly description?: string; readonly schema: object }[];
  readonly operationId: string;
  readonly requestBody?: Media;
  readonly responses: Readonly<Record<string, Media>>;
}

const NOUNS =
  'AuditEntry AuditPage Cluster Contract Credential Delivery Email Error Installer Member Order Organization Overview ' +
  'Permission Principal Robot Role Session Subscription Team Token User';

const VERBS =
  'list get create update delete add remove assign check count search find export import verify preview explain render ' +
  'accept receive report resend retry revoke release retire rotate end set confirm follow unfollow download ' +
  'approve deny cancel acknowledge request replace reset ' +
  'start keep close';
const BARE_VERBS = new Set(['signIn', 'signInWithPasskey', 'signOut']);

/** Documents of any form: what the caller stored, or what a chart renders. */
const FORMLESS = new Set([
  'GET /api/v1/authz/roles/export',
  'PUT /api/v1/authz/roles/import',
  'GET /api/v1/orgs/{org}/file',
  'POST /api/v1/orgs/{org}/plan',
  'PUT /api/v1/orgs/{org}/file',
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
    const names = operations.map(({ operation }) => operation.operationId);
    assert.deepEqual(
      names.filter((name, place) => names.indexOf(name) !== place),
      [],
    );
    const verbs = new RegExp(`^(${VERBS.replaceAll(' ', '|')})([A-Z][a-z0-9]*)+$`);
    assert.deepEqual(
      names.filter((name) => !verbs.test(name) && !BARE_VERBS.has(name)),
      [],
    );
    // Two names for one verb or noun, and words that only a path needs.
    assert.deepEqual(
      names.filter((name) => /^post|Org(?!anization)|Authz|CurrentUser./.test(name)),
      [],
    );
  });

  it('The table of operation names contains exactly the documented routes', () => {
    const routes = operations.map(({ name }) => name.replace(/\{(\w+)\}/g, ':$1'));
    assert.deepEqual([...NAMED_ROUTES].sort(), routes.sort());
    assert.throws(() => operationName({ method: 'GET', path: '/new' }), /GET \/new has no name: add one to NAMES/);
  });

  it('Every schema, property and parameter says what it is for', () => {
    const silent = Object.entries(components.schemas).flatMap(([name, schema]) => silentIn(name, schema as Described));
    for (const { name, operation } of operations) {
      const mute = (operation.parameters ?? []).filter(({ description = '' }) => description === '');
      silent.push(...mute.map((parameter) => `${name} ${parameter.name}`));
    }
    assert.deepEqual(silent, []);
  });

  it('Words for what does not exist, and schemas without words, stop the generation', () => {
    const words = createWords();
    words.schema('Unheard', { type: 'object', properties: { of: { type: 'string' } } });
    words.parameter('doSomething', '/things/{thing}', 'path', 'thing');
    assert.throws(
      () => words.requireComplete(),
      /says nothing about: property Unheard\.of, schema Unheard, parameter thing of doSomething$/,
    );
    assert.throws(() => createWords().requireComplete(), /describes what is not there: .*Team\.units/);
  });

  it('Closed sets are enums, and flags are booleans', () => {
    const schemas = components.schemas as Record<string, { properties: Record<string, { enum?: unknown }> }>;
    const choices = (schema: string, property: string) => schemas[schema]?.properties[property]?.enum;
    assert.deepEqual(choices('Delivery', 'state'), ['received', 'done', 'refused', 'dead']);
    assert.deepEqual(choices('Installer', 'state'), ['unbound', 'expired', 'bound', 'spent']);
    assert.deepEqual(choices('Team', 'type'), ['builtin', 'custom']);
    assert.deepEqual(choices('NameCheck', 'Status'), ['VALID', 'USER_EXISTS', 'RESERVED', 'INVALID', 'NOT_ALLOWED']);
    assert.deepEqual(choices('User', 'type'), [0, 1, 4]);
    const parameter = (route: string, name: string) =>
      operations.find((one) => one.name === route)?.operation.parameters?.find((one) => one.name === name)?.schema;
    const marketplaces = { type: 'string', enum: ['CloudA', 'CloudB', 'CloudC'] };
    assert.deepEqual(parameter('GET /api/v1/admin/marketplace/deliveries', 'marketplace'), marketplaces);
    assert.deepEqual(parameter('GET /api/v1/user/clusters', 'all'), { type: 'boolean' });
    assert.deepEqual(parameter('GET /api/v1/user/credentials', 'summary'), { type: 'boolean' });
    // A set of choices without a type says nothing to a generator.
    const untyped = JSON.stringify({ paths, components }).match(/\{"enum":/g) ?? [];
    assert.deepEqual(untyped, []);
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

/** What is referred to describes itself. */
function silentIn(place: string, { $ref, description = '', properties = {}, items }: Described): string[] {
  return [
    ...($ref === undefined && description === '' && !place.endsWith('[]') ? [place] : []),
    ...Object.entries(properties).flatMap(([name, part]) => silentIn(`${place}.${name}`, part)),
    ...(items ? silentIn(`${place}[]`, items) : []),
  ];
}
