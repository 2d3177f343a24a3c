import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../services/ports.ts';
import { patienceWith } from './db.ts';
import { surroundings } from './process.ts';
import { JUDGE, openTestServer, TEST_KEY, type TestServer } from './server.ts';

export interface SecondProcess {
  readonly url: string;
  close(): Promise<void>;
  /** As a crash or a machine without power ends it. */
  kill(): Promise<void>;
}

export interface Pair {
  /** In this process, so that a test can write through its rules. */
  readonly atrium: TestServer;
  /** Starts another process that serves from the same PostgreSQL. */
  open(hearing?: 'deaf'): Promise<SecondProcess>;
}

/**
 * A server in this process, and a way to open others next to it with the same database and the same key. With BASE_URL,
 * all of them are behind a proxy with that address.
 */
export async function openPair(env: Readonly<Record<string, string>> = {}): Promise<Pair> {
  const port = async () => (env.BASE_URL === undefined ? '0' : String(await freePort()));
  const atrium = await openTestServer({ driver: 'postgres', env: { ...env, PORT: await port() } });
  const shared = { ...env, DATABASE_URL: atrium.instance.config.DATABASE_URL ?? '', ATRIUM_KEY: TEST_KEY, ...JUDGE };
  const open = async (hearing?: 'deaf') =>
    await openSecondProcess({ ...shared, PORT: await port(), ADMIN_PORT: '0' }, hearing);
  return { atrium, open };
}

async function openSecondProcess(env: Record<string, string>, hearing = 'hearing'): Promise<SecondProcess> {
  const child = spawn(process.execPath, ['test/support/server/second-process.ts', hearing], {
    env: { ...surroundings(), ...env, TEST_PATIENCE: String(patienceWith(env)) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const first = await Promise.race([once(child.stdout, 'data'), ended]);
  if (child.exitCode !== null) throw new Error(`the second process ended with ${child.exitCode}`);
  return {
    url: env.BASE_URL === undefined ? String(first[0]).trim() : `http://127.0.0.1:${env.PORT}`,
    async close() {
      child.stdin.end();
      await ended;
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
