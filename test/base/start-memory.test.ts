import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { collectStartGarbage } from '../../src/base/start-memory.ts';

describe('The memory of a start', () => {
  it('what nothing refers to any more is collected, and everything else stays', async () => {
    const kept = { text: 'kept' };
    const refs = [new WeakRef({ text: 'garbage' }), new WeakRef(kept)];
    // A reference is strong until the turn that made it is over.
    await new Promise((resolve) => setImmediate(resolve));
    collectStartGarbage();
    assert.deepEqual(
      refs.map((ref) => ref.deref()?.text),
      [undefined, kept.text],
    );
  });

  it('each thread collects its own', async () => {
    const module = new URL('../../src/base/start-memory.ts', import.meta.url).href;
    const code = `
      const { parentPort } = require('node:worker_threads');
      import(${JSON.stringify(module)}).then(async ({ collectStartGarbage }) => {
        const ref = new WeakRef({});
        await new Promise((resolve) => setImmediate(resolve));
        collectStartGarbage();
        parentPort.postMessage(ref.deref() === undefined);
      });`;
    const thread = new Worker(code, { eval: true });
    assert.deepEqual(await once(thread, 'message'), [true]);
  });
});
