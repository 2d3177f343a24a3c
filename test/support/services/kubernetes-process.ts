import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { progress } from '../checks/progress.ts';
import { temporaryFolder } from '../server/db.ts';
import { buildKubernetes, kubernetesProgram } from './kubernetes-build.ts';
import { freePort } from './ports.ts';

const ADMIN = 'admin-token';
/** Of service accounts, before the audience of Atrium. */
export const ISSUER = 'https://kubernetes.default.svc.cluster.local';
const PROGRESS_MS = 30_000;
/** Generous: it exists to name what is wrong, not to measure. */
const UP_WITHIN_MS = 10 * 60_000;

export interface KubeAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of an object by asserting it.
  readonly body: any;
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type KubernetesProcess = Awaited<ReturnType<typeof runKubernetes>>;

interface ApiServerOptions {
  /** Flags besides those that every API server here has. `{folder}` is its folder. */
  readonly flags?: readonly string[];
  /** Files in its folder. */
  readonly files?: Readonly<Record<string, string>>;
  /** The folder that the files name each other by. */
  readonly paths?: string;
}

/**
 * A real kube-apiserver with a real etcd on loopback, and the real kubectl. `admin-token` is a token of `system:masters`,
 * whom no webhook is asked about. The first call on a machine builds all three.
 */
export async function runKubernetes({ flags = [], files = {}, paths = '{folder}' }: ApiServerOptions = {}) {
  await buildKubernetes();
  const folder = temporaryFolder();
  const [client, peer, port] = [await freePort(), await freePort(), await freePort()];
  const url = `https://127.0.0.1:${port}`;
  const children = new Set<ChildProcess>();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }));
  writeFileSync(join(folder, 'tokens.csv'), `${ADMIN},admin,admin,"system:masters"\n`);
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, name), text.replaceAll(paths, folder), { mode: 0o600 });
  process.once('exit', stop);
  start('etcd', [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=http://127.0.0.1:${client}`,
    `--advertise-client-urls=http://127.0.0.1:${client}`,
    `--listen-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-cluster=default=http://127.0.0.1:${peer}`,
    '--unsafe-no-fsync',
  ]);
  let apiServer = await startApiServer();
  const ca = readFileSync(join(folder, 'certs', 'apiserver.crt'), 'utf8');
  return { url, ca, folder, call, kubectl, follow, restart, stop, kubeconfig, log };

  function start(name: 'etcd' | 'kube-apiserver', args: readonly string[]): ChildProcess {
    mkdirSync(folder, { recursive: true });
    const child = spawn(kubernetesProgram(name), args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = createWriteStream(join(folder, `${name}.log`), { flags: 'a' });
    child.stdout.pipe(output, { end: false });
    child.stderr.pipe(output, { end: false });
    children.add(child);
    child.once('close', () => {
      children.delete(child);
      output.end();
    });
    return child;
  }

  async function startApiServer(): Promise<ChildProcess> {
    const child = start('kube-apiserver', [
      `--etcd-servers=http://127.0.0.1:${client}`,
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      '--endpoint-reconciler-type=none',
      `--cert-dir=${join(folder, 'certs')}`,
      `--service-account-issuer=${ISSUER}`,
      `--service-account-key-file=${join(folder, 'sa.key')}`,
      `--service-account-signing-key-file=${join(folder, 'sa.key')}`,
      '--service-cluster-ip-range=10.0.0.0/24',
      `--token-auth-file=${join(folder, 'tokens.csv')}`,
      '--disable-admission-plugins=ServiceAccount',
      ...flags.map((flag) => flag.replaceAll('{folder}', folder)),
    ]);
    const until = performance.now() + UP_WITHIN_MS;
    let told = performance.now();
    for (;;) {
      const isUp = await call('GET', '/readyz', undefined, ADMIN).then(
        ({ status }) => status === 200,
        () => false,
      );
      if (isUp) return child;
      if (child.exitCode !== null || performance.now() > until) {
        stop();
        throw new Error(`the API server did not start: ${log().slice(-3000)}`);
      }
      if (performance.now() - told > PROGRESS_MS) {
        told = performance.now();
        progress('starting the API server');
      }
      await new Promise((done) => setTimeout(done, 100));
    }
  }

  function log(): string {
    return readFileSync(join(folder, 'kube-apiserver.log'), 'utf8');
  }

  async function restart(): Promise<void> {
    const ended = new Promise((done) => apiServer.once('close', done));
    apiServer.kill('SIGKILL');
    await ended;
    apiServer = await startApiServer();
  }

  function stop(): void {
    for (const child of children) child.kill('SIGKILL');
  }

  /** A request to the API server with this token; with that of the administrator by default. */
  function call(method: string, path: string, body?: object, token = ADMIN): Promise<KubeAnswer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = { Authorization: `Bearer ${token}`, ...(text && { 'Content-Type': 'application/json' }) };
    return new Promise((done, fail) => {
      const sent = request(`${url}${path}`, { method, headers, rejectUnauthorized: false }, (response) => {
        let came = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          came += part;
        });
        response.once('end', () =>
          done({ status: response.statusCode ?? 0, body: came.startsWith('{') ? JSON.parse(came) : came }),
        );
      });
      sent.once('error', fail);
      sent.end(text);
    });
  }

  /** The path of a kubeconfig file with this token. */
  function kubeconfig(name: string, token: string): string {
    const path = join(folder, `${name}.kubeconfig`);
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'c', cluster: { server: url, 'certificate-authority': join(folder, 'certs', 'apiserver.crt') } },
      ],
      users: [{ name: 'u', user: { token } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
    return path;
  }

  function kubectl(token: string, ...args: readonly string[]): Promise<Ran> {
    return runKubectl(['--kubeconfig', kubeconfig('kubectl', token), ...args], folder);
  }

  /** kubectl that goes on, such as `get -w`. */
  function follow(token: string, ...args: readonly string[]) {
    const config = kubeconfig(`follow-${Math.random()}`, token);
    const child = spawn(kubernetesProgram('kubectl'), ['--kubeconfig', config, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH ?? '', HOME: folder },
    });
    children.add(child);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (part: Buffer) => {
        said += part;
      });
    }
    const ended = new Promise<void>((done) => child.once('close', () => done()));
    return {
      said: () => said,
      isRunning: () => child.exitCode === null,
      async end() {
        child.kill('SIGKILL');
        await ended;
      },
    };
  }
}

/** kubectl without any of the developer's settings. */
export function runKubectl(
  args: readonly string[],
  home: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const options = { env: { PATH: process.env.PATH ?? '', HOME: home, ...env }, timeout: 60_000 };
  return new Promise((done) => {
    execFile(kubernetesProgram('kubectl'), args, options, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    );
  });
}
