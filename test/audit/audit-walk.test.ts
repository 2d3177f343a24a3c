import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSegmentSigner } from '../../src/audit/archive/segment.ts';
import { createCheckpointSigner, type SignedCheckpoint } from '../../src/audit/verification/checkpoint.ts';
import {
  CHECKPOINT_EVERY,
  type ChainLink,
  createVerification,
  type VerificationStore,
} from '../../src/audit/verification/verification.ts';

const LENGTH = 9_100;
const BATCH = 250;
const hashOf = (id: number) => {
  const hash = Buffer.alloc(32);
  hash.writeUInt32BE(id);
  return hash;
};
const linkOf = (id: number): ChainLink => ({
  ...{ id: BigInt(id), previousHash: hashOf(id - 1) },
  ...{ hash: hashOf(id), expected: hashOf(id), isErased: false },
});

/** A chain that the test hands out one batch at a time, or all by itself. */
function openChain({ byHand = false, length = LENGTH } = {}) {
  const asked: (() => void)[] = [];
  const kept: SignedCheckpoint[] = [];
  const broken: bigint[] = [];
  let read = 0;
  const store: VerificationStore = {
    segments: async () => [],
    erased: async () => 0,
    attested: async () => new Map(),
    chain: (_chain, after, limit) =>
      new Promise((resolve) => {
        const from = Number(after) + 1;
        const count = Math.max(0, Math.min(limit, length - Number(after)));
        const links = Array.from({ length: count }, (_, at) => linkOf(from + at));
        read += count;
        if (byHand) asked.push(() => resolve(links));
        else setImmediate(() => resolve(links));
      }),
    checkpoints: async (_chain, after, limit) => kept.filter(({ lastId }) => lastId > after).slice(0, limit),
    lastCheckpoint: async () => kept.at(-1),
    keep: async (checkpoint) => {
      if (!kept.some(({ lastId }) => lastId === checkpoint.lastId)) kept.push(checkpoint);
    },
    grown: async () => [1n],
  };
  const answer = async () => {
    for (const one of asked.splice(0)) one();
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  };
  const signer = createCheckpointSigner(Buffer.alloc(32, 7));
  const verification = createVerification({
    store,
    signer,
    segmentSigner: createSegmentSigner(Buffer.alloc(32, 8)),
    onBroken: (_chain, { firstBrokenId }) => broken.push(firstBrokenId ?? 0n),
  });
  const rowsOf = () => {
    const before = read;
    read = 0;
    return before;
  };
  return { verification, signer, asked, answer, kept, broken, rowsOf };
}

describe('Audit log verification', () => {
  it('Concurrent verifications share one walk over the audit log per organization', async () => {
    const { verification, asked, answer } = openChain({ byHand: true, length: 700 });
    const verify = (chain: bigint) => verification.verify(chain, 'beginning', () => true).verdict;
    const verdicts = [verify(1n), verify(2n)];
    await answer();
    for (let time = 0; time < 5; time++) verdicts.push(verify(1n));
    assert.equal(asked.length, 2, 'one question for each organization');
    for (let time = 0; time < 4; time++) await answer();
    for (const { rows, firstBrokenId } of await Promise.all(verdicts))
      assert.deepEqual([rows, firstBrokenId], [700, null]);
    void verify(1n);
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
    assert.equal(asked.length, 1, 'the next one walks anew');
    for (let time = 0; time < 4; time++) await answer();
  });

  it('A walk over the audit log continues while any caller waits and stops when none does', async () => {
    const { verification, asked, answer } = openChain({ byHand: true, length: 700 });
    const verify = (wants: boolean) => verification.verify(1n, 'beginning', () => wants).verdict;
    const both = [verify(false), verify(true)];
    for (let time = 0; time < 4; time++) await answer();
    for (const { rows } of await Promise.all(both)) assert.equal(rows, 700);

    const given = verify(false);
    for (let time = 0; time < 2; time++) await answer();
    assert.equal((await given).rows, BATCH);
    assert.equal(asked.length, 0);
    const next = verify(true);
    for (let time = 0; time < 5; time++) await answer();
    assert.equal((await next).rows, 700, 'nobody is told what a walk that was given up found');
  });

  it('A verification seals what it read, and the next one reads what came after', async () => {
    const { verification, kept, rowsOf } = openChain();
    const verify = (from: 'checkpoint' | 'beginning') => verification.verify(1n, from, () => true).verdict;
    assert.equal((await verify('checkpoint')).checkpoint, undefined);
    assert.equal(rowsOf(), LENGTH);
    assert.deepEqual(
      kept.map(({ entries }) => entries),
      [1, 2, 3, 4].map((time) => time * CHECKPOINT_EVERY),
    );
    const { rows, checkpoint } = await verify('checkpoint');
    assert.deepEqual([rows, checkpoint?.entries], [LENGTH, 4 * CHECKPOINT_EVERY]);
    assert.ok(rowsOf() <= CHECKPOINT_EVERY + 1);
    assert.equal((await verify('beginning')).checkpoint, undefined);
    assert.equal(rowsOf(), LENGTH);
    assert.equal(kept.length, 4);
  });

  it('A verification that was interrupted goes on where it was, and finds what the whole one would', async () => {
    const { verification, kept, signer } = openChain();
    let batches = 0;
    const walk = verification.verify(1n, 'beginning', () => ++batches < 5);
    await walk.verdict;
    const place = walk.progress();
    assert.ok(place && place.rows === 4 * BATCH, `${place?.rows} entries`);
    const rest = await verification.verify(1n, place, () => true).verdict;
    assert.deepEqual([rest.rows, rest.firstBrokenId], [LENGTH, null]);
    const { signature: _signature, ...one } = kept[0] ?? assert.fail();
    kept[0] = signer.sign({ ...one, hash: hashOf(1) });
    const { firstBrokenId, problem } = await verification.verify(1n, place, () => true).verdict;
    assert.deepEqual([firstBrokenId, problem], [one.lastId, 'checkpoint_contradicted']);
  });

  it('The upkeep seals a chain part by part, and reports one that is broken', async () => {
    const { verification, kept, signer, broken, rowsOf } = openChain({ length: 50_000 });
    await verification.advance();
    const first = rowsOf();
    assert.ok(first > CHECKPOINT_EVERY && first < 30_000, `${first} entries in one round`);
    for (let round = 0; round < 3; round++) await verification.advance();
    assert.equal(kept.at(-1)?.entries, 50_000 - (50_000 % CHECKPOINT_EVERY));
    assert.deepEqual(broken, []);
    const last = kept.at(-1) ?? assert.fail();
    kept.push(signer.sign({ ...last, lastId: 60_000n }));
    for (let round = 0; round < 4 && broken.length === 0; round++) await verification.advance();
    // A part of a round is not the end of the chain, so it says nothing about checkpoints beyond it.
    assert.deepEqual(broken, []);
    const { problem } = await verification.verify(1n, 'checkpoint', () => true).verdict;
    assert.equal(problem, 'checkpoint_contradicted');
  });
});
