import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { connect as knock } from 'node:net';
import { delimiter, join } from 'node:path';
import { after } from 'node:test';
import { connect, credsAuthenticator, type NatsConnection, wsconnect } from '@nats-io/transport-node';
import { temporaryFolder } from '../server/db.ts';
import { freePort } from './ports.ts';

/** A real NATS server on loopback, with exactly the given configuration. */
export interface TestNats {
  readonly url: string;
  readonly wsUrl: string;
  /** For openTestServer. */
  readonly env: Readonly<Record<string, string>>;
  /** The folder that the configuration must name. */
  readonly folder: string;
  start(configuration: string): Promise<void>;
  /** Like a crash: connections are not closed properly. */
  kill(): Promise<void>;
  /** Starts it again, with its previous configuration and files. */
  restart(): Promise<void>;
  /** Connects with a .creds file, without any automatic reconnection that the test would not notice. */
  connect(credentials: string, options?: ConnectOptions): Promise<NatsConnection>;
}

export interface ConnectOptions {
  readonly inboxPrefix?: string;
  readonly websocket?: boolean;
}

/** Generous: they exist to name what is wrong, not to measure. */
const UP_WITHIN_MS = 60_000;
const CONNECT_WITHIN_MS = 60_000;
const running = new Set<ChildProcess>();
const open = new Set<NatsConnection>();
after(async () => {
  for (const connection of open) await connection.close().catch(() => undefined);
  for (const child of running) child.kill('SIGKILL');
});

export async function newNats(): Promise<TestNats> {
  const program = findProgram();
  const folder = temporaryFolder();
  const file = join(folder, 'nats.conf');
  const port = await freePort();
  const url = `nats://127.0.0.1:${port}`;
  const wsUrl = `ws://127.0.0.1:${await freePort()}`;
  let child: ChildProcess | undefined;
  return { url, wsUrl, folder, env: { BUS_URL: url, BUS_WS_URL: wsUrl }, start, kill, restart: run, connect: dial };

  async function start(configuration: string): Promise<void> {
    writeFileSync(file, configuration);
    await run();
  }

  async function run(): Promise<void> {
    const server = spawn(program, ['--config', file], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    server.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk).slice(-4000);
    });
    running.add(server);
    child = server;
    const patience = Date.now() + UP_WITHIN_MS;
    while (!(await answers(port))) {
      if (server.exitCode !== null || Date.now() > patience) throw new Error(`nats-server does not start:\n${said}`);
    }
  }

  async function kill(): Promise<void> {
    const server = child;
    if (!server || server.exitCode !== null) return;
    const gone = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await gone;
    running.delete(server);
  }

  async function dial(credentials: string, { inboxPrefix, websocket = false }: ConnectOptions = {}) {
    const options = {
      servers: websocket ? wsUrl : url,
      authenticator: credsAuthenticator(Buffer.from(credentials)),
      reconnect: false,
      timeout: CONNECT_WITHIN_MS,
      ...(inboxPrefix !== undefined && { inboxPrefix }),
    };
    const connection = await (websocket ? wsconnect(options) : connect(options));
    open.add(connection);
    return connection;
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = knock(port, '127.0.0.1');
    const done = (isUp: boolean) => {
      socket.destroy();
      setTimeout(resolve, isUp ? 0 : 20, isUp);
    };
    // NATS sends a greeting. A port that is merely open may not be ready yet.
    socket.once('data', () => done(true)).once('error', () => done(false));
  });
}

function findProgram(): string {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin'];
  const found = folders.map((folder) => join(folder, 'nats-server')).find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new Error(
    'The tests need a real NATS server, and none is installed here.\n\n    apt-get install nats-server\n',
  );
}
