import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { LANES } from './long.ts';

/** A test file that uses one of these words has a different size in the long suite. */
const SIZED = /\b(COUNTS|IS_LONG|API_DRIVERS|openCli|itIfLong)\b/;

const files = LANES.flatMap((lane) => lane.files);

describe('The lanes of the long suite', () => {
  it('Every file whose counts depend on the suite is in exactly one lane', () => {
    const sized = globSync('test/**/*.test.ts')
      .filter((path) => SIZED.test(readFileSync(path, 'utf8')) || path.startsWith('test/long/'))
      .filter((path) => path !== 'test/runner/long.test.ts');
    assert.deepEqual(
      sized.filter((path) => files.filter((file) => file === path).length !== 1),
      [],
    );
  });

  it('Every file of a lane exists', () => {
    assert.deepEqual(
      files.filter((file) => !existsSync(file)),
      [],
    );
  });
});
