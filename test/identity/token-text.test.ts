import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import { SCOPES, scopesAllow } from '../../src/identity/scopes.ts';
import { hashSecret, isTokenText, mintToken } from '../../src/identity/tokens/token-text.ts';
import { fc } from '../support/checks/properties.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const numberOf = (digits: string) => [...digits].reduce((sum, digit) => sum * 62n + BigInt(DIGITS.indexOf(digit)), 0n);

describe('Token format', () => {
  it('A token consists of a prefix, 160 random bits and a checksum over both', () => {
    for (let time = 0; time < 1000; time++) {
      const text = mintToken();
      assert.match(text, /^atr_[0-9A-Za-z]{33}$/);
      assert.ok(numberOf(text.slice(4, -6)) < 2n ** 160n);
      assert.equal(numberOf(text.slice(-6)), BigInt(crc32(text.slice(0, -6))));
      assert.ok(isTokenText(text));
    }
  });

  it('Each of the 160 bits of a token varies between tokens', () => {
    const bits = Array.from({ length: 200 }, () => numberOf(mintToken().slice(4, -6)));
    const all = 2n ** 160n - 1n;
    assert.equal(
      bits.reduce((a, b) => a | b),
      all,
    );
    assert.equal(
      bits.reduce((a, b) => a & b),
      0n,
    );
  });

  it('A token with one wrong character is rejected', () => {
    fc.assert(
      fc.property(fc.nat({ max: 32 }), fc.nat({ max: 60 }), (at, shift) => {
        const text = mintToken();
        const place = 4 + at;
        const wrong = DIGITS.charAt((DIGITS.indexOf(text.charAt(place)) + 1 + shift) % 62);
        assert.equal(isTokenText(text.slice(0, place) + wrong + text.slice(place + 1)), false);
      }),
    );
  });

  for (const odd of ['', 'atr_', 'ATR_', `atr_${'0'.repeat(33)}`, `atr_${'0'.repeat(27)}`, ' ', 'é'.repeat(37)]) {
    it(`The string ${JSON.stringify(odd)} is not a valid token`, () => assert.equal(isTokenText(odd), false));
  }

  it('A token with added whitespace, a missing character or changed case is not valid', () => {
    const text = mintToken();
    for (const odd of [` ${text}`, `${text} `, `${text}\n`, text.slice(1), text.toUpperCase()])
      assert.equal(isTokenText(odd), false);
  });

  it('The stored hash of a token depends on the hashing key', () => {
    const text = mintToken();
    const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    assert.equal(hashSecret(one, text).length, 32);
    assert.deepEqual(hashSecret(one, text), hashSecret(one, text));
    assert.notDeepEqual(hashSecret(one, text), hashSecret(two, text));
  });
});

describe('Token scopes', () => {
  const table: readonly [readonly string[], 'read:user' | 'write:user', boolean][] = [
    [['all'], 'write:user', true],
    [['read:user'], 'read:user', true],
    [['write:user'], 'read:user', true],
    [['read:user'], 'write:user', false],
    [['read:authz', 'write:admin'], 'read:user', false],
    [[], 'read:user', false],
  ];
  for (const [scopes, needed, allowed] of table) {
    it(`A token with the scopes [${scopes.join(', ')}] ${allowed ? 'allows' : 'does not allow'} ${needed}`, () =>
      assert.equal(scopesAllow(scopes, needed), allowed));
  }

  it('The list of token scopes has no duplicates and includes the basic scopes', () => {
    assert.ok(SCOPES.includes('read:user') && SCOPES.includes('write:credential') && SCOPES.includes('all'));
    assert.equal(new Set(SCOPES).size, SCOPES.length);
  });
});
