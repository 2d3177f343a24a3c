import assert from 'node:assert/strict';
import { it } from 'node:test';
import { timestamp } from '../../src/http/wire/schemas.ts';
import { fc } from '../support/checks/properties.ts';

it('A timestamp is written in UTC with whole seconds, like toISOString without milliseconds', () => {
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

it('A null timestamp is written as the Unix epoch and an invalid date is an error', () => {
  assert.equal(timestamp(null), '1970-01-01T00:00:00Z');
  assert.equal(timestamp(new Date(-1)), '1969-12-31T23:59:59Z');
  assert.throws(() => timestamp(new Date(Number.NaN)), RangeError);
});
