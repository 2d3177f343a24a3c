import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as breath } from 'node:timers/promises';
import { AppError } from '../../src/base/errors.ts';
import { createTurns } from '../../src/base/scheduling/turns.ts';

/** Work that ends when the test says so. */
function workshop(limits = { concurrency: 3, perCaller: 2, waiting: 4 }) {
  const turns = createTurns(limits);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (caller: string, name: string) =>
    turns(caller, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => void ends.push(resolve));
      return name;
    });
  const endFirst = async () => {
    ends.shift()?.();
    for (let turn = 0; turn < 5; turn++) await breath();
  };
  return { turns, begun, ask, endFirst };
}

describe('Turns', () => {
  it('One caller never has more than its share under way, so another caller begins immediately', async () => {
    const { begun, ask, endFirst } = workshop();
    const all = ['a1', 'a2', 'a3', 'a4'].map((name) => ask('ann', name));
    all.push(ask('bob', 'b1'));
    assert.deepEqual(begun, ['a1', 'a2', 'b1']);
    for (const _ of all) await endFirst();
    assert.deepEqual(await Promise.all(all), ['a1', 'a2', 'a3', 'a4', 'b1']);
  });

  it('Callers who wait take turns, however much one of them has asked for before', async () => {
    const { begun, ask, endFirst } = workshop({ concurrency: 1, perCaller: 1, waiting: 4 });
    const all = [ask('eve', 'e1'), ...['a1', 'a2', 'a3'].map((name) => ask('ann', name)), ask('bob', 'b1')];
    for (const _ of all) await endFirst();
    await Promise.all(all);
    assert.deepEqual(begun, ['e1', 'a1', 'b1', 'a2', 'a3']);
  });

  it('A caller with too much waiting is rejected, and others are not', async () => {
    const { ask, endFirst } = workshop();
    const all = Array.from({ length: 6 }, (_, number) => ask('ann', `a${number}`));
    const isLimited = (error: unknown) => error instanceof AppError && error.kind === 'limited';
    await assert.rejects(ask('ann', 'too much'), isLimited);
    all.push(ask('bob', 'b1'));
    for (const _ of all) await endFirst();
    assert.equal((await Promise.all(all)).length, 7);
  });

  it('Work that fails gives its turn back', async () => {
    const { turns } = workshop({ concurrency: 1, perCaller: 1, waiting: 1 });
    const fail = async () => Promise.reject(new Error('broken'));
    await assert.rejects(turns('ann', fail), /broken/);
    await assert.rejects(turns('ann', fail), /broken/);
    assert.equal(await turns('bob', async () => 'done'), 'done');
  });
});
