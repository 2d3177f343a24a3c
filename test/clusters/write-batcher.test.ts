import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createWriteBatcher } from '../../src/clusters/write-batcher.ts';

interface Item {
  readonly id: bigint;
  readonly said: number;
}

describe('Batched writes', () => {
  it('Concurrent writes are batched, at most one per key, in order', async () => {
    const batches: number[][] = [];
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const write = createWriteBatcher<Item>(async (items) => {
      batches.push(items.map(({ said }) => said));
      if (batches.length === 1) await held;
      return new Set(items.filter(({ said }) => said !== 3).map(({ id }) => id));
    });
    const first = [write({ id: 1n, said: 1 }), write({ id: 2n, said: 2 })];
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    const then = [write({ id: 3n, said: 3 }), write({ id: 1n, said: 4 }), write({ id: 1n, said: 5 })];
    release();
    assert.deepEqual(await Promise.all([...first, ...then]), [true, true, false, true, true]);
    assert.deepEqual(batches, [[1, 2], [3, 4], [5]]);
    assert.equal(await write({ id: 1n, said: 6 }), true);
  });

  it('A failed batch rejects all of its writes, and later writes succeed', async () => {
    let isDown = true;
    const write = createWriteBatcher<Item>(async (items) => {
      if (isDown) throw new Error('down');
      return new Set(items.map(({ id }) => id));
    });
    const both = await Promise.allSettled([write({ id: 1n, said: 1 }), write({ id: 2n, said: 2 })]);
    assert.deepEqual(
      both.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    isDown = false;
    assert.equal(await write({ id: 1n, said: 3 }), true);
  });
});
