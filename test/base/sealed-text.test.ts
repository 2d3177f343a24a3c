import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSealedTexts } from '../../src/base/sealed-text.ts';

const texts = createSealedTexts(Buffer.alloc(32, 'a key'));
const now = new Date('2026-01-01T00:00:00Z');
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);

describe('Sealed texts', () => {
  it('A text can be read until its time has come, and says nothing to others', () => {
    const text = texts.make('a secret of the browser', later(600));
    assert.equal(texts.read(text, later(599)), 'a secret of the browser');
    assert.equal(texts.read(text, later(600)), undefined);
    assert.ok(!Buffer.from(text, 'base64url').toString('latin1').includes('secret'));
    assert.match(text, /^[\w-]+$/);
  });

  it('Two texts of the same content differ', () => {
    assert.notEqual(texts.make('x', later(1)), texts.make('x', later(1)));
  });

  it('A text that was changed, cut, or made with another key cannot be read', () => {
    const text = texts.make('x', later(600));
    const bytes = Buffer.from(text, 'base64url');
    for (let place = 0; place < bytes.length; place++) {
      const changed = Buffer.from(bytes);
      changed[place] = (changed[place] ?? 0) ^ 1;
      assert.equal(texts.read(changed.toString('base64url'), now), undefined);
      assert.equal(texts.read(bytes.subarray(0, place).toString('base64url'), now), undefined);
    }
    const other = createSealedTexts(Buffer.alloc(32, 'another'));
    assert.equal(other.read(text, now), undefined);
    for (const odd of ['', '!', 'x'.repeat(10_000)]) assert.equal(texts.read(odd, now), undefined);
  });
});
