import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { headOf, keyIdOf, newSecret, openWith, sealWith, secretOf } from '../../src/vault/sealing.ts';

const KEY = secretOf(Buffer.alloc(32, 'key'));
/** As an earlier release wrote it: version, key ID, nonce, ciphertext, tag. */
const STORED = Buffer.from(
  '010000000000000102985bfdb5d265bba5873ac704d0b1108810603eae6737df427bd222ecda0c32eea2',
  'hex',
);
const OVERHEAD = 1 + 8 + 12 + 16;

describe('Sealed values', () => {
  it('A value that an earlier release sealed can still be opened, and names its key', () => {
    assert.equal(openWith(KEY, 'a row', STORED).toString(), 'hello');
    assert.equal(keyIdOf(STORED), 258n);
  });

  it('A sealed value is as long as its content, its version, its key ID, its nonce and its tag', () => {
    for (const content of ['', 'x', 'hello']) {
      const sealed = sealWith(KEY, -1n, 'a row', Buffer.from(content));
      assert.equal(sealed.length, content.length + OVERHEAD);
      assert.equal(sealed[0], 1);
      assert.equal(keyIdOf(sealed), -1n);
      assert.equal(openWith(KEY, 'a row', sealed).toString(), content);
    }
  });

  it('The head of a sealed value holds its key ID and the whole nonce, and no content', () => {
    const [one, other] = ['hello', 'hello'].map((content) => sealWith(KEY, 7n, 'a row', Buffer.from(content)));
    assert.ok(one && other);
    assert.deepEqual(headOf(one), one.subarray(0, 1 + 8 + 12));
    assert.ok(!headOf(one).equals(headOf(other)));
  });

  it('Bytes that are too short or of another version are rejected before any key is used', () => {
    const shortest = sealWith(KEY, 7n, 'a row', Buffer.alloc(0));
    assert.equal(keyIdOf(shortest), 7n);
    assert.throws(() => keyIdOf(shortest.subarray(0, -1)), /not a sealed value/);
    assert.throws(() => keyIdOf(Buffer.alloc(0)), /not a sealed value/);
    const newer = Buffer.from(STORED);
    newer[0] = 2;
    assert.throws(() => keyIdOf(newer), /not a sealed value/);
    assert.throws(() => openWith(KEY, 'a row', newer), /not a sealed value/);
  });

  it('Another key, another row and every flipped bit behind the key ID are noticed', () => {
    assert.throws(() => openWith(newSecret(), 'a row', STORED));
    assert.throws(() => openWith(KEY, 'b row', STORED));
    for (let at = 1 + 8; at < STORED.length; at++) {
      const flipped = Buffer.from(STORED);
      flipped[at] = (flipped[at] ?? 0) ^ 1;
      assert.throws(() => openWith(KEY, 'a row', flipped), `byte ${at}`);
    }
  });

  it('Every new key has 256 random bits', () => {
    const [one, other] = [newSecret(), newSecret()];
    assert.equal(one.symmetricKeySize, 32);
    assert.ok(!one.equals(other));
  });
});
