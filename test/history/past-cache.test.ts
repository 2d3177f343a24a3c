import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPastCache } from '../../src/history/past-cache.ts';

const HOUR_MS = 3_600_000;

describe('The cache of past moments', () => {
  const graphOf = (bytes: number) => ({ graph: { bytes } });
  function open(maxBytes: number) {
    const clock = { now: 10 * HOUR_MS };
    const cache = createPastCache<{ graph: { bytes: number } }>(maxBytes, () => clock.now);
    const loaded: number[] = [];
    const ask = (hour: number, bytes = 10) =>
      cache.get(1n, new Date(hour * HOUR_MS), async () => {
        loaded.push(hour);
        return graphOf(bytes);
      });
    return { clock, cache, loaded, ask };
  }

  it('A moment is built once for those who ask within a minute, also at the same time', async () => {
    const { ask, loaded, clock, cache } = open(100);
    await Promise.all([ask(1), ask(1), ask(1)]);
    await ask(1);
    assert.deepEqual([loaded, cache.bytes()], [[1], 10]);
    clock.now += 60_001;
    await ask(1);
    assert.deepEqual([loaded, cache.bytes()], [[1, 1], 10]);
  });

  it('A moment of the last minute is built for every question, because an entry may still be on its way', async () => {
    const { ask, loaded } = open(100);
    await ask(10);
    await ask(10);
    assert.deepEqual(loaded, [10, 10]);
  });

  it('The oldest graphs give way when the memory is full, and one that is too large is not kept', async () => {
    const { ask, loaded, cache } = open(25);
    for (const hour of [1, 2, 3]) await ask(hour);
    assert.equal(cache.bytes(), 20);
    await ask(3);
    await ask(1);
    await ask(4, 30);
    await ask(4, 30);
    assert.deepEqual(loaded, [1, 2, 3, 1, 4, 4]);
    assert.ok(cache.bytes() <= 25);
  });

  it('At most two are built at once, and a failure makes room for the next', async () => {
    const { cache } = open(100);
    let running = 0;
    let most = 0;
    const slow = (hour: number) =>
      cache.get(1n, new Date(hour * HOUR_MS), async () => {
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        running--;
        if (hour % 2 === 0) throw new Error('it failed');
        return graphOf(1);
      });
    const outcomes = await Promise.allSettled([1, 2, 3, 4, 5, 6].map(slow));
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled', 'rejected'],
    );
    assert.equal(most, 2);
    await slow(1);
  });
});
