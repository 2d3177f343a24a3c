import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { it } from 'node:test';
import { openCli } from '../support/cli.ts';

/**
 * npm run bench:cli measures; this only notices when something heavy is loaded at the start. The machine may be busy, so the
 * quickest of several is compared with the quickest bare Node of the same minute.
 */
it('The CLI starts at most 100 ms slower than bare Node', () => {
  const env = { PATH: process.env.PATH ?? '', HOME: openCli().home, XDG_CACHE_HOME: resolve('node_modules/.cache') };
  const quickest = (args: readonly string[]) =>
    Math.min(
      ...Array.from({ length: 7 }, () => {
        const started = performance.now();
        assert.equal(spawnSync(process.execPath, args, { env }).status, 0);
        return performance.now() - started;
      }),
    );
  quickest([resolve('bin/atrium.mjs'), '--help']);
  const [bare, program] = [quickest(['-e', '0']), quickest([resolve('bin/atrium.mjs'), '--help'])];
  assert.ok(program < bare + 100, `${program.toFixed(0)} ms, a bare Node ${bare.toFixed(0)} ms`);
});
