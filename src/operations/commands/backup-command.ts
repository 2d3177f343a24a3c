import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Config } from '../../base/config/config.ts';
import { AppError } from '../../base/errors.ts';
import { createKeys, findRoot, keyPath } from '../../base/keys.ts';
import { RELEASE_VERSION } from '../../base/release.ts';
import type { Db } from '../../db/db.ts';
import { keepLastBackup } from '../../db/last-backup.store.ts';
import { createRingStore } from '../../vault/ring.store.ts';
import { opensSlots } from '../../vault/ring.ts';
import { backUp } from '../backup/backup.ts';
import { schemaOf } from '../backup/format.ts';
import { copyForBackup, openSource, type Source } from '../backup/source.ts';
import { askServer, type RunInServer } from '../command-socket.ts';
import { callerPath, createProgress, onlyFile, type Terminal } from './terminal.ts';

/** An argument that no user gives. */
const DONE = '--done';

/** `atrium backup FILE`. */
export async function runBackup(args: readonly string[], config: Config, terminal: Terminal): Promise<void> {
  const options = { 'with-keys': { type: 'boolean' } } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const file = callerPath(onlyFile(positionals, 'atrium backup FILE [--with-keys]'));
  rejectPlace(file);
  const began = performance.now();
  const source = await openSource(config, terminal.complain);
  const progress = createProgress(terminal, 'saved');
  try {
    const rootKey = values['with-keys'] ? await rightRoot(source.db, config) : undefined;
    const now = new Date();
    const manifest = await backUp({
      db: source.db,
      file,
      version: RELEASE_VERSION,
      now,
      rootKey,
      onProgress: progress.show,
    });
    progress.end();
    await noteBackup(source, config, terminal);
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const mib = (statSync(file).size / 2 ** 20).toFixed(1);
    terminal.say(
      `${file}: ${rows} rows of ${manifest.tables.length} tables, schema ${schemaOf(manifest)}, ` +
        `${mib} MiB, in ${seconds} s`,
    );
    if (source.waitedMs !== undefined)
      terminal.say(`the server kept running; its statements waited ${Math.ceil(source.waitedMs)} ms`);
  } finally {
    progress.end();
    await source.close();
  }
  terminal.complain(values['with-keys'] ? WITH_KEYS : withoutKeys(config));
}

/** The file is complete, so whatever keeps the time from being noted is only reported. */
async function noteBackup(source: Source, { DATA_DIR }: Config, terminal: Terminal): Promise<void> {
  try {
    if (source.waitedMs === undefined) await keepLastBackup(source.db.query);
    else await askServer(DATA_DIR, { argv: ['backup', DONE] }, () => undefined);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    terminal.complain(`NOTE: the metric atrium_backup_age_seconds does not know of this backup: ${reason}`);
  }
}

/** What this command asks of the server with the built-in database: a copy, and then to note that there is a backup. */
export function backUpIn(args: readonly string[]): RunInServer {
  return args[0] === DONE ? ({ db }) => keepLastBackup(db.query) : copyIn();
}

/** The server with the built-in database copies its files, and this process reads the copy. */
function copyIn(): RunInServer {
  return ({ db, config }, print) => copyForBackup(db, config.DATA_DIR, print);
}

const WITH_KEYS =
  'WARNING: the file contains the root key: anyone who has it can open every secret in it. Protect it like a password.';

function withoutKeys({ ATRIUM_KEY, DATA_DIR }: Config): string {
  const where = ATRIUM_KEY ? 'ATRIUM_KEY' : resolve(keyPath(DATA_DIR));
  const note = 'the root key is NOT in the file, and without it the secrets and tokens in the file are useless';
  return `NOTE: ${note}. Back up ${where} as well, in another place.`;
}

function rejectPlace(file: string): void {
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (isFolder(file)) throw new AppError('invalid', `${file} is a folder; name a file in it`);
  if (!isFolder(dirname(file))) throw new AppError('notFound', `there is no folder ${dirname(file)}; create it first`);
}

/** A key that does not open the backup that it is part of would be worse than none. */
async function rightRoot(db: Db, { ATRIUM_KEY, DATA_DIR }: Config): Promise<Buffer> {
  const root = findRoot(ATRIUM_KEY, DATA_DIR);
  if (root) {
    const keys = createKeys(root);
    const slots = await createRingStore(db).slots(keys.fingerprint);
    if (
      opensSlots(
        keys,
        slots.map((slot) => ({ ...slot, root: keys.fingerprint })),
      )
    )
      return root;
  }
  throw new AppError(
    'conflict',
    'the root key of this database is not available; set ATRIUM_KEY, or back up without --with-keys',
  );
}
