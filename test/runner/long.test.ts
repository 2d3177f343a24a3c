import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { describe, it } from 'node:test';
import { AREAS } from '../long/mutation/areas.ts';
import { EQUIVALENT } from '../long/mutation/equivalent.ts';
import { mutantsIn } from '../long/mutation/mutants.ts';
import { LANES } from './long.ts';
import { sizedFiles } from './sized-files.ts';

const files = LANES.flatMap((lane) => lane.files);

describe('The lanes of the long suite', () => {
  it('Every file whose counts depend on the suite is in exactly one lane', () => {
    const sized = [...sizedFiles(), ...globSync('test/long/**/*.test.ts', { exclude: ['**/node_modules/**'] })];
    assert.ok(sized.length > 100);
    assert.deepEqual(
      sized.filter((path) => files.filter((file) => file === path).length !== 1),
      [],
    );
  });

  it('A named lane takes the third count, and the second where there is none', () => {
    const script = "const { COUNTS } = await import('./test/counts.ts'); console.log(JSON.stringify(COUNTS))";
    const [everyday, long, whole] = ['everyday', 'long', 'whole'].map((size) => {
      const env = { ...process.env, TEST_SIZE: size };
      return JSON.parse(spawnSync(process.execPath, ['--input-type=module', '-e', script], { env }).stdout.toString());
    });
    assert.deepEqual([everyday.importedRoles, long.importedRoles, whole.importedRoles], [100, 1000, 1000]);
    assert.ok(whole.revokeAskPairs > long.revokeAskPairs && long.revokeAskPairs > everyday.revokeAskPairs);
  });

  it('Every file of a lane exists', () => {
    assert.deepEqual(
      files.filter((file) => !existsSync(file)),
      [],
    );
  });

  it('Every change of the code that no test can notice is still one of the changes that are tried', () => {
    const whats = Object.keys(EQUIVALENT);
    const named = new Set(whats.map((what) => what.slice(0, what.indexOf(':'))));
    const tried = Object.values(AREAS).flatMap(({ sources }) => sources.flatMap((pattern) => globSync(pattern)));
    const known = new Set(mutantsIn(tried.filter((file) => named.has(file))).map(({ what }) => what));
    assert.deepEqual(
      whats.filter((what) => !known.has(what)),
      [],
    );
  });
});
