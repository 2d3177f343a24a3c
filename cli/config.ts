import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { misuse, rejected } from './failure.ts';

/** A server and an account on it. */
export interface Context {
  readonly url: string;
  readonly token?: string;
  /** Set if signing in created the token, so that signing out can revoke it. */
  readonly tokenId?: string;
  readonly user?: string;
  readonly org?: string;
}

export interface Config {
  readonly current?: string;
  readonly contexts: Readonly<Record<string, Context>>;
}

const OTHERS = 0o077;

export function configPath(env: NodeJS.ProcessEnv = process.env): string {
  if (process.platform === 'win32' && env.APPDATA) return join(env.APPDATA, 'atrium', 'config.json');
  // The XDG specification says to ignore a relative path.
  const base = env.XDG_CONFIG_HOME?.startsWith('/') ? env.XDG_CONFIG_HOME : join(env.HOME || homedir(), '.config');
  return join(base, 'atrium', 'config.json');
}

/** Rejects a file that other users of the machine can read, because its tokens have to be considered leaked. */
export function readConfig(path: string): Config {
  const text = readPrivate(path);
  if (text === undefined) return { contexts: {} };
  try {
    const { current, contexts } = JSON.parse(text) as Partial<Config>;
    if (typeof contexts !== 'object' || contexts === null) throw new TypeError('no contexts');
    for (const one of Object.values(contexts)) if (typeof one?.url !== 'string') throw new TypeError('no url');
    return { contexts, ...(typeof current === 'string' && { current }) };
  } catch {
    throw misuse(`${path} is not a valid config file; fix it, or delete it and run atrium login`);
  }
}

function readPrivate(path: string): string | undefined {
  try {
    if (process.platform !== 'win32' && (statSync(path).mode & OTHERS) !== 0) {
      throw misuse(`other users can read ${path}, which contains tokens; run chmod 600 ${path}`);
    }
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw misuse(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** Writes the file completely or not at all, readable by this user only. */
export function writeConfig(named: string, config: Config): void {
  // If the path is a link to a file elsewhere, the link stays.
  const path = existsSync(named) ? realpathSync(named) : named;
  const draft = `${path}.${process.pid}.${Date.now()}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    chmodSync(draft, 0o600);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw rejected(`cannot write ${path}: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`);
  }
}
