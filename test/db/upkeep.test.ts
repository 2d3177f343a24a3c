import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { takeTurns } from '../../src/db/mutex.ts';
import type { Session } from '../../src/db/transaction.ts';
import { createUpkeep } from '../../src/db/upkeep.ts';
import { until } from '../support/until.ts';

describe('The upkeep of the built-in database', () => {
  it('Other requests are served between any two steps', async () => {
    let turn = 0;
    const counting = setInterval(() => undefined, 1000);
    const count = () => {
      turn++;
      if (turn < 10_000) next = setImmediate(count);
    };
    let next = setImmediate(count);
    const steps: { readonly text: string; readonly turn: number }[] = [];
    const session: Session = {
      query: async <Row extends object>() => [{ name: 'one' }, { name: 'other' }] as Row[],
      command: async (text) => {
        steps.push({ text, turn });
        return '';
      },
    };
    const upkeep = createUpkeep(session, takeTurns(1000), assert.fail);
    for (let segment = 0; segment < 16; segment++) upkeep.onSegment();
    await until(() => steps.length === 6);
    upkeep.stop();
    clearImmediate(next);
    clearInterval(counting);
    assert.deepEqual(
      steps.map(({ text }) => text),
      ['CHECKPOINT', 'select pg_stat_force_next_flush()', 'VACUUM one', 'ANALYZE one', 'VACUUM other', 'ANALYZE other'],
    );
    assert.equal(new Set(steps.map((step) => step.turn)).size, steps.length);
  });
});
