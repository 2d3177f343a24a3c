import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

interface Package {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** As a project that we would like to depend on ourselves. */
const MAX_IN_PRODUCTION = 120;

describe('The page about dependencies', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Package;
  const [ofTests, ofSite] = ['test/package.json', 'site/package.json'].map(
    (path) => (JSON.parse(readFileSync(path, 'utf8')) as Package).dependencies,
  );
  const installed = [dependencies, devDependencies, ofTests, ofSite].flatMap((part) => Object.keys(part ?? {}));
  const page = readFileSync('docs/decisions/dependencies.md', 'utf8');

  for (const name of installed) {
    it(`docs/decisions/dependencies.md says what ${name} is for`, () => {
      assert.ok(page.includes(`\`${name}\``), `${name} is in package.json and not on the page`);
    });
  }

  it(`Production needs at most ${MAX_IN_PRODUCTION} packages`, () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      packages: Readonly<Record<string, { dev?: boolean; devOptional?: boolean; optional?: boolean }>>;
    };
    const needed = Object.entries(packages).filter(([path, { dev, devOptional, optional }]) => {
      return path !== '' && !dev && !devOptional && !optional;
    });
    assert.ok(needed.length > 50, 'the lock file was understood');
    assert.ok(needed.length <= MAX_IN_PRODUCTION, `${needed.length} packages`);
  });

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
