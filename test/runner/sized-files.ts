import { globSync, readFileSync } from 'node:fs';

/** A test file that uses one of these words has a different size in the long suite. */
const SIZED = /\b(COUNTS|IS_LONG|API_DRIVERS|COUNTED_DRIVERS|openCli|itLong|describeLong)\b/;

/** The test files of the everyday suite that do more in the long suite. */
export function sizedFiles(): string[] {
  return globSync('{test,packages}/**/*.test.ts', { exclude: ['**/node_modules/**'] })
    .filter((path) => !path.startsWith('test/long/') && path !== 'test/runner/long.test.ts')
    .filter((path) => SIZED.test(readFileSync(path, 'utf8')))
    .sort();
}
