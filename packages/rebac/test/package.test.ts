import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import * as rebac from '../src/rebac.ts';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const HOME = resolve(import.meta.dirname, '..');
const README = readFileSync(join(HOME, 'README.md'), 'utf8');
const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
const own = manifestOf(HOME);

/** The packages that files import, Node's own excepted. */
function importedBy(pattern: string): string[] {
  const texts = globSync(pattern, { cwd: HOME }).map((path) => readFileSync(join(HOME, path), 'utf8'));
  const found = texts.flatMap((text) => [...text.matchAll(/\b(?:from|import\() ?'([^.'\n][^'\n]*)'/g)]);
  const names = found.map(([, name = '']) => name).filter((name) => !name.startsWith('node:'));
  return [...new Set(names)].sort();
}

describe('The engine as a package', () => {
  it('The example of its README prints what the README says', () => {
    const [, example = ''] = /^```ts\n(.*?)^```/ms.exec(README) ?? [];
    const expected = [...example.matchAll(/ \/\/ (.*)$/gm)].map(([, printed = '']) => printed);
    assert.equal(expected.length, 5);
    // The package can import itself by its name.
    const flags = ['--input-type=module-typescript', '-e', example];
    const { stdout, stderr, status } = spawnSync(process.execPath, flags, { cwd: HOME, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    assert.deepEqual(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.replace(/^\[ (.*) \]$/, '[$1]')),
      expected,
    );
  });

  it('Its README names everything that it offers, and nothing else', () => {
    const [, table = ''] = /^## What it offers$(.*?)^## /ms.exec(README) ?? [];
    const rows = [...table.matchAll(/^\| (`.*?) \|/gm)].map(([, names = '']) => names);
    const named = rows.flatMap((names) => [...names.matchAll(/`(\w+)`/g)]).map(([, name = '']) => name);
    const offered = Object.keys(rebac).filter((name) => name !== 'RebacError');
    assert.deepEqual(named.sort(), offered.sort());
  });

  it('It needs the packages that its package.json lists, in the versions of the server', () => {
    assert.deepEqual(importedBy('src/**/*.ts'), Object.keys(own.dependencies).sort());
    const forTests = importedBy('{corpus,test}/**/*.ts').filter((name) => !(name in own.dependencies));
    assert.deepEqual(forTests, Object.keys(own.devDependencies));
    const server = manifestOf('.');
    const all = { ...server.dependencies, ...server.devDependencies };
    for (const [name, version] of Object.entries({ ...own.dependencies, ...own.devDependencies }))
      assert.equal(version, all[name], name);
  });
});
