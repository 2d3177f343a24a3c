import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Coverage, readCoverage } from './coverage.ts';
import type { Mutant } from './mutants.ts';

/** How one test file ended. Whoever gets `stuck` or `crashed` must find out whether the change is the reason. */
export type Outcome =
  | { readonly kind: 'passed'; readonly tests: number; readonly cpuSeconds: number }
  | { readonly kind: 'failed' | 'stuck' | 'crashed'; readonly reason: string };

export interface Limits {
  readonly cpuSeconds: number;
  readonly wallMs: number;
}

/** A test file that passes without any change. */
export interface Witness {
  readonly file: string;
  /** What it took last. The first run is the most expensive one. */
  cpuSeconds: number;
  readonly wallMs: number;
  readonly coverage: Coverage;
}

const GENEROUS: Limits = { cpuSeconds: 300, wallMs: 280_000 };
/** Changes nothing, but passes through the same hook. A failure of the hook itself must not count as noticed. */
const UNCHANGED: Pick<Mutant, 'file' | 'start' | 'end' | 'text'> = { file: 'none', start: 0, end: 0, text: '' };

/** Runs a test file unchanged, and finds out what it costs and which code it reaches. */
export async function measure(file: string): Promise<Witness> {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-coverage-'));
  const began = performance.now();
  const outcome = await run(file, UNCHANGED, GENEROUS, { NODE_V8_COVERAGE: folder });
  if (outcome.kind !== 'passed') throw new Error(`${file} fails without any change: ${outcome.reason}`);
  if (outcome.tests === 0) throw new Error(`${file} has no test`);
  const coverage = readCoverage(folder);
  rmSync(folder, { recursive: true });
  return { file, cpuSeconds: outcome.cpuSeconds, wallMs: performance.now() - began, coverage };
}

/** Rejects if a test file fails without any change. */
export async function confirm({ file }: Witness): Promise<void> {
  const outcome = await run(file, UNCHANGED, GENEROUS);
  if (outcome.kind !== 'passed') throw new Error(`${file} fails without any change: ${outcome.reason}`);
}

/** Runs a test file with a change, with several times the time that it takes without. */
export async function attempt(witness: Witness, mutant: Mutant): Promise<Outcome> {
  const limits = { cpuSeconds: 5 + 4 * witness.cpuSeconds, wallMs: 30_000 + 4 * witness.wallMs };
  const outcome = await run(witness.file, mutant, limits);
  if (outcome.kind === 'passed') witness.cpuSeconds = outcome.cpuSeconds;
  if (outcome.kind === 'passed' || outcome.kind === 'failed') return outcome;
  // The machine may be the reason. Then the same happens without the change.
  const again = await run(witness.file, UNCHANGED, limits);
  if (again.kind !== 'passed') throw new Error(`${witness.file} ${again.kind} without any change: ${again.reason}`);
  return outcome;
}

function run(
  file: string,
  mutant: Pick<Mutant, 'file' | 'start' | 'end' | 'text'>,
  { cpuSeconds, wallMs }: Limits,
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const cache = join('.cache', 'mutation-code');
  mkdirSync(cache, { recursive: true });
  const here = import.meta.dirname;
  const flags = ['--import', join(here, 'hook.ts'), '--liftoff-only', '--max-semi-space-size=64'];
  // A limit of processor time ends an endless loop, however busy the machine is.
  const limited = ['-c', 'ulimit -t "$0"; exec "$@"', String(Math.ceil(cpuSeconds))];
  const child = spawn('/bin/sh', [...limited, process.execPath, ...flags, join(here, 'child.ts'), file], {
    env: {
      ...process.env,
      MUTANT: JSON.stringify(mutant),
      TEST_SIZE: 'everyday',
      NODE_COMPILE_CACHE: cache,
      NODE_TEST_CONTEXT: undefined,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk).slice(-500);
  });
  let outcome: Outcome | undefined;
  child.on('message', (message: Outcome) => {
    outcome ??= message;
    // The first failure is enough.
    if (outcome.kind === 'failed') child.kill('SIGKILL');
  });
  const timer = setTimeout(() => {
    outcome ??= { kind: 'stuck', reason: `took more than ${Math.round(wallMs / 1000)} s` };
    child.kill('SIGKILL');
  }, wallMs);
  return new Promise((resolve) => {
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (outcome === undefined && (signal === 'SIGXCPU' || signal === 'SIGKILL')) {
        outcome = { kind: 'stuck', reason: `took more than ${Math.ceil(cpuSeconds)} s of processor time` };
      }
      resolve(outcome ?? { kind: 'crashed', reason: `exit code ${code ?? signal}: ${errors}` });
    });
  });
}
