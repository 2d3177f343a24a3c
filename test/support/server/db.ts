import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { type Db, type DbOptions, openDb } from '../../../src/db/db.ts';
import { migrate } from '../../../src/db/migrate.ts';
import type { StartBackend } from '../../../src/db/pglite/pglite-backend.ts';
import { createDatabase, createTemplate, startPostgres, type TestPostgres } from '../services/postgres.ts';
import { lacks } from '../services/requirements.ts';

export type Driver = Db['driver'];
/** Both, or only PGlite on a machine without PostgreSQL. */
export const DRIVERS: readonly Driver[] = lacks('postgresql') ? ['pglite'] : ['pglite', 'postgres'];
/** For tests that pass on either: the cheaper one. */
export const ANY_DRIVER: Driver = lacks('postgresql') ? 'pglite' : 'postgres';

/** Where a test database is. Opening it twice gives two connections (PostgreSQL) or an error (PGlite). */
export type Place = Pick<DbOptions, 'databaseUrl' | 'dataDir'>;

/** What a fresh database already contains. It is created once per key and then copied. */
export interface Template {
  readonly key: string;
  /** Fills the database. Its result is passed to everyone who gets a copy. */
  make(place: Place): Promise<string>;
}

const EMPTY: Template = {
  key: 'empty',
  make: async (place) => {
    await (await openDb({ ...quiet, ...place })).close();
    return '';
  },
};
const CACHE = '.cache';
const WEEK_MS = 604_800_000;
const quiet = { say: () => {} };
const folders: string[] = [];
let server: Promise<TestPostgres> | undefined;

after(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  await (await server)?.stop();
});

/** Changes with everything that can change the content of a template. */
export const SOURCES_KEY = digest(
  [...globSync('{src,packages/*/src,migrations}/**/*.{ts,sql,fga,json}').sort(), 'package-lock.json'].map((path) =>
    readFileSync(path, 'utf8'),
  ),
);

/** A database with all migrations of the folder. */
export function migrated(folder = 'migrations'): Template {
  return {
    key: `migrated ${SOURCES_KEY} ${folder}`,
    make: async (place) => {
      const db = await openDb({ ...quiet, ...place });
      await migrate(db, folder, () => {}).finally(() => db.close());
      return '';
    },
  };
}

/** A fresh database for this test file, removed at the end of the file. */
export async function newPlace(driver: Driver = ANY_DRIVER, template: Template = EMPTY): Promise<Place> {
  return (await newCopy(driver, template)).place;
}

/** Like newPlace, with the result of the template's make(). */
export async function newCopy(driver: Driver, template: Template): Promise<{ place: Place; note: string }> {
  const dataDir = temporaryFolder();
  if (driver === 'pglite') {
    const folder = await pgliteTemplate(template);
    copyFolder(join(folder, 'pglite'), join(dataDir, 'pglite'));
    return { place: { dataDir }, note: readFileSync(join(folder, 'note'), 'utf8') };
  }
  const url = await serverUrl();
  if (template === EMPTY) return { place: { dataDir, databaseUrl: await createDatabase(url) }, note: '' };
  const { name, note } = await postgresTemplate(url, template);
  return { place: { dataDir, databaseUrl: await createDatabase(url, name) }, note };
}

/**
 * Runs PGlite in the thread of the test, so that a test that moves its own clock moves that of the database. PGlite is
 * much to load, and few tests need it.
 */
export const inThisThread: StartBackend = async (options, watch) =>
  (await import('../../../src/db/pglite/pglite-backend.ts')).startBackend(options, watch);

export async function openTestDb(driver: Driver, options: Partial<DbOptions> = {}, template = EMPTY): Promise<Db> {
  return openDb({ ...quiet, ...(await newPlace(driver, template)), ...options });
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-test-'));
  folders.push(folder);
  return folder;
}

/**
 * All tests together keep the server of the runner busy, on a machine that may be busy with other things, too. Tests of
 * a server that falls silent have one of their own, or say how long they wait.
 */
export function patienceWith({ DATABASE_URL = '', DATABASE_TIMEOUT_MS }: Readonly<Record<string, string>>): number {
  const shared = process.env.TEST_DATABASE_URL;
  const isShared = shared !== undefined && DATABASE_URL.includes(`@${new URL(shared).host}/`);
  return isShared && DATABASE_TIMEOUT_MS === undefined ? 5 : 1;
}

/** The runner starts one server for the whole run. A file that runs without it starts its own. */
export async function serverUrl(): Promise<string> {
  if (process.env.TEST_DATABASE_URL) return process.env.TEST_DATABASE_URL;
  server ??= startPostgres();
  return (await server).url;
}

/** Asked for by every file of a process. */
const known = new Map<string, ReturnType<typeof createTemplate>>();

export function postgresTemplate(url: string, template: Template): ReturnType<typeof createTemplate> {
  const key = `${url} ${template.key}`;
  const created =
    known.get(key) ??
    createTemplate(url, `template_${digest([template.key])}`, (databaseUrl) =>
      template.make({ databaseUrl, dataDir: temporaryFolder() }),
    );
  known.set(key, created);
  return created;
}

/**
 * A PGlite folder takes seconds to create and a tenth of a second to copy, so it is kept between runs. It is created
 * elsewhere and renamed, because test files run in parallel.
 */
async function pgliteTemplate(template: Template): Promise<string> {
  const isEmpty = template === EMPTY;
  const makers = ['package-lock.json', 'src/db/pglite/pglite-files.ts'].map((path) => readFileSync(path, 'utf8'));
  const folder = join(CACHE, `pglite-${digest([...makers, template.key])}`);
  if (isCached(folder)) return folder;
  const draft = newDraft('pglite');
  if (!isEmpty) copyFolder(join(await pgliteTemplate(EMPTY), 'pglite'), join(draft, 'pglite'));
  writeFileSync(join(draft, 'note'), await template.make({ dataDir: draft }));
  keepDraft(draft, folder);
  return folder;
}

/** True if the folder exists; marks it as used today. */
export function isCached(folder: string): boolean {
  if (!existsSync(folder)) return false;
  utimesSync(folder, new Date(), new Date());
  return true;
}

/** A folder for a new cache entry, which keepDraft moves into its place. */
export function newDraft(kind: 'pglite' | 'postgres'): string {
  mkdirSync(CACHE, { recursive: true });
  // Every change of the sources creates a new one of about 30 MB.
  for (const name of readdirSync(CACHE)) {
    const folder = join(CACHE, name);
    if (Date.now() - statSync(folder).mtimeMs > WEEK_MS) rmSync(folder, { recursive: true, force: true });
  }
  return mkdtempSync(join(CACHE, `draft-${kind}-`));
}

export function keepDraft(draft: string, folder: string): void {
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(folder)) throw error;
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Copies owners and modes, and is faster than Node. */
export function copyFolder(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to]);
}

export function digest(texts: readonly string[]): string {
  return createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 12);
}
