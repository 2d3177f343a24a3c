import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inBatches } from '../../src/base/scheduling/batches.ts';

describe('Calls in batches', () => {
  it('Calls of one turn are one batch, and each gets its own result', async () => {
    const { batches, run } = recorder();
    const call = inBatches(run);
    assert.deepEqual(await Promise.all([1, 2, 3].map(call)), [10, 20, 30]);
    assert.deepEqual(batches, [[1, 2, 3]]);
  });

  it('What arrives while a batch runs shares the next one, in parts that are not too large', async () => {
    const { batches, run, release } = recorder({ isHeld: true });
    const call = inBatches(run, { maxSize: 2, concurrency: 1 });
    const first = call(1);
    await turn();
    const rest = [2, 3, 4].map(call);
    await turn();
    assert.deepEqual(batches, [[1]]);
    release();
    assert.deepEqual(await Promise.all([first, ...rest]), [10, 20, 30, 40]);
    assert.deepEqual(batches, [[1], [2, 3], [4]]);
  });

  it('A batch that waits long lets the next one begin, but only so many', async ({ mock }) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { batches, run, release } = recorder({ isHeld: true });
    const call = inBatches(run, { concurrency: 1, slow: { afterMs: 100, concurrency: 1 } });
    const calls: Promise<number>[] = [];
    for (const input of [1, 2, 3]) {
      calls.push(call(input));
      await turn();
      mock.timers.tick(100);
    }
    await turn();
    assert.deepEqual(batches, [[1], [2]]);
    release();
    assert.deepEqual(await Promise.all(calls), [10, 20, 30]);
  });

  it('A batch that fails rejects its own calls only', async () => {
    const call = inBatches(
      async (inputs: readonly number[]) => {
        if (inputs.includes(2)) throw new Error('no twos');
        return inputs;
      },
      { maxSize: 1 },
    );
    const ends = await Promise.allSettled([1, 2, 3].map(call));
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
  });

  it('A batch that returns too little rejects its calls', async () => {
    const call = inBatches(async () => []);
    await assert.rejects(call(1), /1 inputs gave 0 outputs/);
  });
});

function recorder({ isHeld = false } = {}) {
  const batches: (readonly number[])[] = [];
  const held = Promise.withResolvers<void>();
  if (!isHeld) held.resolve();
  const run = async (inputs: readonly number[]) => {
    batches.push(inputs);
    await held.promise;
    return inputs.map((input) => input * 10);
  };
  return { batches, run, release: held.resolve };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
