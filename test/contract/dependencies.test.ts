import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

interface Package {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

describe('The page about dependencies', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Package;
  const installed = [...Object.keys(dependencies), ...Object.keys(devDependencies)];
  const page = readFileSync('docs/decisions/dependencies.md', 'utf8');

  for (const name of installed) {
    it(`docs/decisions/dependencies.md says what ${name} is for`, () => {
      assert.ok(page.includes(`\`${name}\``), `${name} is in package.json and not on the page`);
    });
  }

  it('docs/decisions/dependencies.md has no line about a package that is not installed', () => {
    const listed = [...page.matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
    );
    assert.ok(listed.length > 20, 'the table was found');
    assert.deepEqual(
      listed.filter((name) => !installed.includes(name)),
      [],
    );
  });
});
