/**
 * `npm test` runs the everyday suite, `npm test -- FILE…` only these files or folders. `npm run test:long` tests the same
 * guarantees with large counts, `npm run test:long -- LANE…` only some of its lanes.
 */
import { fork } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type Batch, toBatches } from './batches.ts';
import { runChecks } from './checks.ts';
import { cpuSeconds, cpuSecondsOf } from './cpu.ts';
import type { Lane } from './lane.ts';
import { runBatches } from './pool.ts';
import { startSuitePostgres } from './postgres.ts';
import { createReport } from './report.ts';
import { openRunFolder } from './run-folder.ts';

/** Generous: it exists to name a test that hangs, not to measure. */
const STALL_MS = Number(process.env.TEST_STALL_MS ?? 300_000);
const PARENT_MS = 1000;
const TESTS = '**/*.test.ts';
/** Files that a pause of the machine may fail in a run of everything. */
const MAX_PAUSED = 4;
/** The tests that drive a browser. */
const BROWSER_FILES = /^test\/(long\/|runner\/fixtures\/)?console\//;

const [mode, ...named] = process.argv.slice(2);
const isLong = mode === 'long';
/** Some tests of the everyday suite wait more than they work. In the long suite, some compare times. */
const WORKERS = availableParallelism() + (isLong ? 1 : 2);
// Only the long suite hashes passwords at their real cost everywhere.
if (!isLong) process.env.TEST_CHEAP_PASSWORDS = '1';
// A named lane takes the largest counts.
if (isLong) process.env.TEST_SIZE = named.length > 0 ? 'whole' : 'long';
const isWhole = !isLong && named.length === 0;
const missing = process.env.TEST_WITHOUT ?? '';

const aborting = new AbortController();
const began = performance.now();
const parts = isLong ? await lanes() : everyday();
const folder = openRunFolder();
// Everything that a test or a server under test creates is in the run's folder and is removed with it.
process.env.TMPDIR = folder.path;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void abort(signal));
const { ppid } = process;
setInterval(() => {
  if (process.ppid !== ppid) void abort('the end of the process that started it');
}, PARENT_MS).unref();

// Type checking takes one core for a while. The tests start in the meantime.
const checks = isWhole ? runChecks(print) : Promise.resolve([]);
// Both take seconds if the cache is empty, and less if no two processes create the same database.
const [server] = await Promise.all([
  missing.split(',').includes('postgresql') ? undefined : startSuitePostgres(),
  isWhole ? createTemplates() : undefined,
]);
folder.keepProcess(server?.pid());
const report = createReport({ print, isVerbose: !isWhole });
for (const { title, batches } of parts) {
  if (title !== '') print(`\n${title}`);
  await runAll(batches, WORKERS);
}
// A machine that others use has moments that no defect of ours explains, and a browser there more of them. What fails
// twice, the second time alone, has another cause, and so has a failure of many files. The end of the run names every
// file that needed a second attempt: one that appears there again and again has a defect.
const failedFiles = report.failedFiles();
const isMoment = named.length === 0 && failedFiles.length <= MAX_PAUSED;
const again = failedFiles.filter((file) => isMoment || BROWSER_FILES.test(file));
for (const file of again) {
  print(`\nsecond attempt, alone: ${file}`);
  report.forget(file);
  await runAll([[file]], 1);
}
const failedChecks = await checks;
// An aborted run exits by itself, and its folder is gone already.
if (aborting.signal.aborted) await new Promise(() => undefined);
if (server) report.add('(PostgreSQL)', cpuSecondsOf(server.pid()));
await folder.close();

const { passed, failed, skipped } = report.counts;
process.stdout.write(report.summary());
for (const file of again) print(`needed a second attempt: ${file}`);
for (const check of failedChecks) print(`✖ ${check} failed; see above`);
if (skipped > 0) print(`${skipped} tests were skipped${isLong ? '' : '; npm run test:long runs the slow ones'}`);
if (missing !== '') print(`skipped: everything that needs ${missing.replaceAll(',', ', ')} (not installed)`);
if (process.env.TEST_CPU) print(`\nprocessor time of each file:\n${report.heaviest()}`);
print(`took ${Math.round((performance.now() - began) / 1000)} s, ${Math.round(cpuSeconds())} s of processor time`);
print(`${passed} passed, ${failed + failedChecks.length} failed`);
process.exit(failed === 0 && failedChecks.length === 0 && passed > 0 ? 0 : 1);

async function runAll(batches: readonly Batch[], workers: number): Promise<void> {
  await runBatches({
    batches,
    workers,
    env: server ? { TEST_DATABASE_URL: server.url } : {},
    stallMs: STALL_MS,
    folder,
    report,
    signal: aborting.signal,
  });
}

/** A failure shows in the first test that needs a template. */
async function createTemplates(): Promise<void> {
  const child = fork(join(import.meta.dirname, 'templates.ts'), [], {
    execArgv: ['--liftoff-only'],
    stdio: 'ignore',
  });
  folder.keepProcess(child.pid);
  await new Promise((resolve) => child.once('exit', resolve));
}

interface Part {
  readonly title: string;
  readonly batches: readonly Batch[];
}

function everyday(): Part[] {
  const inFolder = (name: string) =>
    statSync(name, { throwIfNoEntry: false })?.isDirectory() ? join(name, TESTS) : name;
  const patterns = named.length > 0 ? named.map(inFolder) : ['test', 'packages'].map(inFolder);
  const files = patterns.flatMap((pattern) => globSync(pattern, { exclude: ['**/node_modules/**'] }));
  const chosen = isWhole ? files.filter((file) => !file.startsWith('test/long/')) : files;
  if (chosen.length === 0) stop(`no test file matches ${named.join(' ')}`);
  return [{ title: '', batches: toBatches([...new Set(chosen)], WORKERS) }];
}

/** First all lanes that may run together, then each of the others. Each file has its own process. */
async function lanes(): Promise<Part[]> {
  const { LANES } = await import('./long.ts');
  const unknown = named.filter((name) => !LANES.some((lane) => lane.name === name));
  if (unknown.length > 0)
    stop(`no lane is called ${unknown.join(', ')}; there are ${LANES.map((l) => l.name).join(', ')}`);
  const chosen = LANES.filter(({ name, onDemand }) => (named.length === 0 ? !onDemand : named.includes(name)));
  const minutes = chosen.reduce((sum, lane) => sum + lane.minutes, 0);
  print(`${chosen.length} lanes, about ${minutes} minutes on two quiet cores:`);
  const left = named.length === 0 ? LANES.filter(({ onDemand }) => onDemand) : [];
  for (const { name, onDemand } of left) print(`not run: lane ${name}, because ${onDemand}; name it to run it`);
  for (const lane of chosen) print(`  ${lane.name.padEnd(16)} about ${lane.minutes} min: ${lane.what}`);
  // The longest files first, so that no process runs alone for long.
  const together = chosen.filter(({ isAlone }) => !isAlone).sort((one, other) => length(other) - length(one));
  const inOrder = together.length > 0 ? [together] : [];
  for (const lane of chosen) if (lane.isAlone) inOrder.push([lane]);
  return inOrder.map((lanes) => ({
    title: `lane ${lanes.map(({ name }) => name).join(', ')}`,
    batches: lanes.flatMap(({ files }) => files.map((file) => [file])),
  }));
}

function length({ minutes, files }: Lane): number {
  return minutes / files.length;
}

async function abort(reason: string): Promise<void> {
  if (aborting.signal.aborted) return;
  aborting.abort();
  print(`stopped by ${reason}`);
  await folder.close();
  process.exit(1);
}

function stop(line: string): never {
  print(line);
  process.exit(1);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
