import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createAttesting } from '../../src/audit/verification/attestations.ts';
import { createYielder, oversee } from '../../src/base/scheduling/slices.ts';

const ENTRIES = 40;
const SIGNING_MS = 1;

it('Signing the erased entries of a long export does not use up the budget of the request, which would cut it off', async () => {
  const entries = Array.from({ length: ENTRIES }, (_, at) => ({
    id: BigInt(at),
    hash: Buffer.from([at]),
    isErased: true,
  }));
  const attestedIn = async () => new Map(entries.map(({ id, hash }) => [id, hash]));
  const sign = () => {
    const until = performance.now() + SIGNING_MS;
    while (performance.now() < until);
    return { key: 'k', signature: 's' };
  };
  const attesting = createAttesting(1n, attestedIn, () => Buffer.alloc(0), sign as never);
  const overBudget = () => {
    throw new Error('over the budget');
  };
  const shown = await oversee(overBudget, () => attesting(entries));
  assert.equal(shown.filter(({ attested }) => attested !== undefined).length, ENTRIES);

  // The same work of the request itself is over its budget.
  await assert.rejects(
    oversee(overBudget, async () => {
      const yieldIfDue = createYielder();
      for (let place = 0; place < ENTRIES; place++) {
        sign();
        await yieldIfDue();
      }
    }),
    /over the budget/,
  );
});
