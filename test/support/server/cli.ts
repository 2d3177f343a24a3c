import { type ChildProcess, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { after } from 'node:test';
import { IS_WHOLE } from '../../counts.ts';
import { temporaryFolder } from './db.ts';
import type { TestServer } from './server.ts';

export interface Said {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What is piped in; nothing by default. */
  readonly input?: string;
  readonly cwd?: string;
}

export interface Cli {
  (line: string | readonly string[], options?: CliOptions): Promise<Said>;
  /** The home folder of this user. */
  readonly home: string;
}

export interface CommandLine {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string;
}

type Run = (line: CommandLine) => Promise<Said>;

const PROGRAM = resolve('bin/atrium.mjs');
const RUNNER = join(import.meta.dirname, 'cli-runner.ts');

/**
 * The program, with its own home folder and without the developer's environment. All lines run in one process; `npm run
 * test:long -- cli` starts one for each.
 */
export function openCli(defaults: Readonly<Record<string, string>> = {}): Cli {
  return openWith(IS_WHOLE ? runInOwnProcess : runInSharedProcess, defaults);
}

/** Like openCli, with a process for each line: for tests of how the process starts, reads its input and ends. */
export function openCliProcess(defaults: Readonly<Record<string, string>> = {}): Cli {
  return openWith(runInOwnProcess, defaults);
}

/** The program as a user of the demo world, in acme. */
export function cliAs(atrium: TestServer, name: string, env: Readonly<Record<string, string>> = {}): Cli {
  const token = atrium.world.users[name]?.token;
  if (token === undefined) throw new Error(`nobody is called ${name}`);
  return openCli({ ATRIUM_URL: atrium.url, ATRIUM_TOKEN: token, ATRIUM_ORG: 'acme', ...env });
}

export function configFile(cli: Cli): string {
  return join(cli.home, '.config', 'atrium', 'config.json');
}

function openWith(run: Run, defaults: Readonly<Record<string, string>>): Cli {
  const home = temporaryFolder();
  const cli = (line: string | readonly string[], { env = {}, input, cwd = home }: CliOptions = {}) =>
    run({
      args: typeof line === 'string' ? words(line) : line,
      cwd,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: home,
        XDG_CACHE_HOME: resolve('node_modules/.cache'),
        ...defaults,
        ...env,
      },
      ...(input !== undefined && { input }),
    });
  return Object.assign(cli, { home });
}

function runInOwnProcess({ args, cwd, env, input }: CommandLine): Promise<Said> {
  return new Promise((done) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      cwd,
      env,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
    });
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
    child.once('close', (code, signal) => done({ code, signal, stdout, stderr }));
  });
}

let runner: ChildProcess | undefined;
let lines = 0;
after(() => void runner?.kill());

function runInSharedProcess(line: CommandLine): Promise<Said> {
  runner ??= startRunner();
  const child = runner;
  const id = ++lines;
  return new Promise((done, fail) => {
    const hear = (message: { id: number; said: Said }) => {
      if (message.id !== id) return;
      child.off('message', hear).off('exit', end);
      done(message.said);
    };
    const end = () => fail(new Error(`the process that runs command lines ended at: ${line.args.join(' ')}`));
    child.on('message', hear).once('exit', end);
    child.send({ id, line });
  });
}

function startRunner(): ChildProcess {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(process.execPath, [RUNNER], {
    env: { PATH, NODE_COMPILE_CACHE },
    // Not a terminal, whatever the tests run in. Messages of Node itself go to standard error.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  child.stderr?.pipe(process.stderr);
  child.once('exit', () => {
    runner = undefined;
  });
  return child;
}

/** Splits a line as a shell would, with double quotes. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}
