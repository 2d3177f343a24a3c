import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Config } from '../../base/config.ts';
import { AppError } from '../../base/errors.ts';
import { MIGRATIONS } from '../../base/release.ts';
import { type Db, openDb } from '../../db/db.ts';
import { migrate, migrationStatus } from '../../db/migrate.ts';
import { readMigrations } from '../../db/migration-files.ts';
import { askServer, type Tell } from '../command-socket.ts';
import type { Terminal } from './terminal.ts';

interface Wish {
  readonly dryRun: boolean;
  readonly status: boolean;
}

function readWish(args: readonly string[]): Wish {
  const options = { 'dry-run': { type: 'boolean' }, status: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values['dry-run'] && values.status)
    throw new AppError('invalid', 'migrate takes --dry-run or --status, not both');
  return { dryRun: values['dry-run'] ?? false, status: values.status ?? false };
}

/** `atrium migrate`: on the database itself, or by its server when the folder is in use. */
export async function runMigrate(args: readonly string[], config: Config, { say, complain }: Terminal): Promise<void> {
  const wish = readWish(args);
  const isBuiltIn = config.DATABASE_URL === undefined;
  if (isBuiltIn && (await askServer(config.DATA_DIR, { argv: ['migrate', ...args] }, say))) return;
  if (isBuiltIn && (wish.dryRun || wish.status) && !existsSync(join(config.DATA_DIR, 'pglite'))) {
    // Only looking must not make a database.
    for (const line of describe({ applied: [], pending: readMigrations(MIGRATIONS).map(({ name }) => name) }, wish))
      say(line);
    return;
  }
  const db = await openDb({ databaseUrl: config.DATABASE_URL, dataDir: config.DATA_DIR, poolSize: 1, say: complain });
  try {
    await migrateOn(db, args, say);
  } finally {
    await db.close();
  }
}

/** On a database that is open. */
export async function migrateOn(db: Db, args: readonly string[], tell: Tell): Promise<void> {
  const wish = readWish(args);
  if (wish.dryRun || wish.status) {
    const status = await db.transaction((query) => migrationStatus(query, MIGRATIONS));
    for (const line of describe(status, wish)) tell(line);
    return;
  }
  const { applied, version } = await migrate(db, MIGRATIONS, () => undefined);
  for (const name of applied) tell(`applied ${name}`);
  tell(applied.length === 0 ? `nothing to apply: the database is at ${version}` : `the database is at ${version}`);
}

type Status = Awaited<ReturnType<typeof migrationStatus>>;

function describe({ applied, pending }: Status, { status }: Wish): string[] {
  if (!status) return pending.length === 0 ? ['nothing to apply'] : pending.map((name) => `would apply ${name}`);
  return [
    ...applied.map(({ name, appliedAt }) => `applied  ${appliedAt.toISOString()}  ${name}`),
    ...pending.map((name) => `pending  ${'-'.padEnd(24)}  ${name}`),
  ];
}
