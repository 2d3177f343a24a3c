import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { before, describe, it } from 'node:test';
import { temporaryFolder } from '../support/server/db.ts';

/** Too large for what every `npm test` installs: 170 packages. */
const LINTERS = [
  '@redocly/openapi-core@2.64.0',
  '@stoplight/spectral-core@1.24.1',
  '@stoplight/spectral-parsers@1.0.5',
  '@stoplight/spectral-rulesets@1.23.1',
];

describe('Linters of OpenAPI', () => {
  const place = temporaryFolder();
  before(() => {
    writeFileSync(join(place, 'package.json'), '{ "private": true, "type": "module" }');
    copyFileSync('test/long/linters/lint.mjs', join(place, 'lint.mjs'));
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
    const { status, stderr } = spawnSync('npm', ['install', ...options, ...LINTERS], { cwd: place, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  });

  const lint = (file: string) => {
    const { stdout, stderr } = spawnSync(process.execPath, [join(place, 'lint.mjs'), file], { encoding: 'utf8' });
    assert.equal(stderr, '');
    return stdout.split('\n').filter((line) => line !== '');
  };

  for (const name of ['atrium.json', 'atrium.yaml']) {
    it(`Redocly and Spectral have nothing to say about openapi/${name}`, () => {
      assert.deepEqual(lint(resolve('openapi', name)), []);
    });
  }

  it('Redocly and Spectral find an example that does not fit its schema, so they do read the document', () => {
    const wrong = join(place, 'wrong.json');
    const text = readFileSync('openapi/atrium.json', 'utf8');
    const document = JSON.parse(text) as { paths: Record<string, { get: { parameters: { example?: unknown }[] } }> };
    const [parameter] = document.paths['/api/v1/teams/{id}']?.get.parameters ?? [];
    assert.ok(parameter);
    parameter.example = 'four';
    writeFileSync(wrong, JSON.stringify(document));
    const found = lint(wrong).map((line) => line.split(':')[0]);
    assert.deepEqual(found, ['Spectral oas3-valid-media-example', 'Redocly no-invalid-parameter-examples']);
  });
});
