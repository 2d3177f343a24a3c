import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSessionUsage } from '../../src/identity/sessions/session-usage.ts';
import { createTokenUsage } from '../../src/identity/tokens/token-usage.ts';

const MINUTE_MS = 60_000;
const at = (minute: number) => new Date(minute * MINUTE_MS);

/** Writes fail while `isDown`; what was written is kept as `ID minute`. */
function createStore() {
  const store = { isDown: false, writes: [] as string[][], everyMs: 0, write };
  return store;

  async function write(uses: readonly { tokenId?: bigint; sessionId?: bigint; at: Date }[], everyMs = 0) {
    // As a database does it, after a moment.
    await Promise.resolve();
    if (store.isDown) throw new Error('the database is gone');
    store.everyMs = everyMs;
    store.writes.push(uses.map((use) => `${use.tokenId ?? use.sessionId} ${use.at.getTime() / MINUTE_MS}`));
  }
}

for (const [kind, create] of [
  ['tokens', createTokenUsage],
  ['sessions', createSessionUsage],
] as const) {
  describe(`When ${kind} were used`, () => {
    it(`Uses of ${kind} are written together, the last of each, and nothing is written twice`, async () => {
      const store = createStore();
      const usage = create(store);
      await usage.flush();
      assert.deepEqual(store.writes, []);
      usage.note(1n, at(1));
      usage.note(2n, at(2));
      usage.note(1n, at(3));
      await usage.flush();
      await usage.flush();
      assert.deepEqual(store.writes, [['1 3', '2 2']]);
    });

    it(`Uses of ${kind} that could not be written are written later, unless there are newer ones`, async () => {
      const store = createStore();
      const usage = create(store);
      store.isDown = true;
      usage.note(1n, at(1));
      usage.note(2n, at(1));
      const failing = usage.flush();
      usage.note(1n, at(2));
      await assert.rejects(failing, /the database is gone/);
      store.isDown = false;
      await usage.flush();
      assert.deepEqual(store.writes, [['1 2', '2 1']]);
    });
  });
}

describe('How often sessions are written', () => {
  it('A session is written at most once in five minutes', async () => {
    const store = createStore();
    const usage = createSessionUsage(store);
    usage.note(1n, at(1));
    await usage.flush();
    assert.equal(store.everyMs, 5 * MINUTE_MS);
  });
});
