import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { progress } from '../checks/progress.ts';
import { mustRun } from './foreign-tools.ts';
import { freePort } from './ports.ts';
import { toolCache } from './tool-cache.ts';

/** The release that docs/sign-in.md was followed with. */
export const KEYCLOAK_VERSION = '26.0.0';
const ADMIN = { name: 'admin', password: 'a password of the test' };
const CACHE = toolCache(`keycloak-${KEYCLOAK_VERSION}`);
const PROGRESS_MS = 30_000;
/** Generous: it exists to name what is wrong, not to measure. The first start on a machine builds the server. */
const UP_WITHIN_MS = 20 * 60_000;

/** A reason to skip, said loudly, or false: without Java there is no server, and without Maven nothing to get it with. */
export function lacksKeycloak(): string | false {
  const missing = ['java', ...(existsSync(CACHE) ? [] : ['mvn'])].find(
    (name) => spawnSync(name, [name === 'java' ? '-version' : '--version']).error !== undefined,
  );
  if (missing === undefined) return false;
  progress(`SKIPPED: everything about Keycloak, because ${missing} is not installed`);
  return `${missing} is not installed`;
}

export type KeycloakProcess = Awaited<ReturnType<typeof runKeycloak>>;

/** Starts a real Keycloak on loopback, with an empty database in memory. The first call on a machine fetches it. */
export async function runKeycloak() {
  await fetchOnce();
  const url = `http://127.0.0.1:${await freePort()}`;
  const { hostname, port } = new URL(url);
  const args = ['start-dev', '--db=dev-mem', '--http-host', hostname, '--http-port', port, '--hostname-strict=false'];
  const env = { ...process.env, KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN.name, KC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password };
  const child = spawn(join(CACHE, 'bin', 'kc.sh'), args, { env, stdio: 'ignore' });
  const stop = () => void child.kill('SIGKILL');
  process.once('exit', stop);
  await untilUp(url, child).catch((error: unknown) => {
    stop();
    throw error;
  });
  return { url, admin, stop };

  /** A call of the admin API, which is also what the admin console makes. */
  async function admin(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
    const answer = await fetch(`${url}/admin/realms${path}`, {
      method,
      headers: { Authorization: `Bearer ${await tokenOf(url)}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 500)}`);
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  }
}

async function tokenOf(url: string): Promise<string> {
  const answer = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'password',
      client_id: 'admin-cli',
      username: ADMIN.name,
      password: ADMIN.password,
    }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

async function fetchOnce(): Promise<void> {
  if (existsSync(CACHE)) return;
  progress(`fetching Keycloak ${KEYCLOAK_VERSION} from Maven Central`);
  const place = `${CACHE}.${process.pid}`;
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  const artifact = `org.keycloak:keycloak-quarkus-dist:${KEYCLOAK_VERSION}:tar.gz`;
  const copy = ['dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${place}`];
  await mustRun('mvn', ['-q', ...copy]);
  const archive = join(place, `keycloak-quarkus-dist-${KEYCLOAK_VERSION}.tar.gz`);
  await mustRun('tar', ['xzf', archive, '-C', place, '--strip-components=1']);
  rmSync(archive);
  renameSync(place, CACHE);
}

async function untilUp(url: string, child: ChildProcess): Promise<void> {
  const began = performance.now();
  let told = began;
  for (;;) {
    const isUp = await fetch(`${url}/realms/master`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    const now = performance.now();
    if (child.exitCode !== null || now - began > UP_WITHIN_MS) throw new Error('Keycloak did not start');
    if (now - told > PROGRESS_MS) {
      told = now;
      progress(`starting Keycloak, ${Math.round((now - began) / 1000)} s so far`);
    }
    await new Promise((done) => setTimeout(done, 200));
  }
}
