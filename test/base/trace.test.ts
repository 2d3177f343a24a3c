import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { beginContext, readTraceparent, traced, writeTraceparent } from '../../src/base/tracing/trace.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('The header traceparent', () => {
  for (const [what, header, isSampled] of [
    ['a sampled trace', `00-${TRACE}-${SPAN}-01`, true],
    ['a trace that is not sampled', `00-${TRACE}-${SPAN}-00`, false],
    ['flags that are not known yet', `00-${TRACE}-${SPAN}-ff`, true],
    ['a later version with more fields', `01-${TRACE}-${SPAN}-00-more`, false],
  ] as const) {
    it(`traceparent is read from ${what}`, () => {
      assert.deepEqual(readTraceparent(header), { traceId: TRACE, spanId: SPAN, isSampled });
    });
  }

  for (const [what, header] of [
    ['is missing', undefined],
    ['is repeated', [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`]],
    ['is empty', ''],
    ['has upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['has the forbidden version', `ff-${TRACE}-${SPAN}-01`],
    ['has more fields than its version', `00-${TRACE}-${SPAN}-01-more`],
    ['has a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['has a parent of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['is too short', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['is followed by another line', `00-${TRACE}-${SPAN}-01\nx`],
  ] as const) {
    it(`A traceparent that ${what} starts a new trace`, () => assert.equal(readTraceparent(header), undefined));
  }

  it('The context of a request keeps the trace and the decision of its caller, whatever the ratio is', () => {
    for (const isSampled of [true, false]) {
      const own = beginContext({ traceId: TRACE, spanId: SPAN, isSampled }, isSampled ? 0 : 1);
      assert.deepEqual([own.traceId, own.isSampled], [TRACE, isSampled]);
      assert.notEqual(own.spanId, SPAN);
      assert.deepEqual(readTraceparent(writeTraceparent(own)), own);
    }
  });

  it('Without a caller the ratio decides, by the ID of the trace', () => {
    const share = (ratio: number) =>
      Array.from({ length: 4000 }, () => beginContext(undefined, ratio)).filter((one) => one.isSampled).length / 4000;
    assert.equal(share(0), 0);
    assert.equal(share(1), 1);
    // Ten standard deviations from the mean: it will not fail in the life of this project.
    assert.ok(Math.abs(share(0.25) - 0.25) < 0.07);
  });

  it('Work outside of a trace runs as it is, without headers', async () => {
    assert.deepEqual(await traced('work', {}, async (headers) => headers), {});
  });
});
