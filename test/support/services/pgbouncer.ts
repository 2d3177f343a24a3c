import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './ports.ts';
import { onServer, unprivilegedUser } from './postgres.ts';

/** A real PgBouncer in transaction mode, in front of a PostgreSQL of a test. */
export interface TestPgbouncer {
  /** The same database, through PgBouncer. */
  urlOf(databaseUrl: string): string;
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

interface PgbouncerOptions {
  readonly port?: number;
  /** To PostgreSQL, for each database. If they are few, clients have to share them. */
  readonly connections?: number;
}

export async function startPgbouncer(serverUrl: string, options: PgbouncerOptions = {}): Promise<TestPgbouncer> {
  const { hostname, port: serverPort, username } = new URL(serverUrl);
  const folder = mkdtempSync(join(tmpdir(), 'atrium-pgbouncer-'));
  const port = options.port ?? (await freePort());
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${options.connections ?? 3}
max_client_conn = 500
server_connect_timeout = 2
server_login_retry = 1
`,
  );
  const user = unprivilegedUser();
  if (user.uid !== undefined && user.gid !== undefined)
    for (const one of [folder, file]) chownSync(one, user.uid, user.gid);
  const env = { PATH: `${process.env.PATH ?? ''}:/usr/sbin` };
  const child: ChildProcess = spawn('pgbouncer', ['--quiet', file], { ...user, cwd: folder, env, stdio: 'ignore' });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  let fault: Error | undefined;
  child.once('error', (error) => {
    fault = error;
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const urlOf = (databaseUrl: string) => {
    const url = new URL(databaseUrl);
    url.port = String(port);
    return url.href;
  };
  for (;;) {
    if (fault !== undefined || child.exitCode !== null) throw new Error('PgBouncer did not start', { cause: fault });
    const isUp = await onServer(urlOf(serverUrl), 'select 1').then(
      () => true,
      () => false,
    );
    if (isUp) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    urlOf,
    port,
    pid: child.pid ?? 0,
    async stop() {
      process.off('exit', killWithUs);
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
