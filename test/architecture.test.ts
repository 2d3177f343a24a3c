import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { breaches } from './support/arrow-rule.ts';
import { parseSource, readSources } from './support/imports.ts';

describe('Architecture rules', () => {
  it('The whole source tree follows the architecture rules', () => {
    const files = readSources('{src,test,scripts,bench,bin,cli,client,console}/**/*.{ts,mjs}');
    assert.ok(files.length > 60, 'the tree was found');
    assert.ok(files.flatMap((file) => file.imports).length > 200, 'imports were found');
    assert.deepEqual(breaches(files), []);
  });

  const WRONG: readonly (readonly [path: string, text: string, fault: RegExp])[] = [
    ['src/authz/roles.ts', `import { callerOf } from '../http/access.ts';`, /rules know no HTTP/],
    ['src/authz/roles.ts', `import type { FastifyRequest } from 'fastify';`, /rules know no HTTP/],
    ['src/authz/roles.ts', `import { sql } from '../db/db.ts';`, /rules know no storage/],
    ['src/authz/roles.ts', `import type { Query } from '../db/db.ts';`, /rules know no storage/],
    ['src/directory/clock.ts', `import { sql } from '../db/db.ts';`, /rules know no storage/],
    ['src/authz/roles.ts', `import {\n  createRoleStore,\n} from './roles.store.ts';`, /rules know no storage/],
    ['src/authz/roles.routes.ts', `import { createRoleStore } from './roles.store.ts';`, /routes ask rules/],
    ['src/authz/roles.store.ts', `import { readId } from '../http/schemas.ts';`, /stores know no HTTP/],
    ['src/authz/roles.ts', `import { createSignIn } from '../user/sign-in.ts';`, /the other way/],
    ['src/user/emails.ts', `import type { Claim } from '../marketplace/claim.ts';`, /the other way/],
    ['src/http/access.ts', `import { roles } from '../authz/roles.ts';`, /the other way/],
    ['src/http/access.ts', `export { roles } from '../authz/roles.ts';`, /the other way/],
    ['src/directory/people.view.ts', `import { Scope } from '../http/server.ts';`, /the other way/],
    ['src/rebac/engine.ts', `import { people } from '../directory/people.ts';`, /the other way/],
    ['src/db/db.ts', `import { people } from '../directory/people.ts';`, /the other way/],
    ['src/app.ts', `import { openHouse } from './house.ts';`, /the other way/],
    ['src/house.ts', `import pg from 'pg';`, /only db knows a driver/],
    ['src/house.ts', `const { PGlite } = await import('@electric-sql/pglite');`, /only db knows a driver/],
    ['cli/main.ts', `import { readConfig } from '../src/config.ts';`, /talks HTTP only/],
    ['client/index.ts', `import type { User } from '../src/user/user.view.ts';`, /talks HTTP only/],
    ['src/http/thing.ts', `export default function thing() {}`, /default export/],
    ['src/http/thing.ts', `${'const line = 1;\n'.repeat(401)}`, /401 lines/],
    ['src/stuff/thing.ts', '', /no place in the plan/],
  ];
  for (const [path, text, fault] of WRONG) {
    it(`The architecture rules reject ${path} with ${text.slice(0, 60).replaceAll('\n', ' ') || 'any content'}`, () => {
      assert.match(breaches([parseSource(path, text)]).join('\n'), fault);
    });
  }

  it('The architecture rules reject import cycles at run time and allow cycles of types only', () => {
    const there = parseSource('src/http/a.ts', `import { b } from './b.ts';`);
    assert.match(breaches([there, parseSource('src/http/b.ts', `import { a } from './a.ts';`)]).join(), /circle/);
    assert.deepEqual(breaches([there, parseSource('src/http/b.ts', `import type { a } from './a.ts';`)]), []);
  });

  it('The architecture rules allow routes to import access helpers, rules and errors', () => {
    const text = [
      `import { callerOf } from '../http/access.ts';`,
      `import type { Roles } from './roles.ts';`,
      `import { AppError } from '../errors.ts';`,
    ].join('\n');
    assert.deepEqual(breaches([parseSource('src/authz/roles.routes.ts', text)]), []);
  });
});
