import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { progress } from '../checks/progress.ts';
import { toolCache } from './tool-cache.ts';

/** The releases that Atrium is tried with. */
export const KUBERNETES_VERSION = 'v1.36.3';
export const ETCD_VERSION = 'v3.7.3';
const CACHE = toolCache(`kubernetes-${KUBERNETES_VERSION}`);
const PROGRESS_MS = 30_000;
const PROGRAMS = {
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  etcd: 'go.etcd.io/etcd/server/v3',
} as const;
export type KubernetesProgram = keyof typeof PROGRAMS;

/** A reason to skip, or false: without Go there is no Kubernetes, unless an earlier run has built it. Says so loudly. */
export function lacksKubernetes(): string | false {
  if (isBuilt() || spawnSync('go', ['version']).status === 0) return false;
  const why = 'go is not installed, so kube-apiserver, etcd and kubectl cannot be built';
  progress(`SKIPPED: everything with a real Kubernetes. ${why}`);
  return why;
}

export function kubernetesProgram(name: KubernetesProgram): string {
  return join(CACHE, name);
}

const isBuilt = (): boolean => Object.keys(PROGRAMS).every((name) => existsSync(join(CACHE, name)));

/**
 * Builds what is missing, from the Go module proxy. It takes some twenty minutes of one processor, once for each machine:
 * `nice -n 10 env GOMAXPROCS=2 node test/support/services/kubernetes-build.ts`
 */
export async function buildKubernetes(): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  for (const [name, path] of Object.entries(PROGRAMS)) {
    if (existsSync(join(CACHE, name))) continue;
    const place = join(CACHE, `source-${name}-${process.pid}`);
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place);
    await (name === 'etcd' ? writeModule(place, 'go.etcd.io/etcd/server/v3', ETCD_VERSION) : writeKubernetes(place));
    const built = join(place, name);
    await go(place, `building ${name}`, ['build', '-mod=mod', '-trimpath', `-ldflags=${STAMP}`, '-o', built, path]);
    renameSync(built, join(CACHE, name));
    rmSync(place, { recursive: true, force: true });
  }
}

const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(KUBERNETES_VERSION) ?? [];
const STAMP = [
  '-s -w',
  ...Object.entries({ gitVersion: KUBERNETES_VERSION, gitMajor: major, gitMinor: minor }).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  ),
].join(' ');

/**
 * The module of Kubernetes expects its staging modules next to it, which are not in what the proxy has. Each is published
 * by itself, too: 1.36.3 as 0.36.3.
 */
async function writeKubernetes(place: string): Promise<void> {
  const module = 'k8s.io/kubernetes';
  await writeModule(place, module, KUBERNETES_VERSION);
  const { GoMod } = JSON.parse(
    await go(place, `fetching Kubernetes ${KUBERNETES_VERSION}`, [
      'mod',
      'download',
      '-json',
      `${module}@${KUBERNETES_VERSION}`,
    ]),
  ) as { GoMod: string };
  const staged = readFileSync(GoMod, 'utf8').matchAll(/^\s*(\S+) => \.\/staging\//gm);
  const published = KUBERNETES_VERSION.replace('v1.', 'v0.');
  const replaced = [...staged].map(([, name]) => `\t${name} => ${name} ${published}`);
  if (replaced.length === 0) throw new Error('the module of Kubernetes replaces no staging modules any more');
  await writeModule(place, module, KUBERNETES_VERSION, `\nreplace (\n${replaced.join('\n')}\n)\n`);
}

/** A module that needs nothing but another, because a module with replacements cannot be installed by its path. */
async function writeModule(place: string, module: string, version: string, more = ''): Promise<void> {
  const { stdout } = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8' });
  const release = stdout.trim().replace(/^go/, '');
  writeFileSync(join(place, 'go.mod'), `module built\n\ngo ${release}\n\nrequire ${module} ${version}\n${more}`);
}

/** Runs Go in a folder, says every half minute that it goes on, and gives what it printed. */
async function go(cwd: string, what: string, args: readonly string[]): Promise<string> {
  const began = performance.now();
  const told = (): void => progress(`${what}, ${Math.round((performance.now() - began) / 1000)} s so far`);
  told();
  const timer = setInterval(told, PROGRESS_MS);
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' };
  const child = spawn('go', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = () => void child.kill('SIGKILL');
  process.once('exit', stop);
  let printed = '';
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-4000);
  });
  const status = await new Promise((done) => child.once('close', done));
  process.off('exit', stop);
  clearInterval(timer);
  if (status !== 0) throw new Error(`${what} failed: ${said}`);
  return printed;
}

if (import.meta.main) await buildKubernetes();
