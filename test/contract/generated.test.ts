import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { generatedFiles } from '../../scripts/generated.ts';
import { SETTINGS } from '../../src/base/config/settings.ts';

const files = await generatedFiles();

describe('Generated files', () => {
  for (const [path, text] of Object.entries(files)) {
    it(`${path} is up to date (else: npm run generate)`, () => assert.equal(readFileSync(path, 'utf8'), text));
  }

  it('.env.example and docs/configuration.md list every setting', () => {
    for (const name of Object.keys(SETTINGS)) {
      assert.match(files['.env.example'] ?? '', new RegExp(`^#${name}=`, 'm'));
      assert.match(files['docs/configuration.md'] ?? '', new RegExp(`^\\| \`${name}\` `, 'm'));
    }
  });
});

describe('openapi/atrium.json', () => {
  const document = JSON.parse(files['openapi/atrium.json'] ?? '');

  it('openapi/atrium.json is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    assert.deepEqual(errors ?? [], []);
    assert.ok(valid);
    assert.equal(validator.version, '3.1');
  });

  it('openapi/atrium.json contains the routes of every deployment', () => {
    assert.ok(document.paths['/api/v1/user'].get);
    assert.ok(document.paths['/marketplace/api/v1/version'].get);
  });

  it('openapi/atrium.json lists only Basic authentication for the one route that accepts nothing else', () => {
    const ways = (path: string, method: string) =>
      (document.paths[`/api/v1${path}`][method].security as object[]).flatMap((way) => Object.keys(way));
    assert.deepEqual(ways('/users/{username}/tokens', 'post'), ['basic']);
    assert.deepEqual(ways('/users/{username}/tokens', 'get'), ['token', 'bearer', 'basic', 'session']);
  });

  it('openapi/atrium.json gives every operation a unique id and states who may call it', () => {
    const operations = Object.values<Record<string, { operationId: string; description: string }>>(
      document.paths,
    ).flatMap((methods) => Object.values(methods));
    const names = operations.map((operation) => operation.operationId);
    assert.deepEqual(names, [...new Set(names)]);
    for (const { description } of operations) assert.match(description, /^(Requires|Called by) /);
  });
});
