import { parseArgs } from 'node:util';
import type { Config } from '../../base/config/config.ts';
import { AppError } from '../../base/errors.ts';
import { MIGRATIONS } from '../../base/release.ts';
import { type Db, hasDatabase, openDb } from '../../db/db.ts';
import { migrate, migrationStatus } from '../../db/migrate.ts';
import { readMigrations, readView } from '../../db/migration-files.ts';
import { createRingStore } from '../../vault/ring.store.ts';
import { rejectEmptyDatabase } from '../../vault/root-key.ts';
import type { RunInServer } from '../command-socket.ts';
import { askServer, type Print } from '../command-socket.ts';
import type { Terminal } from './terminal.ts';

interface MigrateOptions {
  readonly dryRun: boolean;
  readonly status: boolean;
}

function readOptions(args: readonly string[]): MigrateOptions {
  const known = { 'dry-run': { type: 'boolean' }, status: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args: [...args], options: known });
  if (values['dry-run'] && values.status) throw new AppError('invalid', 'use either --dry-run or --status, not both');
  return { dryRun: values['dry-run'] ?? false, status: values.status ?? false };
}

/** `atrium migrate`: on the database itself, or through its server if the folder is in use. */
export async function runMigrate(
  args: readonly string[],
  config: Config,
  { say, complain }: Terminal,
  folder = MIGRATIONS,
): Promise<void> {
  const options = readOptions(args);
  const isBuiltIn = config.DATABASE_URL === undefined;
  if (isBuiltIn && (await askServer(config.DATA_DIR, { argv: ['migrate', ...args] }, say))) return;
  if (isBuiltIn && (options.dryRun || options.status) && !hasDatabase(config.DATA_DIR)) {
    // A look at the status must not create a database.
    const files = [...readMigrations(folder), readView(folder)];
    const pending = files.flatMap((file) => (file ? [file.name] : []));
    for (const line of describe({ applied: [], pending }, options)) say(line);
    return;
  }
  const db = await openDb({
    databaseUrl: config.DATABASE_URL,
    isPooled: config.DATABASE_POOLER === 'transaction',
    dataDir: config.DATA_DIR,
    poolSize: 1,
    say: complain,
  });
  try {
    if (config.ATRIUM_KEY === undefined) await rejectEmptyDatabase(createRingStore(db), config.DATA_DIR);
    await migrateOn(db, options, say, folder);
  } finally {
    await db.close();
  }
}

export function migrateIn(args: readonly string[]): RunInServer {
  const options = readOptions(args);
  return ({ db }, print) => migrateOn(db, options, print, MIGRATIONS);
}

/** Migrates a database that is open. */
async function migrateOn(db: Db, options: MigrateOptions, print: Print, folder: string): Promise<void> {
  if (options.dryRun || options.status) {
    const status = await db.transaction((query) => migrationStatus(query, folder));
    for (const line of describe(status, options)) print(line);
    return;
  }
  const { applied, version, isAhead } = await migrate(db, folder, () => undefined);
  for (const name of applied) print(`applied ${name}`);
  if (isAhead)
    print(`nothing to apply; the database is at ${version}, which is newer than this release but compatible`);
  else
    print(applied.length === 0 ? `nothing to apply; the database is at ${version}` : `the database is at ${version}`);
}

type Found = Awaited<ReturnType<typeof migrationStatus>>;
type Status = Pick<Found, 'applied' | 'pending'> & Partial<Pick<Found, 'endsOlder'>>;

function describe({ applied, pending, endsOlder }: Status, { status }: MigrateOptions): string[] {
  if (!status) {
    const advice = `stop every server of the previous release first: it cannot run after ${endsOlder}`;
    const steps = pending.map((name) => `would apply ${name}`);
    return pending.length === 0 ? ['nothing to apply'] : [...steps, ...(endsOlder === undefined ? [] : [advice])];
  }
  return [
    ...applied.map(({ name, appliedAt }) => `applied  ${appliedAt.toISOString()}  ${name}`),
    ...pending.map((name) => `pending  ${'-'.padEnd(24)}  ${name}`),
  ];
}
