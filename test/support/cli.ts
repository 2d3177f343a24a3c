import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { temporaryFolder } from './db.ts';
import type { TestHouse } from './house.ts';

export interface Said {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What is piped in; nothing at all unless said. */
  readonly input?: string;
  readonly cwd?: string;
}

export interface Cli {
  (line: string | readonly string[], options?: CliOptions): Promise<Said>;
  /** The config folder of this user. */
  readonly home: string;
}

const PROGRAM = resolve('bin/atrium.mjs');

/** The real program, as a process of its own, with a home folder of its own and nothing of the developer's environment. */
export function openCli(defaults: Readonly<Record<string, string>> = {}): Cli {
  const home = temporaryFolder();
  const run = (line: string | readonly string[], { env = {}, input, cwd }: CliOptions = {}) =>
    new Promise<Said>((done) => {
      const args = typeof line === 'string' ? words(line) : line;
      const child = spawn(process.execPath, [PROGRAM, ...args], {
        cwd: cwd ?? home,
        env: {
          PATH: process.env.PATH ?? '',
          HOME: home,
          XDG_CACHE_HOME: resolve('node_modules/.cache'),
          ...defaults,
          ...env,
        },
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
  return Object.assign(run, { home });
}

/** As somebody of the cast, in acme. */
export function cliAs(house: TestHouse, name: string, env: Readonly<Record<string, string>> = {}): Cli {
  const token = house.world.users[name]?.token;
  if (token === undefined) throw new Error(`nobody is called ${name}`);
  return openCli({ ATRIUM_URL: house.url, ATRIUM_TOKEN: token, ATRIUM_ORG: 'acme', ...env });
}

export function configFile(cli: Cli): string {
  return join(cli.home, '.config', 'atrium', 'config.json');
}

/** A line as a shell would cut it, with double quotes. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
}
