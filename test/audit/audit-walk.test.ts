import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AuditStore, type ChainLink, createAudit } from '../../src/audit/audit.ts';

const zeros = Buffer.alloc(32);
const batch = (from: number, length: number): ChainLink[] =>
  Array.from({ length }, (_, at) => ({ id: BigInt(from + at), previousHash: zeros, hash: zeros, expected: zeros }));

/** A chain of three and a half batches, which the test hands out one batch at a time. */
function openChain() {
  const asked: (() => void)[] = [];
  const chain: AuditStore['chain'] = (_organization, after, limit) =>
    new Promise((resolve) => {
      const from = Number(after) + 1;
      asked.push(() => resolve(batch(from, Math.min(limit, 3500 - Number(after)))));
    });
  const answer = async () => {
    for (const one of asked.splice(0)) one();
    await new Promise(setImmediate);
  };
  const audit = createAudit(
    { chain, list: async () => ({ rows: [] }), accountNamed: async () => undefined, countActions: async () => [] },
    async () => undefined,
  );
  return { audit, asked, answer };
}

describe('Audit log verification', () => {
  it('Concurrent verifications share one walk over the audit log per organization', async () => {
    const { audit, asked, answer } = openChain();
    const verdicts = [audit.verify(1n, () => true), audit.verify(2n, () => true)];
    await answer();
    for (let time = 0; time < 5; time++) verdicts.push(audit.verify(1n, () => true));
    assert.equal(asked.length, 2, 'one question for each organization');
    for (let time = 0; time < 4; time++) await answer();
    for (const verdict of await Promise.all(verdicts)) assert.deepEqual(verdict, { rows: 3500, firstBrokenId: null });
    void audit.verify(1n, () => true);
    assert.equal(asked.length, 1, 'the next one walks anew');
    await answer();
  });

  it('A walk over the audit log continues while any caller waits and stops when none does', async () => {
    const { audit, asked, answer } = openChain();
    const left = audit.verify(1n, () => false);
    const stayed = audit.verify(1n, () => true);
    for (let time = 0; time < 4; time++) await answer();
    assert.equal((await stayed).rows, 3500);
    assert.equal((await left).rows, 3500);

    const given = audit.verify(1n, () => false);
    await answer();
    assert.equal((await given).rows, 1000);
    assert.equal(asked.length, 0);
    const next = audit.verify(1n, () => true);
    for (let time = 0; time < 4; time++) await answer();
    assert.equal((await next).rows, 3500, 'nobody is told what a walk that was given up found');
  });
});
