import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRemembered } from '../../src/changes/remembered.ts';

describe('What is remembered until anything changes', () => {
  it('is at hand without a promise once it is known, and no longer after a change', async () => {
    let revision = 1n;
    let calls = 0;
    const double = createRemembered(() => revision)(async (value: number) => {
      calls++;
      return value * 2;
    });
    assert.equal(double.now(2), undefined);
    const first = double(2);
    assert.equal(double.now(2), undefined);
    assert.equal(await first, 4);
    assert.deepEqual([await double(2), double.now(2), double.now(3), calls], [4, 4, undefined, 1]);
    revision = 2n;
    assert.equal(double.now(2), undefined);
    assert.deepEqual([await double(2), double.now(2), calls], [4, 4, 2]);
  });

  it('is not a failure, and a failure from before a change does not drop what was learned after it', async () => {
    let revision = 1n;
    const failures: ((error: Error) => void)[] = [];
    const ask = createRemembered(() => revision)(
      (_name: string): Promise<number> =>
        revision === 1n ? new Promise((_resolve, reject) => failures.push(reject)) : Promise.resolve(7),
    );
    const failing = ask('a');
    revision = 2n;
    assert.equal(await ask('a'), 7);
    failures[0]?.(new Error('lost'));
    await assert.rejects(failing, /lost/);
    assert.equal(ask.now('a'), 7);
  });
});
