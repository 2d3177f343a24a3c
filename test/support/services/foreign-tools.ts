import { execFile, type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { progress } from '../checks/progress.ts';
import { toolCache } from './tool-cache.ts';

const PYTHONS = ['python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3'];
const MAX_OUTPUT = 64 * 1024 * 1024;
/** Compiling the first time takes minutes on a busy machine. After so many signs of life, a program hangs. */
const SIGN_OF_LIFE_MS = 60_000;
const MAX_SIGNS = 15;

export interface Ran {
  readonly code: number;
  readonly output: string;
}

/** A reason to skip, for the options of `it`; false if the program is installed. Says so at once, so that it is seen. */
export function lacksProgram(name: string, ...args: readonly string[]): string | false {
  return isInstalled(name, args) ? false : missing(name);
}

export function lacksPython(): string | false {
  return python() === undefined ? missing('python3') : false;
}

function python(): string | undefined {
  return PYTHONS.find((name) => isInstalled(name));
}

function isInstalled(name: string, args: readonly string[] = []): boolean {
  return spawnSync(name, args.length > 0 ? args : ['--version']).status === 0;
}

function missing(name: string): string {
  progress(`SKIPPED: what needs ${name}, which is not installed`);
  return `${name} is not installed`;
}

/** The folder of the programs of these packages. They are installed once, and again after a change of their versions. */
export async function pythonTools(name: string, packages: readonly string[]): Promise<string> {
  const folder = await installed(`python-${name}`, packages, async (place) => {
    await mustRun(python() ?? '', ['-m', 'venv', place]);
    await mustRun(join(place, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', ...packages]);
  });
  return join(folder, 'bin');
}

export async function npmTools(name: string, packages: readonly string[]): Promise<string> {
  return await installed(`npm-${name}`, packages, async (place) => {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'package.json'), '{"private":true,"type":"module"}');
    await mustRun('npm', ['install', '--no-audit', '--no-fund', '--silent', ...packages], { cwd: place });
  });
}

/**
 * Programs know the path where they were installed, so a folder cannot be moved into place when it is complete: a file
 * in it says that it is.
 */
async function installed(
  name: string,
  packages: readonly string[],
  install: (place: string) => Promise<void>,
): Promise<string> {
  const place = toolCache(name);
  const mark = join(place, `installed-${packages.join('+').replaceAll(/[^\w.+-]/g, '-')}`);
  if (existsSync(mark)) return place;
  progress(`installing ${packages.join(', ')}`);
  rmSync(place, { recursive: true, force: true });
  await install(place);
  writeFileSync(`${mark}.new`, '');
  renameSync(`${mark}.new`, mark);
  return place;
}

/** Runs a program without blocking this process, which is also the server that the program calls. */
export function run(command: string, args: readonly string[], options: SpawnSyncOptions = {}): Promise<Ran> {
  const { cwd, env } = options;
  let signs = 0;
  const alive = setInterval(() => {
    signs += 1;
    if (signs <= MAX_SIGNS) progress(`${command} ${args[0] ?? ''} has run for ${signs} minutes`);
  }, SIGN_OF_LIFE_MS);
  return new Promise((done) => {
    execFile(
      command,
      args,
      { ...(cwd !== undefined && { cwd }), ...(env && { env }), maxBuffer: MAX_OUTPUT },
      (error, stdout, stderr) => {
        clearInterval(alive);
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        done({ code, output: `${stdout}${stderr}` || String(error?.message ?? '') });
      },
    );
  });
}

export async function mustRun(
  command: string,
  args: readonly string[],
  options: SpawnSyncOptions = {},
): Promise<string> {
  const { code, output } = await run(command, args, options);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} exited with ${code}:\n${output.slice(-4000)}`);
  return output;
}
