import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Tuple } from '../../packages/rebac/src/rebac.ts';
import type { Question } from './world.ts';

/** Another engine, loaded with the same world. */
export interface Peer {
  /** The permissions that the user has on the object, in any order. */
  ask(question: Question): Promise<string[]> | string[];
  stop(): Promise<void> | void;
}

export interface PeerKind {
  readonly name: string;
  readonly version: string;
  /** What the caller has to do for it, or how it is queried. */
  readonly note: string;
  start(load: (entry: string) => Promise<unknown>, tuples: readonly Tuple[], folder: string): Promise<Peer>;
}

/**
 * Peers are up to a hundred megabytes each, so they are not dependencies. They are installed separately, once per
 * machine.
 */
export const PEER_FOLDER = join(tmpdir(), 'atrium-bench-peers');

export function install(name: string, version: string): void {
  mkdirSync(PEER_FOLDER, { recursive: true });
  if (!existsSync(join(PEER_FOLDER, 'package.json')))
    writeFileSync(join(PEER_FOLDER, 'package.json'), '{"private":true}');
  const spec = `${name}@${version}`;
  // npm passes on the settings of this repository, which do not apply to packages outside of it.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  const { status, stderr } = spawnSync('npm', ['install', '--no-audit', '--no-fund', spec], {
    cwd: PEER_FOLDER,
    encoding: 'utf8',
    env,
    timeout: 180_000,
  });
  if (status !== 0) throw new Error(`npm install ${spec} failed: ${stderr.trim().split('\n').at(-1) ?? ''}`);
}

export async function load(entry: string): Promise<unknown> {
  const require = createRequire(join(PEER_FOLDER, 'package.json'));
  return import(pathToFileURL(require.resolve(entry)).href);
}
