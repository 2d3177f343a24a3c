/**
 * `npm test` runs the everyday suite, `npm test -- FILE…` only these files, `npm run test:long` the same promises with
 * large counts.
 */
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { toBatches } from './batches.ts';
import { runChecks } from './checks.ts';
import { runBatches } from './pool.ts';
import { startSuitePostgres } from './postgres.ts';
import { createReport } from './report.ts';
import { openRunFolder } from './run-folder.ts';

/** Generous: it is there to name what hangs, not to measure. */
const STALL_MS = 300_000;
const PARENT_MS = 1000;

const named = process.argv.slice(2);
const files = (named.length > 0 ? named : ['test/**/*.test.ts']).flatMap((pattern) => globSync(pattern)).sort();
if (files.length === 0) {
  print(`no test file matches ${named.join(' ')}`);
  process.exit(1);
}

const began = performance.now();
const folder = openRunFolder();
// Whatever a test or a server under test creates is in the run's folder, and goes with it.
process.env.TMPDIR = folder.path;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void abort(signal));
const { ppid } = process;
setInterval(() => {
  if (process.ppid !== ppid) void abort('the end of the process that started it');
}, PARENT_MS).unref();

const isWhole = named.length === 0;
const failedChecks = isWhole ? await runChecks(print) : [];
const missing = process.env.TEST_WITHOUT ?? '';
const server = missing.split(',').includes('postgresql') ? undefined : await startSuitePostgres();
folder.keepProcess(server?.pid());
const report = createReport({ print, isVerbose: !isWhole });
await runBatches({
  batches: toBatches(files),
  workers: availableParallelism() + 1,
  env: server ? { TEST_DATABASE_URL: server.url } : {},
  stallMs: STALL_MS,
  folder,
  report,
});
await folder.close();

const { passed, failed, skipped } = report.counts;
process.stdout.write(report.summary());
for (const check of failedChecks) print(`✖ ${check} failed; see above`);
if (skipped > 0) print(`${skipped} tests were skipped`);
if (missing !== '') print(`skipped: everything that needs ${missing.replaceAll(',', ', ')} (not installed)`);
print(`took ${Math.round((performance.now() - began) / 1000)} s`);
print(`${passed} passed, ${failed + failedChecks.length} failed`);
process.exit(failed === 0 && failedChecks.length === 0 && passed > 0 ? 0 : 1);

async function abort(reason: string): Promise<void> {
  print(`stopped by ${reason}`);
  await folder.close();
  process.exit(1);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
