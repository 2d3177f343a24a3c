import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toBatches } from './batches.ts';

const WORKERS = 3;

function files(count: number, folder: string): string[] {
  return Array.from({ length: count }, (_, index) => `test/${folder}/${String(index).padStart(3, '0')}.test.ts`);
}

describe('Dealing test files to processes', () => {
  it('Every file is in exactly one batch, and no batch is empty, however many files there are', () => {
    for (const count of [1, 2, 3, 4, 12, 47, 48, 49, 97, 200, 411]) {
      const all = files(count, 'api');
      const batches = toBatches(all, WORKERS);
      assert.deepEqual(batches.flat().sort(), all, `${count} files`);
      assert.ok(batches.every((batch) => batch.length > 0 && batch.length <= 40));
    }
  });

  it('One named file takes one process, and a dozen keep all workers busy', () => {
    assert.equal(toBatches(files(1, 'api'), WORKERS).length, 1);
    assert.equal(toBatches(files(12, 'api'), WORKERS).length, WORKERS);
  });

  it('Each of the first batches begins with its share of the slow files, and the last batches are small', () => {
    const batches = toBatches([...files(180, 'rebac'), ...files(9, 'process')], WORKERS);
    const slow = batches.map((batch) => batch.filter((file) => file.startsWith('test/process/')).length);
    assert.deepEqual(slow.slice(0, WORKERS + 1), [3, 3, 3, 0]);
    assert.ok(batches.slice(0, WORKERS).every(([file]) => file?.startsWith('test/process/')));
    const lengths = batches.map(({ length }) => length);
    assert.deepEqual(
      lengths,
      lengths.toSorted((one, other) => other - one),
    );
    assert.ok(
      lengths.slice(-WORKERS).every((length) => length <= 5),
      lengths.join(),
    );
  });

  it('All files that drive a browser are in the first batch, whose process starts only one', () => {
    const [first, ...others] = toBatches([...files(50, 'api'), ...files(9, 'console')], WORKERS);
    assert.deepEqual(first, files(9, 'console'));
    assert.ok(others.flat().every((file) => file.startsWith('test/api/')));
  });
});
