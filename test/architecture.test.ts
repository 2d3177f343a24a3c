import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { breaches, breachesOfTree } from './support/checks/import-rule.ts';
import { parseSource, readSources } from './support/checks/imports.ts';

describe('Architecture rules', () => {
  it('The whole source tree follows the architecture rules', () => {
    const files = readSources('{src,packages,test,scripts,bench,bin,cli,client,console}/**/*.{ts,tsx,mjs}');
    assert.ok(files.length > 60, 'the tree was found');
    assert.ok(files.flatMap((file) => file.imports).length > 200, 'imports were found');
    assert.deepEqual([...breaches(files), ...breachesOfTree(files)], []);
  });

  const WRONG: readonly (readonly [path: string, text: string, fault: RegExp])[] = [
    ['src/roles/roles.ts', `import { callerOf } from '../http/access.ts';`, /rules know no HTTP/],
    ['src/roles/roles.ts', `import type { FastifyRequest } from 'fastify';`, /rules know no HTTP/],
    ['src/roles/roles.ts', `import { sql } from '../db/db.ts';`, /rules know no storage/],
    ['src/roles/roles.ts', `import type { Query } from '../db/db.ts';`, /rules know no storage/],
    ['src/changes/write.ts', `import { sql } from '../db/db.ts';`, /rules know no storage/],
    ['src/roles/roles.ts', `import {\n  createRoleStore,\n} from './roles.store.ts';`, /rules know no storage/],
    ['src/roles/roles.routes.ts', `import { createRoleStore } from './roles.store.ts';`, /routes ask rules/],
    ['src/roles/roles.store.ts', `import { readId } from '../http/schemas.ts';`, /stores know no HTTP/],
    ['src/roles/roles.ts', `import { createClusters } from '../clusters/clusters.ts';`, /the layer is not below/],
    ['src/users/emails.ts', `import type { Claim } from '../marketplace/claims/claims.ts';`, /the layer is not below/],
    ['src/http/access.ts', `import { roles } from '../roles/roles.ts';`, /the layer is not below/],
    ['src/http/access.ts', `export { roles } from '../roles/roles.ts';`, /the layer is not below/],
    ['src/identity/person.view.ts', `import { Scope } from '../http/server.ts';`, /the layer is not below/],
    [
      'packages/rebac/src/engine.ts',
      `import { people } from '../../../src/users/users.ts';`,
      /the engine knows nothing/,
    ],
    ['packages/rebac/src/graph.ts', `import { text } from '../../../src/base/json.ts';`, /the engine knows nothing/],
    [
      'packages/rebac/test/graph.test.ts',
      `import { text } from '../../../src/base/json.ts';`,
      /the engine knows nothing/,
    ],
    ['src/authz/judge.ts', `import { walk } from '../../packages/rebac/src/walk.ts';`, /rebac\.ts is for others/],
    ['test/authz/judge.test.ts', `import type { Walk } from '../../packages/rebac/src/walk.ts';`, /is for others/],
    ['src/db/db.ts', `import { people } from '../users/users.ts';`, /the layer is not below/],
    ['src/app.ts', `import { openInstance } from './instance.ts';`, /the layer is not below/],
    ['src/instance.ts', `import pg from 'pg';`, /only db knows a driver/],
    ['src/instance.ts', `const { PGlite } = await import('@electric-sql/pglite');`, /only db knows a driver/],
    ['cli/main.ts', `import { readConfig } from '../src/base/config.ts';`, /talks HTTP only/],
    ['client/index.ts', `import type { User } from '../src/users/user.view.ts';`, /talks HTTP only/],
    ['src/http/thing.ts', `export default function thing() {}`, /default export/],
    ['src/http/thing.ts', `${'const line = 1;\n'.repeat(401)}`, /401 lines/],
    ['src/roles/roles.ts', `const answer = await fetch(url);`, /only clients do/],
    ['src/roles/roles.routes.ts', `async () => { sendText(reply, await text()); }`, /does not return the reply/],
    ['src/stuff/thing.ts', '', /in no layer/],
  ];
  for (const [path, text, fault] of WRONG) {
    it(`The architecture rules reject ${path} with ${text.slice(0, 60).replaceAll('\n', ' ') || 'any content'}`, () => {
      assert.match(breaches([parseSource(path, text)]).join('\n'), fault);
    });
  }

  it('Only db names a driver; everything else asks for a capability', () => {
    const named = globSync('src/**/*.ts').filter((path) => /'pglite'/.test(readFileSync(path, 'utf8')));
    assert.deepEqual(
      named.filter((path) => !path.startsWith('src/db/')),
      [],
    );
  });

  it('The architecture rules allow a file that is one table to be as long as the table', () => {
    const table = parseSource('src/base/config/settings.ts', 'const line = 1;\n'.repeat(401));
    assert.deepEqual(breaches([table]), []);
  });

  it('The architecture rules allow clients, guarded calls and server commands to call fetch', () => {
    for (const path of ['roles/roles.client.ts', 'base/outbound/guarded-fetch.ts', 'operations/doctor/ports.ts'])
      assert.deepEqual(breaches([parseSource(`src/${path}`, 'const answer = await fetch(url);')]), []);
    assert.deepEqual(breaches([parseSource('src/roles/roles.ts', '// A fetch(url) is slow.')]), []);
  });

  it('The architecture rules reject a file none of whose exports carries its name', () => {
    const found = (path: string, text: string) => breaches([parseSource(path, text)]).join('\n');
    assert.match(found('src/db/revision-query.ts', 'export class Question {}'), /carries its name: Question/);
    for (const [path, text] of [
      ['src/db/revision-query.ts', 'export class RevisionRead {}'],
      ['src/vault/sealing.ts', 'export function sealWith() {}\nexport interface Other {}'],
      ['src/http/wire/paging.ts', 'const NumberedPage = 1;\nexport { NumberedPage };'],
      ['src/authz/openfga/openfga.client.ts', 'export function createOpenFga() {}'],
      ['src/main.ts', 'await start();'],
    ] as const)
      assert.equal(found(path, text), '');
  });

  it('The architecture rules reject import cycles, those of types included', () => {
    const there = parseSource('src/http/a.ts', `import { b } from './b.ts';`);
    for (const back of [`import { a } from './a.ts';`, `import type { a } from './a.ts';`]) {
      assert.match(breaches([there, parseSource('src/http/b.ts', back)]).join(), /cycle/);
    }
  });

  it('The architecture rules reject suffixes outside the closed set', () => {
    assert.match(breaches([parseSource('src/roles/roles.helper.ts', '')]).join(), /suffix/);
  });

  it('The architecture rules reject a name in two folders, and a list of duplicates that is out of date', () => {
    const twice = ['src/roles/things.ts', 'src/users/things.store.ts'].map((path) => parseSource(path, ''));
    assert.match(breachesOfTree(twice).join('\n'), /things is the name of files in several folders/);
    assert.match(breachesOfTree([]).join('\n'), /token is no duplicate any more/);
  });

  it('The architecture rules reject files of a folder that have nothing to do with the rest of it', () => {
    const connected = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, index) =>
        parseSource(`src/roles/${prefix}-${index}.ts`, index === 0 ? '' : `import { a } from './${prefix}-0.ts';`),
      );
    const apart = (...files: ReturnType<typeof connected>) =>
      breachesOfTree(files).filter((fault) => /have no import/.test(fault));
    assert.match(
      apart(...connected('role', 7), ...connected('name', 3)).join(),
      /name-0\.ts, .*name-2\.ts have no import/,
    );
    assert.deepEqual(apart(...connected('role', 8), ...connected('name', 2)), [], 'two files are no folder');
    assert.deepEqual(apart(...connected('role', 6), ...connected('name', 3)), [], 'a small folder needs no rooms');
    assert.deepEqual(apart(...connected('role', 100)), [], 'files that belong together are not counted');
    const wiring = `import { a } from './role-0.ts';\nimport { b } from './name-0.ts';`;
    const wired = [...connected('role', 7), ...connected('name', 3), parseSource('src/roles/roles.wiring.ts', wiring)];
    assert.equal(apart(...wired).length, 1, 'the wiring file connects everything');
    const bridge = parseSource('src/roles/bridge.ts', wiring);
    assert.deepEqual(apart(...connected('role', 7), ...connected('name', 3), bridge), []);
  });

  it('The architecture rules reject more than nine loose files in src, and loose files in test/support', () => {
    const many = Array.from({ length: 10 }, (_, index) => parseSource(`src/file-${index}.ts`, ''));
    assert.match(breachesOfTree(many).join('\n'), /^src has 10 files/m);
    const loose = parseSource('test/support/anything.ts', '');
    assert.match(breachesOfTree([loose]).join('\n'), /anything\.ts is in none of the folders there/);
  });

  it('The architecture rules allow tests of the engine what all tests share, and others its one entry', () => {
    for (const [path, target] of [
      ['packages/rebac/test/fuzz.test.ts', '../../../test/support/checks/random.ts'],
      ['packages/rebac/test/fuzz.test.ts', '../../../test/counts.ts'],
      ['packages/rebac/test/fuzz.test.ts', '../src/walk.ts'],
      ['src/authz/judge.ts', '../../packages/rebac/src/rebac.ts'],
    ] as const)
      assert.deepEqual(breaches([parseSource(path, `import { a } from '${target}';`)]), []);
  });

  it('The architecture rules allow routes to import access helpers, rules and errors', () => {
    const text = [
      `import { callerOf } from '../http/access.ts';`,
      `import type { Roles } from './roles.ts';`,
      `import { AppError } from '../base/errors.ts';`,
    ].join('\n');
    assert.deepEqual(breaches([parseSource('src/roles/roles.routes.ts', text)]), []);
  });
});
