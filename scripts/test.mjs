import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { startPostgres } from '../test/support/postgres.ts';

/** Everything that has to hold before a change goes in; with files named, only those tests. */
const MOST_MS = 13 * 60_000;
const named = process.argv.slice(2);
const files = (named.length > 0 ? named : ['test/**/*.test.ts']).flatMap((pattern) => globSync(pattern)).sort();
if (files.length === 0) stop(`no test file matches ${named.join(' ')}`);
if (named.length === 0) {
  step('format and lint', 'node_modules/@biomejs/biome/bin/biome', 'check', '.');
  step('types', 'node_modules/typescript/bin/tsc', '-p', '.');
  step('generated files', 'scripts/generate.ts', '--check');
}
const server = await startPostgres();
process.env.TEST_DATABASE_URL = server.url;
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void server.stop().then(() => process.exit(1)));
const { passed, failed } = await runTests();
await server.stop();
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

function step(what, ...args) {
  process.stdout.write(`${what}: node ${args.join(' ')}\n`);
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) stop(`${what}: failed`);
}

/** Two files at a time: each brings processes and databases of its own, and two cores are all that CI has. */
async function runTests() {
  const counts = { passed: 0, failed: 0 };
  process.stdout.write(`tests: ${files.length} files on ${server.url}\n`);
  const tests = run({ files, concurrency: 2, timeout: 300_000, signal: AbortSignal.timeout(MOST_MS) });
  tests.on('test:pass', (event) => {
    if (isTest(event)) counts.passed += 1;
  });
  tests.on('test:fail', ({ details }) => {
    // A suite is not counted a second time for what failed in it.
    if (details.error.failureType !== 'subtestsFailed') counts.failed += 1;
  });
  for await (const chunk of tests.compose(spec)) process.stdout.write(chunk);
  return counts;
}

function isTest({ details, skip, todo }) {
  return details.type !== 'suite' && skip === undefined && todo === undefined;
}

function stop(line) {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}
