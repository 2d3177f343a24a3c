import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scopesCover } from '../../src/identity/scopes.ts';

describe('Scopes that cover others', () => {
  const rows: readonly (readonly [readonly string[], readonly string[], boolean])[] = [
    [['all'], ['all'], true],
    [['all'], ['scim'], true],
    [['all'], ['write:user', 'read:organization'], true],
    [['write:user'], ['read:user'], true],
    [['read:user'], ['write:user'], false],
    [['read:user'], ['read:organization'], false],
    [['write:user'], ['scim'], false],
    [['write:organization', 'write:admin'], ['scim'], false],
    [['scim'], ['scim'], true],
    [['scim'], ['read:user'], false],
    [['public-only', 'all'], ['read:user'], false],
    [['public-only', 'all'], ['public-only', 'read:user'], true],
    [['all'], ['public-only', 'read:user'], true],
  ];
  for (const [held, wanted, expected] of rows) {
    it(`${held.join(' and ')} ${expected ? 'covers' : 'does not cover'} ${wanted.join(' and ')}`, () => {
      assert.equal(scopesCover(held, wanted), expected);
    });
  }
});
