import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { includesScope, PUBLIC_ONLY, scopesAllow, scopesCover } from '../../src/identity/scopes.ts';
import {
  findToken,
  readTokenRequest,
  type TokenDetails,
  type TokenRequest,
} from '../../src/identity/tokens/token-request.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);
const WANTED: TokenRequest = { name: 'laptop', scopes: ['read:user'], expiresAt: null };
const TERMS = { held: ['all'], heldUntil: null, unsaid: ['read:authz'], now: NOW };
const read = (wanted: Partial<TokenRequest>, terms: Partial<Parameters<typeof readTokenRequest>[1]> = {}) =>
  readTokenRequest({ ...WANTED, ...wanted }, { ...TERMS, ...terms });

describe('Requests for new tokens', () => {
  it('The name of a token is trimmed and has 1 to 255 characters', () => {
    assert.equal(read({ name: ' laptop ' }).name, 'laptop');
    assert.equal(read({ name: '🦊'.repeat(255) }).name.length, 510);
    for (const name of ['', '  ', 'x'.repeat(256)]) assert.throws(() => read({ name }), { kind: 'malformed' });
  });

  it('Scopes are sorted, each once, without those that another one includes', () => {
    const table: readonly [readonly string[] | undefined, readonly string[]][] = [
      [undefined, ['read:authz']],
      [['write:user', 'read:user'], ['write:user']],
      [
        ['write:authz', 'read:user', 'read:user'],
        ['read:user', 'write:authz'],
      ],
      [['read:user', 'all'], ['all']],
      [
        ['read:user', PUBLIC_ONLY, 'all'],
        ['all', PUBLIC_ONLY],
      ],
      [
        ['read:user', PUBLIC_ONLY],
        [PUBLIC_ONLY, 'read:user'],
      ],
    ];
    for (const [scopes, stored] of table) assert.deepEqual(read({ scopes }).scopes, stored);
    assert.throws(() => read({ scopes: [] }), { kind: 'malformed' });
    const message = 'invalid access token scope provided: read:repo, sudo';
    assert.throws(() => read({ scopes: ['all', 'read:repo', 'sudo'] }), { kind: 'invalid', message });
  });

  it('A token cannot create one that may do more, or that lives longer', () => {
    assert.throws(() => read({ scopes: ['write:user'] }, { held: ['read:user'] }), { kind: 'forbidden' });
    assert.deepEqual(read({}, { held: ['write:user'] }).scopes, ['read:user']);
    const heldUntil = later(60);
    assert.throws(() => read({ expiresAt: later(61) }, { heldUntil }), { kind: 'forbidden' });
    assert.deepEqual(read({ expiresAt: later(60) }, { heldUntil }).expiresAt, later(60));
    assert.deepEqual(read({ expiresAt: later(59) }, { heldUntil }).expiresAt, later(59));
    assert.deepEqual(read({}, { heldUntil }).expiresAt, heldUntil, 'without an expiry, it expires with its parent');
    assert.equal(read({}).expiresAt, null);
    assert.deepEqual(read({ expiresAt: later(1) }).expiresAt, later(1));
  });

  it('A token expires in the future', () => {
    for (const expiresAt of [NOW, later(-1)]) assert.throws(() => read({ expiresAt }), { kind: 'malformed' });
  });

  it('A token is found by its ID, otherwise by its name', () => {
    const token = (id: bigint, name: string): TokenDetails => ({
      id,
      name,
      lastEight: '',
      scopes: [],
      createdAt: NOW,
      lastUsedAt: null,
      expiresAt: null,
      canRotate: false,
      isDelegated: false,
      limits: undefined,
      supersedes: null,
      supersededBy: null,
    });
    const all = [token(1n, 'a'), token(2n, '3'), token(3n, '2'), token(4n, '7')];
    assert.equal(findToken(all, 'a').id, 1n);
    assert.equal(findToken(all, '2').id, 2n, 'the ID comes first');
    assert.equal(findToken(all, '7').id, 4n);
    assert.throws(() => findToken(all, 'b'), { kind: 'notFound' });
  });
});

describe('What scopes include', () => {
  it('A public-only token is limited to public routes, and passes that limit on', () => {
    const held = ['all', PUBLIC_ONLY];
    assert.equal(scopesAllow(held, 'read:user'), false);
    assert.equal(scopesAllow(held, 'read:user', true), true);
    assert.equal(scopesAllow(['read:authz'], 'read:user', true), false);
    assert.equal(scopesCover(held, ['read:user']), false);
    assert.equal(scopesCover(held, ['read:user', PUBLIC_ONLY]), true);
    assert.equal(scopesCover(['read:user'], ['read:user', PUBLIC_ONLY]), true);
    assert.equal(scopesCover(['read:user', PUBLIC_ONLY], ['read:authz', PUBLIC_ONLY]), false);
  });

  it('Held scopes cover wanted ones only if each is included, and writing includes reading', () => {
    assert.equal(scopesCover(['write:user', 'read:authz'], ['read:user', 'read:authz']), true);
    assert.equal(scopesCover(['write:user'], ['read:user', 'read:authz']), false);
    assert.equal(includesScope(['read:user'], 'write:user'), false);
    assert.equal(includesScope(['write:user'], 'read:user'), true);
    assert.equal(includesScope(['all'], 'write:admin'), true);
    assert.equal(includesScope([], 'read:user'), false);
  });
});
