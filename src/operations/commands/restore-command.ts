import { existsSync, rmSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Config } from '../../base/config/config.ts';
import { AppError } from '../../base/errors.ts';
import { createKeys, findRoot, keyPath, placeRoot } from '../../base/keys.ts';
import { MIGRATIONS } from '../../base/release.ts';
import { openDb } from '../../db/db.ts';
import { readMigrations } from '../../db/migration-files.ts';
import { erasureListPath, readErasures } from '../../users/erasure/erasure-list.ts';
import { opensSlots } from '../../vault/ring.ts';
import type { ErasedAgain } from '../backup/erased-again.store.ts';
import { type Manifest, schemaOf } from '../backup/format.ts';
import { type Inspected, inspect } from '../backup/inspection.ts';
import { rejectOtherSchema, restore } from '../backup/restore.ts';
import { callerPath, createProgress, onlyFile, type Terminal } from './terminal.ts';

/** `atrium restore FILE`: everything that can be rejected is rejected before anything changes. */
export async function runRestore(args: readonly string[], config: Config, terminal: Terminal): Promise<void> {
  const options = {
    replace: { type: 'boolean' },
    check: { type: 'boolean' },
    erased: { type: 'string', multiple: true },
  } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const file = callerPath(onlyFile(positionals, 'atrium restore FILE [--replace] [--check] [--erased LIST]'));
  const inspected = await inspect(file);
  const { manifest } = inspected;
  rejectOtherSchema(manifest, readMigrations(MIGRATIONS));
  const rootToPlace = chooseRoot(inspected, config);
  if (values.check) return void tellContents(file, manifest, terminal);
  const own = erasureListPath(config.DATA_DIR);
  const lists = [...(values.erased ?? []).map(callerPath), ...(existsSync(own) ? [own] : [])];
  const erased = [...new Set(lists.flatMap(readErasures))];

  const began = performance.now();
  const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir } = config;
  const isPooled = config.DATABASE_POOLER === 'transaction';
  const db = await openDb({ databaseUrl, isPooled, dataDir, isRestore: true, poolSize: 1, say: terminal.complain });
  const progress = createProgress(terminal, 'restored');
  let isPlaced = false;
  let erasedAgain: ErasedAgain | undefined;
  const beforeCommit = () => {
    if (!rootToPlace) return;
    placeRoot(rootToPlace, dataDir);
    isPlaced = true;
  };
  try {
    const replace = values.replace ?? false;
    const folder = { migrationsFolder: MIGRATIONS, say: terminal.complain };
    const content = { file, manifest, erased };
    erasedAgain = await restore({ db, ...content, replace, ...folder, onProgress: progress.show, beforeCommit });
  } catch (error) {
    if (isPlaced) rmSync(keyPath(dataDir), { force: true });
    throw error;
  } finally {
    progress.end();
    await db.close();
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  terminal.say(`restored ${count(manifest)}, as of ${manifest.createdAt}, in ${seconds} s`);
  tellErased(lists, manifest, erasedAgain, terminal);
  if (isPlaced) terminal.say(`wrote the root key of the backup to ${resolve(keyPath(dataDir))}`);
}

/**
 * The present root key must open the key ring of the backup. Only if there is none at all is the one in the backup
 * used: no key is ever overwritten.
 */
function chooseRoot({ slots, rootKey }: Inspected, { ATRIUM_KEY, DATA_DIR }: Config): Buffer | undefined {
  if (slots.length === 0) return undefined;
  const present = findRoot(ATRIUM_KEY, DATA_DIR);
  const opens = (root: Buffer | undefined) => root !== undefined && opensSlots(createKeys(root), slots);
  if (opens(present)) return undefined;
  const where = ATRIUM_KEY ? 'ATRIUM_KEY' : resolve(keyPath(DATA_DIR));
  if (present === undefined) {
    if (opens(rootKey)) return rootKey;
    throw new AppError(
      'conflict',
      `the root key is missing, and the backup cannot be opened without it; set ATRIUM_KEY, or put the key at ${where}`,
    );
  }
  const help = opens(rootKey)
    ? 'move it away to use the key in the backup'
    : 'use the key of the server that was backed up';
  throw new AppError('conflict', `the root key in ${where} does not open this backup, so nothing was changed; ${help}`);
}

function tellErased(
  lists: readonly string[],
  { createdAt }: Manifest,
  again: ErasedAgain | undefined,
  { say }: Terminal,
): void {
  if (lists.length === 0) {
    say(`people who were erased after ${createdAt} are back: there is no erasures.ndjson; restore with --erased LIST`);
  }
  if (!again) return;
  const { people, hasAdministrator } = again;
  const names = lists.map((list) => basename(list)).join(' and ');
  if (people > 0) say(`erased ${people === 1 ? '1 person' : `${people} people`} again, as ${names} says`);
  if (!hasAdministrator) say('no site administrator is left: every one of that time is erased');
}

function tellContents(file: string, manifest: Manifest, { say }: Terminal): void {
  const keys = manifest.withKeys ? 'with the root key' : 'without the root key';
  say(`${file} is complete: ${count(manifest)}`);
  say(
    `created at ${manifest.createdAt} by ${manifest.version} from ${manifest.driver}, ` +
      `schema ${schemaOf(manifest)}, ${keys}`,
  );
}

function count({ tables }: Manifest): string {
  return `${tables.reduce((sum, { rows }) => sum + rows, 0)} rows of ${tables.length} tables`;
}
