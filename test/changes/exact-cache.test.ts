import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createExactCache, type Loaded } from '../../src/changes/exact-cache.ts';
import { createRevisions, type RevisionStore } from '../../src/changes/revision.ts';
import type { Change } from '../../src/changes/write.ts';
import { fc } from '../support/checks/properties.ts';

/** There is one history only. */
const STAMP = 'only';

/**
 * A tiny database with a history: one value per account, and every write is a revision. `wait` decides when an answer
 * arrives.
 */
function tinyDatabase(wait: (what: string) => Promise<void> = async () => undefined) {
  const values = new Map<string, number>([['1', 0]]);
  const changes: (Change & { revision: bigint })[] = [];
  let revision = 1n;
  let loads = 0;

  const store: RevisionStore = {
    onlyWriter: false,
    async news(since) {
      const news = {
        ...{ revision, stamp: STAMP, continues: true },
        changes: changes.filter((change) => since && change.revision > since.revision),
      };
      await wait('news');
      return news;
    },
    write: async () => assert.fail('the other process writes'),
    renewExpiry: async () => undefined,
    prune: async () => undefined,
  };
  const load = async (key: string): Promise<Loaded<{ id: bigint; value: number }>> => {
    loads++;
    const value = values.get(key);
    const loaded = { revision, stamp: STAMP, value: value === undefined ? undefined : { id: BigInt(key), value } };
    await wait(`load ${key}`);
    return loaded;
  };
  const write = (key: string, value: number | undefined) => {
    revision++;
    changes.push({ kind: 'account', id: BigInt(key), revision });
    if (value === undefined) values.delete(key);
    else values.set(key, value);
  };
  const revisions = createRevisions(store);
  const cache = createExactCache({ revisions, load, dependsOn: ({ id }) => [id], max: 3 });
  // Like every request: first the revision, then the cache.
  const get = async (key: string) => {
    await revisions.current();
    return (await cache.get(key))?.value;
  };
  return { revisions, get, write, loads: () => loads };
}

describe('Exact cache', () => {
  it('A cached value is reloaded only after a change to its own account', async () => {
    const { get, write, loads } = tinyDatabase();
    write('2', 20);
    for (let time = 0; time < 5; time++) assert.equal(await get('1'), 0);
    assert.equal(loads(), 1);
    write('2', 21);
    assert.equal(await get('1'), 0);
    assert.equal(loads(), 1);
    write('1', 7);
    assert.equal(await get('1'), 7);
    assert.equal(loads(), 2);
  });

  it('The absence of a value is not cached', async () => {
    const { get, write, loads } = tinyDatabase();
    assert.equal(await get('9'), undefined);
    write('9', 1);
    assert.equal(await get('9'), 1);
    write('9', undefined);
    assert.equal(await get('9'), undefined);
    assert.equal(loads(), 3);
  });

  it('Concurrent requests for a value share one load', async () => {
    const { get, loads } = tinyDatabase();
    assert.deepEqual(await Promise.all(Array.from({ length: 50 }, () => get('1'))), Array(50).fill(0));
    assert.equal(loads(), 1);
  });

  it('The cache evicts the oldest value when it is full', async () => {
    const { get, write, loads } = tinyDatabase();
    for (const key of ['2', '3', '4']) write(key, Number(key));
    for (const key of ['1', '2', '3', '4']) await get(key);
    assert.equal(loads(), 4);
    await get('4');
    assert.equal(loads(), 4);
    await get('1');
    assert.equal(loads(), 5);
  });

  it('A loaded value is not cached when a change overtakes the load', async () => {
    const held: (() => void)[] = [];
    let holding = false;
    const { get, write, revisions, loads } = tinyDatabase((what) =>
      holding && what.startsWith('load') ? new Promise((resolve) => held.push(resolve)) : Promise.resolve(),
    );
    holding = true;
    const early = get('1');
    while (held.length === 0) await turn();
    write('1', 1);
    // Another request makes the revisions announce the change while the old load is still in progress.
    await revisions.current();
    const late = get('1');
    holding = false;
    held[0]?.();
    assert.equal(await early, 0, 'owed no more than the moment it asked');
    assert.equal(await late, 1, 'owed the change');
    assert.equal(await get('1'), 1);
    assert.equal(loads(), 2);
  });

  it('A cached value is never older than the request, in whatever order answers arrive', async () => {
    const step = fc.record({ key: fc.constantFrom('1', '2'), write: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(step, { minLength: 1, maxLength: 12 }), async (scheduler, steps) => {
        const { get, write } = tinyDatabase((what) => scheduler.schedule(Promise.resolve(), what));
        const latest = new Map([['1', 0]]);
        let counter = 0;
        const reads: Promise<void>[] = [];
        for (const { key, write: isWrite } of steps) {
          if (isWrite) {
            counter++;
            write(key, counter);
            latest.set(key, counter);
          } else {
            // Values only grow, so "not older" means "not smaller"; undefined is older than all.
            const owed = latest.get(key) ?? -1;
            reads.push(get(key).then((value) => assert.ok((value ?? -1) >= owed, `${value} is older than ${owed}`)));
          }
          await turn();
          if (scheduler.count() > 0 && counter % 2 === 0) await scheduler.waitOne();
        }
        await scheduler.waitFor(Promise.all(reads));
      }),
      { numRuns: 150 },
    );
  });
});
