import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../base/config/config.ts';
import { AppError } from '../../base/errors.ts';
import { readJson, writeJson } from '../../base/json.ts';
import { keyPath } from '../../base/keys.ts';
import type { Instance } from '../../instance.ts';
import { startAgents } from './agents.ts';
import { buildMarketplace } from './demo-marketplace.ts';
import { buildWorld, type DemoWorld } from './world.ts';

/** The default settings of a demo. Its address ranges are reserved for documentation, so no caller is in them. */
export const DEMO_SETTINGS = {
  RUN_MODE: 'dev',
  CLOUD_A_RANGES: fileURLToPath(new URL('./address-ranges.json', import.meta.url)),
};

/** Creates the demo world in an empty database and leaves an existing one as it is. */
export async function openDemo(
  instance: Instance,
  config: Config,
  address: string,
  say: (line: string) => void,
): Promise<void> {
  const path = join(config.DATA_DIR, 'demo.json');
  const unfinished = `${path}.unfinished`;
  const baseUrl = config.BASE_URL ?? address;
  if (await instance.features.users.anyAccount()) {
    if (existsSync(path)) {
      moveTo(baseUrl, path);
      await addMarketplace(instance, config, path, say);
      await openAgents(instance, path, say);
      say(`the example data already exists; its tokens are in ${path}`);
    } else if (existsSync(unfinished)) {
      throw new AppError('conflict', halfMade(config, unfinished));
    } else {
      say(`the database is not empty, so no example data is created; to get it, set another DATA_DIR or DATABASE_URL`);
    }
    return;
  }
  say('creating the example data');
  // With PostgreSQL and ATRIUM_KEY, nothing else has needed the folder so far.
  mkdirSync(config.DATA_DIR, { recursive: true, mode: 0o700 });
  writeFileSync(unfinished, 'The demo world is being created.\n');
  const world = await buildWorld(instance);
  write(path, { baseUrl, ...world });
  rmSync(unfinished);
  table(world, say);
  await addMarketplace(instance, config, path, say);
  await openAgents(instance, path, say);
  say('');
  say(`all of this is also in ${path}`);
}

async function openAgents({ features }: Instance, path: string, say: (line: string) => void): Promise<void> {
  const world = readJson(readFileSync(path)) as DemoWorld;
  await startAgents(features, world, (error) => say(`a cluster of the demo could not report: ${String(error)}`));
}

/** The tokens are lost with the process that created them, so the demo cannot continue from there. */
function halfMade(config: Config, unfinished: string): string {
  const key = keyPath(config.DATA_DIR);
  const files = existsSync(key) ? `${unfinished} and ${key}` : unfinished;
  const what = config.DATABASE_URL
    ? `empty the database of DATABASE_URL and remove ${files}`
    : `remove the folder ${config.DATA_DIR}`;
  return `an earlier start was interrupted and left the demo world incomplete; ${what}, then start again`;
}

/** The demo world stays as it is, but it may now be served under another address. */
function moveTo(baseUrl: string, path: string): void {
  const demo = readJson(readFileSync(path)) as { baseUrl: string };
  if (demo.baseUrl !== baseUrl) write(path, { ...demo, baseUrl });
}

/** Also adds to a demo world that was created with another DEPLOYMENT. */
async function addMarketplace(
  instance: Instance,
  config: Config,
  path: string,
  say: (line: string) => void,
): Promise<void> {
  const demo = readJson(readFileSync(path)) as object;
  if (config.DEPLOYMENT !== 'marketplace' || 'marketplace' in demo) return;
  const marketplace = await buildMarketplace(instance.features);
  write(path, { ...demo, marketplace });
  say('');
  for (const [name, secret] of Object.entries(marketplace.secrets)) say(`${`secret of ${name}`.padEnd(26)}${secret}`);
  for (const [name, id] of Object.entries(marketplace.installers)) say(`${`installer ${name}`.padEnd(26)}${id}`);
}

/**
 * Writes a draft and renames it: the file is never incomplete and never readable by other users, whatever was there
 * before.
 */
function write(path: string, demo: object): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${writeJson(demo, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

function table(world: DemoWorld, say: (line: string) => void): void {
  say('');
  say(`${'user'.padEnd(6)}${'password'.padEnd(20)}token`);
  for (const [name, user] of Object.entries(world.users)) {
    if (user.token) say(`${name.padEnd(6)}${(user.password ?? '').padEnd(20)}${user.token}`);
  }
}
