import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { base32, codeOf, otpauthUri, plainCode, stepAt, stepOf } from '../../src/factors/totp-code.ts';

/** RFC 6238, appendix B, for SHA-1. Its codes have eight digits; ours are the last six of them. */
const SECRET = Buffer.from('12345678901234567890');
const VECTORS: readonly (readonly [number, string])[] = [
  [59, '94287082'],
  [1111111109, '07081804'],
  [1111111111, '14050471'],
  [1234567890, '89005924'],
  [2000000000, '69279037'],
  [20000000000, '65353130'],
];

describe('Codes of authenticator apps', () => {
  it('Codes are those of RFC 6238', () => {
    for (const [seconds, code] of VECTORS) {
      assert.equal(codeOf(SECRET, stepAt(new Date(seconds * 1000))), code.slice(-6), `${seconds}`);
    }
  });

  it('A code counts one step early or late, and only if no later one was accepted', () => {
    const now = new Date(1_111_111_111_000);
    const step = stepAt(now);
    for (const [away, found] of [
      [-2, undefined],
      [-1, step - 1],
      [0, step],
      [1, step + 1],
      [2, undefined],
    ] as const) {
      assert.equal(stepOf(SECRET, codeOf(SECRET, step + away), now, 0), found, `${away}`);
    }
    assert.equal(stepOf(SECRET, codeOf(SECRET, step), now, step), undefined);
    assert.equal(stepOf(SECRET, codeOf(SECRET, step), now, step - 1), step);
    for (const text of ['', '1', '0504710', '05047', 'abcdef']) assert.equal(stepOf(SECRET, text, now, 0), undefined);
    assert.equal(plainCode(' 050 471\n'), '050471');
  });

  it('The secret is written as RFC 4648 says, and the URI as apps read it', () => {
    const texts = {
      '': '',
      f: 'MY',
      fo: 'MZXQ',
      foo: 'MZXW6',
      foob: 'MZXW6YQ',
      fooba: 'MZXW6YTB',
      foobar: 'MZXW6YTBOI',
    };
    for (const [text, encoded] of Object.entries(texts)) assert.equal(base32(Buffer.from(text)), encoded);
    assert.equal(
      otpauthUri(SECRET, 'ann&b', 'Atrium (a.example)'),
      'otpauth://totp/Atrium%20(a.example):ann%26b?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Atrium%20%28a.example%29&digits=6&period=30',
    );
  });
});
