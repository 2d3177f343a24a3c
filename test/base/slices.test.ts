import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { apart, createYielder, mapInSlices, oversee, threadMs } from '../../src/base/scheduling/slices.ts';

/** Keeps the thread busy for so many milliseconds of wall time. */
function spin(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** The same for processor time, which another process cannot use up. */
function work(ms: number): void {
  const end = threadMs() + ms;
  while (threadMs() < end);
}

/** How many turns the event loop takes until the work is done. */
async function turnsDuring(long: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let next = setImmediate(function again() {
    turns++;
    next = setImmediate(again);
  });
  await long();
  clearImmediate(next);
  return turns;
}

describe('Slices', () => {
  it('A slice ends by time, however few pieces were done in it', async () => {
    const yieldIfDue = createYielder();
    const turns = await turnsDuring(async () => {
      for (let piece = 0; piece < 10; piece++) {
        spin(11);
        await yieldIfDue();
      }
    });
    // The first piece begins the slice.
    assert.ok(turns >= 9, `${turns} turns`);
  });

  it('Short work never waits for others', async () => {
    const yieldIfDue = createYielder();
    for (let piece = 0; piece < 10; piece++) assert.equal(yieldIfDue(), undefined);
  });

  it('A list is mapped in its order', async () => {
    assert.deepEqual(await mapInSlices(['a', 'b'], (item, place) => `${item}${place}`), ['a0', 'b1']);
  });

  it('Each turn of the event loop runs one slice, however much work there is', async () => {
    const seen: string[] = [];
    let next = setImmediate(function again() {
      seen.push('turn');
      next = setImmediate(again);
    });
    const one = async (name: string) => {
      const yieldIfDue = createYielder();
      await yieldIfDue();
      for (let piece = 0; piece < 4; piece++) {
        spin(11);
        await yieldIfDue();
        seen.push(name);
      }
    };
    await Promise.all(['a', 'b', 'c', 'd'].map(one));
    clearImmediate(next);
    const slices = seen
      .join(' ')
      .split('turn')
      .map((part) => part.trim());
    for (const slice of slices) assert.ok(slice.split(' ').length <= 1, seen.join(' '));
  });

  it('The overseer of work hears of its processor time, also in what it calls, and can end it', async () => {
    const heard: number[] = [];
    const deep = async () => {
      const yieldIfDue = createYielder();
      for (;;) {
        work(15);
        await yieldIfDue();
      }
    };
    const ended = oversee((usedMs) => {
      heard.push(usedMs);
      if (usedMs > 100) throw new Error('too much');
    }, deep);
    await assert.rejects(ended, /too much/);
    assert.ok((heard.at(-1) ?? 0) < 200, `${heard}`);
  });

  it('What others do meanwhile does not count, nor does waiting', async () => {
    let used = 0;
    const busy = setInterval(() => work(20), 1);
    const watched = oversee(
      (usedMs) => {
        used = usedMs;
      },
      async () => {
        const yieldIfDue = createYielder();
        for (let piece = 0; piece < 10; piece++) {
          work(2);
          await yieldIfDue();
          await wait(5);
        }
        await yieldIfDue();
      },
    );
    await watched;
    clearInterval(busy);
    assert.ok(used < 60, `${used} ms`);
  });

  it('Work that others wait for is not ended by the overseer of whoever began it', async () => {
    const shared = async () => {
      const yieldIfDue = createYielder();
      for (let piece = 0; piece < 4; piece++) {
        spin(11);
        await yieldIfDue();
      }
      return 'done';
    };
    const never = () => {
      throw new Error('ended');
    };
    assert.equal(await oversee(never, () => apart(shared)), 'done');
    await assert.rejects(oversee(never, shared), /ended/);
  });
});
