import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { progress } from '../checks/progress.ts';
import { freePort } from './ports.ts';
import { toolCache } from './tool-cache.ts';

/** The release that the engine is measured by. */
export const OPENFGA_VERSION = 'v1.18.1';
const CACHE = toolCache(`openfga-${OPENFGA_VERSION}`);
const PROGRAM = join(CACHE, 'openfga');
const PROGRESS_MS = 30_000;
/** Generous: it exists to name what is wrong, not to measure. */
const UP_WITHIN_MS = 60_000;

/** A reason to skip, or false: without Go there is no server, unless an earlier run has built it. */
export function lacksOpenFga(): string | false {
  if (existsSync(PROGRAM) || spawnSync('go', ['version']).status === 0) return false;
  return 'go is not installed, so OpenFGA cannot be built';
}

export interface OpenFgaProcess {
  readonly url: string;
  readonly stop: () => void;
}

/**
 * Starts a real server on loopback that keeps everything in memory. The first call on a machine builds it.
 */
export async function runOpenFga(settings: Readonly<Record<string, string | number>> = {}): Promise<OpenFgaProcess> {
  if (!existsSync(PROGRAM)) await build();
  const url = `http://127.0.0.1:${await freePort()}`;
  const options = {
    'http-addr': new URL(url).host,
    'grpc-addr': `127.0.0.1:${await freePort()}`,
    'playground-enabled': false,
    'metrics-enabled': false,
    'profiler-enabled': false,
    'log-level': 'none',
    ...settings,
  };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const child = spawn(PROGRAM, ['run', ...args], { stdio: 'ignore' });
  const stop = () => void child.kill('SIGKILL');
  process.once('exit', stop);
  await untilUp(url, child).catch((error: unknown) => {
    stop();
    throw error;
  });
  return { url, stop };
}

async function build(): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const began = performance.now();
  const told = (): void =>
    progress(`building OpenFGA ${OPENFGA_VERSION}, ${Math.round((performance.now() - began) / 1000)} s so far`);
  told();
  const timer = setInterval(told, PROGRESS_MS);
  const env = { ...process.env, GOBIN: join(CACHE, 'bin'), GOFLAGS: '-buildvcs=false' };
  const child = spawn('go', ['install', `github.com/openfga/openfga/cmd/openfga@${OPENFGA_VERSION}`], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stop = () => void child.kill('SIGKILL');
  process.once('exit', stop);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-2000);
  });
  const status = await new Promise((done) => child.once('close', done));
  process.off('exit', stop);
  clearInterval(timer);
  if (status !== 0) throw new Error(`OpenFGA ${OPENFGA_VERSION} cannot be built: ${said}`);
  renameSync(join(CACHE, 'bin', 'openfga'), PROGRAM);
  progress(`built OpenFGA in ${Math.round((performance.now() - began) / 1000)} s`);
}

async function untilUp(url: string, child: ChildProcess): Promise<void> {
  const until = performance.now() + UP_WITHIN_MS;
  for (;;) {
    const isUp = await fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    if (child.exitCode !== null || performance.now() > until) throw new Error('OpenFGA did not start');
    await new Promise((done) => setTimeout(done, 50));
  }
}
