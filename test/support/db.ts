import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { type Db, type DbOptions, openDb } from '../../src/db/db.ts';
import { migrate } from '../../src/db/migrate.ts';
import { readMigrations } from '../../src/db/migration-files.ts';
import { createDatabase, createTemplate, startPostgres, type TestPostgres } from './postgres.ts';

export type Driver = Db['driver'];
export const DRIVERS: readonly Driver[] = ['pglite', 'postgres'];

/** Where a test database lives; opening it twice gives two connections (PostgreSQL) or a refusal (PGlite). */
export type Place = Pick<DbOptions, 'databaseUrl' | 'dataDir'>;

/** What a fresh database already holds. It is made once per key and then copied. */
export interface Template {
  readonly key: string;
  make(db: Db): Promise<void>;
}

const EMPTY: Template = { key: 'empty', make: async () => {} };
const WEEK_MS = 604_800_000;
const quiet = { say: () => {} };
const folders: string[] = [];
let server: Promise<TestPostgres> | undefined;

after(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  await (await server)?.stop();
});

/** A database that has had all migrations of the folder. */
export function migrated(folder = 'migrations'): Template {
  const key = readMigrations(folder).map(({ checksum }) => checksum);
  return { key: `migrated ${key.join()}`, make: async (db) => void (await migrate(db, folder, () => {})) };
}

/** A fresh database for this test file, removed when the file is through. */
export async function newPlace(driver: Driver, template: Template = EMPTY): Promise<Place> {
  const dataDir = temporaryFolder();
  if (driver === 'pglite') {
    cpSync(await pgliteTemplate(template), join(dataDir, 'pglite'), { recursive: true });
    return { dataDir };
  }
  const url = await serverUrl();
  if (template === EMPTY) return { dataDir, databaseUrl: await createDatabase(url) };
  const name = await createTemplate(url, `template_${digest(template.key)}`, (databaseUrl) =>
    fill({ dataDir, databaseUrl }, template),
  );
  return { dataDir, databaseUrl: await createDatabase(url, name) };
}

export async function openTestDb(driver: Driver, options: Partial<DbOptions> = {}, template = EMPTY): Promise<Db> {
  return openDb({ ...quiet, ...(await newPlace(driver, template)), ...options });
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-test-'));
  folders.push(folder);
  return folder;
}

/** scripts/test.mjs starts one server for the whole run; a file that runs alone starts its own. */
export async function serverUrl(): Promise<string> {
  if (process.env.TEST_DATABASE_URL) return process.env.TEST_DATABASE_URL;
  server ??= startPostgres();
  return (await server).url;
}

/**
 * A PGlite folder takes seconds to make and a tenth of one to copy, so it is kept between runs. It is made aside and
 * renamed, because test files run side by side.
 */
async function pgliteTemplate(template: Template): Promise<string> {
  const makers = ['package-lock.json', 'src/db/pglite-files.ts'].map((path) => readFileSync(path, 'utf8'));
  const folder = join('.cache', `pglite-${digest([...makers, template.key].join())}`);
  if (existsSync(folder)) {
    utimesSync(folder, new Date(), new Date());
    return folder;
  }
  mkdirSync('.cache', { recursive: true });
  removeOldTemplates();
  const draft = mkdtempSync(join('.cache', 'pglite-draft-'));
  if (template !== EMPTY) cpSync(await pgliteTemplate(EMPTY), join(draft, 'pglite'), { recursive: true });
  await fill({ dataDir: draft }, template);
  try {
    renameSync(join(draft, 'pglite'), folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
  rmSync(draft, { recursive: true, force: true });
  return folder;
}

/** Every change of the migrations makes a new one of some 30 MB; one that was used is touched. */
function removeOldTemplates(): void {
  for (const name of readdirSync('.cache').filter((entry) => entry.startsWith('pglite-'))) {
    const folder = join('.cache', name);
    if (Date.now() - statSync(folder).mtimeMs > WEEK_MS) rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(place: Place, template: Template): Promise<void> {
  const db = await openDb({ ...quiet, ...place });
  await template.make(db).finally(() => db.close());
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
