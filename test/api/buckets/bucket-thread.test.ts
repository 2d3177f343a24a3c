import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createBucketLister } from '../../../src/buckets/bucket-list.client.ts';
import { CloudRefusal } from '../../../src/buckets/buckets.ts';
import { until } from '../../support/until.ts';

const FILE = new URL('./failing-thread.ts', import.meta.url);

describe('The thread that lists buckets', () => {
  const problems: string[] = [];
  const lister = createBucketLister([], (problem) => problems.push(problem), FILE);
  // The thread and its timers do not keep a process alive that has nothing else to do; a server has.
  const server = setInterval(() => undefined, 60_000);
  after(async () => {
    clearInterval(server);
    await lister.close();
  });

  const list = (what: string, signal = new AbortController().signal) => {
    const account = { kind: 's3', endpoint: undefined, region: '', accessKeyId: what, secretAccessKey: '' } as const;
    return lister.list({ ...account, sessionToken: undefined }, 10, signal);
  };
  const failed = (error: unknown) => error instanceof CloudRefusal && /cannot be processed/.test(error.message);
  const REPORTED: Readonly<Record<string, RegExp>> = {
    exit: /was ended: exited$/,
    throw: /was ended: TypeError$/,
    reject: /was ended: RangeError$/,
    memory: /was ended: Error$/,
  };

  for (const [failure, words] of Object.entries(REPORTED)) {
    it(`A thread that ends by ${failure} fails its listing, and the next listing gets a new thread`, async () => {
      problems.length = 0;
      await assert.rejects(list(failure), failed);
      assert.deepEqual(await list('fine'), ['fine']);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', words);
    });
  }

  it('Of several listings, only the one that ends the thread fails', async () => {
    problems.length = 0;
    const caller = new AbortController();
    const outcomes = Promise.allSettled([
      list('wait', caller.signal),
      list('throw'),
      ...['a', 'b'].map((what) => list(what)),
    ]);
    await until(() => problems.length === 1);
    // The second thread is busy with the listing that is never answered, which keeps nobody else waiting.
    assert.deepEqual(await list('meanwhile'), ['meanwhile']);
    caller.abort();
    const [waited, thrown, ...others] = await outcomes;
    assert.equal(waited?.status, 'rejected');
    assert.ok(thrown?.status === 'rejected' && failed(thrown.reason));
    assert.deepEqual(
      others.map((one) => one.status === 'fulfilled' && one.value[0]),
      ['a', 'b'],
    );
    assert.deepEqual(await list('fine'), ['fine']);
  });

  it('A listing that never returns costs the others a repetition, not their result', async () => {
    const caller = new AbortController();
    const stuck = assert.rejects(list('spin', caller.signal), CloudRefusal);
    const other = list('other');
    caller.abort();
    assert.deepEqual(await other, ['other']);
    await stuck;
  });
});
