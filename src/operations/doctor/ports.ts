import { createServer } from 'node:net';
import type { Config } from '../../base/config/config.ts';
import { readBody } from '../../base/outbound/response-body.ts';
import { type Finding, fault, ok } from './finding.ts';

const WITHIN_MS = 3000;
const MAX_BYTES = 64 * 1024;

/** Checks that each port is free or that a server of ours answers there and, if one is running, whether it is ready. */
export async function examinePorts(config: Config): Promise<{ findings: Finding[]; isServing: boolean }> {
  const { HOST, PORT, ADMIN_HOST, ADMIN_PORT, DEPLOYMENT, MARKETPLACE_PORT } = config;
  const findings: Finding[] = [];
  const api = await examine('PORT', HOST, PORT, isApi);
  findings.push(...api.findings);
  const admin = await examine('ADMIN_PORT', ADMIN_HOST, ADMIN_PORT, isAdmin);
  findings.push(...admin.findings);
  if (DEPLOYMENT === 'marketplace' && MARKETPLACE_PORT) {
    const listener = await examine(
      'MARKETPLACE_PORT',
      HOST,
      MARKETPLACE_PORT,
      async (url) => api.isOurs && (await answer(url)) !== undefined,
    );
    findings.push(...listener.findings);
  }
  if (admin.isOurs) findings.push(await examineReadiness(urlOf(ADMIN_HOST, ADMIN_PORT)));
  return { findings, isServing: api.isOurs };
}

async function examine(setting: string, host: string, port: number, isOurs: (url: string) => Promise<boolean>) {
  const check = 'ports';
  if (port === 0) return { isOurs: false, findings: [] };
  const problem = await occupied(host, port);
  if (problem === undefined)
    return { isOurs: false, findings: [ok(check, `${setting} ${port} is free: no server runs there`)] };
  if (problem === 'EADDRINUSE') {
    if (await isOurs(urlOf(host, port)))
      return { isOurs: true, findings: [ok(check, `an Atrium server answers on ${setting} ${port}`)] };
    const advice = `Stop the program that uses it, or choose another port with ${setting}.`;
    return { isOurs: false, findings: [fault(check, `${setting} ${port} is in use by another program`, advice)] };
  }
  const advice =
    problem === 'EACCES'
      ? `Choose a port above 1023 with ${setting}.`
      : `Set ${setting === 'ADMIN_PORT' ? 'ADMIN_HOST' : 'HOST'} to an address of this machine.`;
  return {
    isOurs: false,
    findings: [fault(check, `${setting} ${port} of ${host} cannot be used (${problem})`, advice)],
  };
}

/** Opens the port and closes it immediately, so that no client can have connected. */
function occupied(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

async function isApi(url: string): Promise<boolean> {
  const text = await textOf(await answer(`${url}/api/v1/version`));
  try {
    return typeof (JSON.parse(text ?? '') as { version?: unknown } | null)?.version === 'string';
  } catch {
    return false;
  }
}

async function isAdmin(url: string): Promise<boolean> {
  return (await textOf(await answer(`${url}/healthz`))) === 'ok\n';
}

async function examineReadiness(url: string): Promise<Finding> {
  const response = await answer(`${url}/readyz`);
  const text = (await textOf(response))?.trim() ?? 'no answer';
  if (response?.status === 200) return ok('server', 'the server is ready');
  const advice = 'Check its log; if it is not draining, its database is unavailable.';
  return fault('server', `the server is not ready: ${text}`, advice);
}

/** Undefined if there is none, or if it does not end: any program may answer on a port. */
async function textOf(response: Response | undefined): Promise<string | undefined> {
  return response && (await readBody(response, MAX_BYTES).catch(() => undefined))?.toString('utf8');
}

function answer(url: string): Promise<Response | undefined> {
  const options = {
    headers: { Connection: 'close' },
    signal: AbortSignal.timeout(WITHIN_MS),
    redirect: 'manual',
  } as const;
  return fetch(url, options).catch(() => undefined);
}

function urlOf(host: string, port: number): string {
  const near = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${near.includes(':') ? `[${near}]` : near}:${port}`;
}
