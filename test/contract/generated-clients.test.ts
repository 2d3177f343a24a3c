import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Type from 'typebox';
import { publisher } from '../../scripts/openapi/published-schemas.ts';
import { describeEveryDeployment } from '../../scripts/routes.ts';
import { documentedSchema, named, OrgQuery, PathId } from '../../src/http/wire/schemas.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** What generators of clients trip over. The long suite runs some of them: npm run test:long -- generators. */
describe('The OpenAPI document in the hands of a generator', async () => {
  const { components } = await describeEveryDeployment();
  const schemas = Object.entries(components.schemas) as [string, Schema][];

  it('Every object inside a schema has a name of its own, so that no class has to be called Inner', () => {
    const inline = schemas.flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).flatMap(([key, value]) => {
        // An object that may be null has to stay where it is.
        const parts = [value, ...(value.items ? [value.items] : []), ...(value.anyOf ?? [])];
        return parts.some((part) => part.type === 'object' && part.properties) ? [`${name}.${key}`] : [];
      }),
    );
    assert.deepEqual(inline, []);
  });

  it('No schema has a list of its own name, which is a conflict of types in Python', () => {
    const snake = (text: string) => text.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
    const conflicts = schemas.flatMap(([name, { properties = {} }]) =>
      Object.keys(properties).filter((key) => snake(key) === snake(name) && properties[key]?.type === 'array'),
    );
    assert.deepEqual(conflicts, []);
  });

  it('An object of any form is not published as one without properties', () => {
    assert.doesNotMatch(JSON.stringify(components), /"properties":\{\}/);
    const { publish } = publisher();
    assert.deepEqual(publish(Type.Object({})), { type: 'object', additionalProperties: true });
  });

  it('A value that Go would declare by the name of its client has another name there', () => {
    const { publish } = publisher();
    assert.deepEqual(publish(Type.String({ enum: ['client', 'last_keys'] })), {
      type: 'string',
      enum: ['client', 'last_keys'],
      'x-enum-varnames': ['ClientValue', 'LastKeys'],
    });
    assert.deepEqual(publish(Type.String({ enum: ['server'] })), { type: 'string', enum: ['server'] });
  });

  it('Equal objects below equal properties share a name; others get the name of where they are', () => {
    const { publish, schemas: found } = publisher();
    const status = () => Type.Object({ phase: Type.String() });
    publish(named('Brief', Type.Object({ status: status(), tags: Type.Array(Type.Object({ id: Type.String() })) })));
    publish(named('Full', Type.Object({ status: status(), last_change: status() })));
    assert.deepEqual(Object.keys(found()), ['Brief', 'BriefStatus', 'BriefTag', 'Full', 'FullLastChange']);
  });

  it('What the rules require is documented, and validation does not see it', () => {
    const { publish } = publisher();
    const name = documentedSchema(Type.String({ description: 'A name.' }), { minLength: 1 });
    assert.equal(JSON.stringify(name), '{"type":"string","description":"A name."}');
    assert.deepEqual(publish(name), { type: 'string', description: 'A name.', minLength: 1 });
    assert.deepEqual(publish(documentedSchema(PathId, { description: 'ID of a role.' })), {
      type: 'integer',
      format: 'int64',
      minimum: 1,
      description: 'ID of a role.',
    });
    assert.equal((publish(OrgQuery.properties.org) as { minLength?: number }).minLength, 1);
  });
});
