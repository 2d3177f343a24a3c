import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runAgent } from '../../agent/agent.ts';
import { createAtriumClient } from '../../agent/atrium.client.ts';
import { createKubeApi } from '../../agent/kube-api.client.ts';
import { AppError } from '../../base/errors.ts';
import { RELEASE_VERSION } from '../../base/release.ts';
import type { Terminal } from './terminal.ts';

/** What Kubernetes puts into each pod. */
const POD = '/var/run/secrets/kubernetes.io/serviceaccount';
const TEXT = { type: 'string' } as const;
const OPTIONS = {
  server: TEXT,
  cluster: TEXT,
  'token-file': TEXT,
  endpoint: TEXT,
  'cut-off-after': { ...TEXT, default: '1h' },
  namespace: TEXT,
  'kube-server': TEXT,
  'kube-token-file': TEXT,
  'kube-ca-file': TEXT,
};

/** `atrium agent`: runs in a cluster until it is ended. */
export async function runAgentCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { say, complain }: Terminal,
): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const server = urlOf(required(values.server, '--server', 'https://atrium.example.com'), '--server');
  const cluster = required(values.cluster, '--cluster', '1');
  const tokenFile = required(values['token-file'], '--token-file', '/run/secrets/atrium/token');
  const kubeServer = values['kube-server'] ?? serverOfPod(env);
  const kubeTokenFile = values['kube-token-file'] ?? `${POD}/token`;
  const caFile = values['kube-ca-file'] ?? `${POD}/ca.crt`;
  const ca = existsSync(caFile) ? readFileSync(caFile, 'utf8') : undefined;
  if (server.protocol !== 'https:') complain(`${server} is not https: an attacker in between gets the token`);
  const kube = createKubeApi({ server: urlOf(kubeServer, '--kube-server'), ca, token: fileReader(kubeTokenFile) });
  const atrium = createAtriumClient({ server, cluster, token: fileReader(tokenFile) });
  const end = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => end.abort());
  const cutOffAfterMs = readSpan(values['cut-off-after']);
  const options = {
    of: `${server} ${cluster}`,
    namespace: values.namespace ?? namespaceOfPod(),
    cutOffAfterMs,
    endpoint: values.endpoint,
    caBundle: values.endpoint === undefined ? undefined : ca,
    version: RELEASE_VERSION,
  };
  say(`agent of cluster ${cluster}, for ${server}`);
  const log = (line: string) => complain(`${new Date().toISOString()} ${line}`);
  await runAgent({ kube, atrium, log }, options, end.signal);
}

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000 } as const;

function readSpan(text: string): number {
  const [, count, unit] = /^(\d{1,5})([smh])$/.exec(text) ?? [];
  const ms = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (ms > 0) return ms;
  throw new AppError(
    'invalid',
    `--cut-off-after must be a number of seconds, minutes or hours, such as 30m, got "${text}"`,
  );
}

function required(value: string | undefined, name: string, example: string): string {
  if (value === undefined || value === '')
    throw new AppError('invalid', `${name} is required, such as ${name} ${example}`);
  return value;
}

function urlOf(text: string, name: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && ['https:', 'http:'].includes(url.protocol)) return url;
  throw new AppError('invalid', `${name} must be an https URL, got "${text}"`);
}

function serverOfPod({
  KUBERNETES_SERVICE_HOST: host,
  KUBERNETES_SERVICE_PORT: port = '443',
}: NodeJS.ProcessEnv): string {
  if (host === undefined) throw new AppError('invalid', 'this is no pod of a cluster: name --kube-server');
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function namespaceOfPod(): string {
  const file = `${POD}/namespace`;
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : 'atrium-system';
}

/** The file is read each time: both kinds of tokens are renewed while the agent runs. */
function fileReader(path: string): () => string {
  const read = () => readFileSync(path, 'utf8').trim();
  if (read() === '') throw new AppError('invalid', `${path} is empty: it must have a token`);
  return read;
}
