import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AskedQuestion } from '../../../src/authzen/evaluation.ts';
import { createSignedDenials } from '../../../src/authzen/signed-denials.ts';
import { createSignedTexts } from '../../../src/base/signed-text.ts';

const question: AskedQuestion = {
  subject: { id: 7n, name: 'cat' },
  relation: 'can_edit',
  object: { type: 'cluster', id: 3n },
};

describe('Signed denials', () => {
  const texts = createSignedTexts(Buffer.alloc(32, 1));
  const start = Date.UTC(2026, 10, 19, 12, 0, 0, 250);

  it('a denial that is repeated within a second is signed once, and each different one is another text', () => {
    let made = 0;
    const make = (content: string, expiresAt: Date) => {
      made += 1;
      return texts.make(content, expiresAt);
    };
    const denials = createSignedDenials({ ...texts, make });
    const first = denials.make(1n, question, new Date(start));
    const again = denials.make(1n, question, new Date(start + 500));
    assert.deepEqual(again, first);
    assert.equal(made, 1);
    const others = [
      denials.make(2n, question, new Date(start)),
      denials.make(1n, { ...question, relation: 'can_view' }, new Date(start)),
      denials.make(1n, { ...question, object: { type: 'cluster', id: 3n, namespace: 'shop' } }, new Date(start)),
      denials.make(1n, question, new Date(start + 1000)),
    ];
    assert.equal(new Set([first, ...others].map(({ id }) => id)).size, 5);
  });

  it('a denial ends with a whole second, at most ten minutes later', () => {
    const denials = createSignedDenials(texts);
    const { id, expiresAt } = denials.make(1n, question, new Date(start));
    assert.equal(expiresAt.toISOString(), '2026-11-19T12:10:00.000Z');
    const read = (ms: number) => denials.read(id, new Date(ms))?.hasEnded;
    assert.equal(read(expiresAt.getTime() - 1), false);
    assert.equal(read(expiresAt.getTime()), true);
    assert.equal(read(expiresAt.getTime() + 86_400_000), undefined);
    assert.deepEqual(denials.read(id, new Date(start))?.subjectId, 7n);
  });
});
