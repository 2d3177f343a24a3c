import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { timestamp } from '../../src/http/schemas.ts';

it('a moment is written in whole seconds of UTC, as the language itself would', () => {
  const range = {
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  };
  fc.assert(
    fc.property(fc.date(range), (moment) => {
      assert.equal(timestamp(moment), `${moment.toISOString().slice(0, 19)}Z`);
    }),
    { numRuns: 20_000 },
  );
});

it('a moment that never was is the beginning of Unix time, and one that is none is a fault', () => {
  assert.equal(timestamp(null), '1970-01-01T00:00:00Z');
  assert.equal(timestamp(new Date(-1)), '1969-12-31T23:59:59Z');
  assert.throws(() => timestamp(new Date(Number.NaN)), RangeError);
});
