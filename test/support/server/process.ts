import { type ChildProcess, spawn } from 'node:child_process';
import { basename, dirname, extname, resolve } from 'node:path';
import { after } from 'node:test';
import { temporaryFolder } from './db.ts';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly ms: number;
}

/** A server as in production: a process of its own, controlled by its environment and by signals. */
export interface ServerProcess {
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves with the address when the server prints that it listens. Rejects if the server ends before that. */
  listening(): Promise<string>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
}

interface ServerOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly main?: string;
  /** Of Node itself, such as `--import`. */
  readonly flags?: readonly string[];
  /** A shell command that is run first in the same process, such as `ulimit`. */
  readonly prelude?: string;
  readonly cwd?: string;
}

/** The built-in database is WebAssembly. Optimizing it takes longer than a server under test lives. */
const FLAGS = ['--liftoff-only'];
/** What `npm start` runs: the sources in a few files, which are loaded in less than half of the time. */
const { TEST_SERVER = 'src/main.ts' } = process.env;
const running = new Set<ChildProcess>();
after(() => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * The part of the environment that our processes get. With previously compiled code, they start in a third of the time.
 */
export function surroundings(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}

export function startServer(options: ServerOptions = {}): ServerProcess {
  const { env = {}, args = [], main = 'src/main.ts', flags = [], prelude, cwd } = options;
  const started = performance.now();
  const words = [process.execPath, ...FLAGS, ...flags, programOf(main), ...args];
  const [command = '', ...rest] = prelude === undefined ? words : ['sh', '-c', `${prelude}; exec "$@"`, 'sh', ...words];
  const child = spawn(command, rest, {
    // In its own folder, so that it finds neither a .env file nor a developer's data.
    cwd: cwd ?? temporaryFolder(),
    // No load balancer needs time to notice that a server under test is ending.
    env: { ...surroundings(), PORT: '0', ADMIN_PORT: '0', SHUTDOWN_DELAY_MS: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(child);
      resolve({ code, signal, ms: performance.now() - started });
    });
  });
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    kill: (signal) => void child.kill(signal),
    ended,
    listening: () =>
      new Promise((resolve, reject) => {
        const look = () => {
          const address = /^listening on (http:\S+)$/m.exec(stdout)?.[1];
          if (address !== undefined) resolve(address);
        };
        child.stdout.on('data', look);
        look();
        void ended.then(() => reject(new Error(`the server ended before it listened:\n${stdout}${stderr}`)));
      }),
  };
}

function programOf(main: string): string {
  if (main !== 'src/main.ts' && main !== 'src/cli.ts') return resolve(main);
  return resolve(dirname(TEST_SERVER), basename(main, '.ts') + extname(TEST_SERVER));
}

export function get(url: string, token?: string): Promise<Response> {
  return fetch(url, { headers: { Connection: 'close', ...(token && { Authorization: `token ${token}` }) } });
}
