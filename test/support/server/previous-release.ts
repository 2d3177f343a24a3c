import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { lastNumber, type MigrationFile, readMigrations } from '../../../src/db/migration-files.ts';

export interface Release {
  /** What `git` knows it by. */
  readonly name: string;
  /** The number of its last migration. */
  readonly migrations: number;
  /** Its server, with its own packages next to it. */
  readonly main: string;
}

/** The number of the last migration of the oldest release that may run on the newest schema. */
export function oldestCompatible(folder = 'migrations'): number {
  const files = readMigrations(folder);
  const later = (number: number) => files.filter((file) => file.number > number);
  const runs = (number: number) => later(number).every(({ compatibleFrom }) => compatibleFrom <= number);
  return files.find(({ number }) => runs(number))?.number ?? lastNumber(files);
}

/** What an older release would miss, or fail on. */
const TAKEN_AWAY = [
  /\bdrop\s+table\b/,
  /\balter\s+table\b.*\bdrop\s+(?!constraint\b|default\b|not\b|identity\b|expression\b)\w/,
  /\balter\s+table\b.*\brename\b/,
  /\balter\s+(?:column\s+)?\w+\s+(?:set\s+data\s+)?type\b/,
  /\balter\s+(?:column\s+)?\w+\s+(?:set\s+not\s+null|drop\s+default)\b/,
  /\badd\s+(?:column\s+)?(?:if\s+not\s+exists\s+)?\w+(?:(?!\bdefault\b|\bgenerated\b|,|\bcheck\b).)*\bnot\s+null\b(?!(?:(?!,).)*\b(?:default|generated)\b)/,
];

/** A table that is gone, or has another name. */
const REPLACEABLE = /\b(?:drop table|alter table) (\w+)(?: rename to \w+)?$/;

/** The statements of a migration that an older release cannot live with, although it declares that one can. */
export function contractions({
  number,
  compatibleFrom,
  text,
}: Pick<MigrationFile, 'number' | 'compatibleFrom' | 'text'>) {
  if (compatibleFrom === number) return [];
  const statements = text.replace(/--.*$/gm, '').toLowerCase().replace(/\s+/g, ' ').split(';');
  // A view of the same name serves older releases as the table did. The lane `upgrades` tries it.
  const views = new Set(statements.map((statement) => /\bcreate view (\w+)/.exec(statement)?.[1]));
  const isReplaced = (statement: string) => views.has(REPLACEABLE.exec(statement)?.[1] ?? '');
  return statements.filter((one) => TAKEN_AWAY.some((pattern) => pattern.test(one)) && !isReplaced(one));
}

/**
 * The release before this one, ready to run: the last tag or, if that is too old for the newest schema or there is
 * none, the last commit with the oldest schema that the migrations declare compatible. UPGRADE_FROM names another.
 * Returns a sentence if there is none here, because a copy without its history has no previous release.
 */
export function previousRelease(): Release | string {
  if (git('rev-parse', '--git-dir') === undefined) return 'this is no git repository, so there is no previous release';
  const oldest = oldestCompatible();
  const tag = git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD^');
  const commit = [process.env.UPGRADE_FROM, tag].find((one) => one !== undefined && migrationsOf(one) >= oldest);
  const name = commit ?? lastWith(oldest);
  if (name === undefined)
    return `the history here (a shallow clone?) has no release that ends at migration ${oldest} or later`;
  const migrations = migrationsOf(name);
  if (migrations >= lastNumber(readMigrations('migrations')) && process.env.UPGRADE_FROM === undefined) {
    return `${name} has the same schema as this release, so there is nothing to upgrade`;
  }
  const folder = place(name);
  return typeof folder === 'string' ? { name, migrations, main: join(folder, 'src', 'main.ts') } : folder.missing;
}

/** The newest commit of the main line whose schema ends there. */
function lastWith(number: number): string | undefined {
  const changes = git('log', '--first-parent', '--format=%h', '--', 'migrations')?.split('\n') ?? [];
  const at = changes.findIndex((commit) => migrationsOf(commit) <= number);
  if (at === -1 || migrationsOf(changes[at] ?? '') !== number) return undefined;
  return at === 0 ? undefined : git('rev-parse', '--short', `${changes[at - 1]}^1`);
}

function migrationsOf(commit: string): number {
  const names = git('ls-tree', '--name-only', commit, 'migrations/')?.split('\n') ?? [];
  return Math.max(0, ...names.map((name) => Number(/\/(\d{4})_.*\.sql$/.exec(name)?.[1] ?? 0)));
}

/** Unpacks a release and installs what it needs, once. */
function place(name: string): string | { readonly missing: string } {
  const commit = git('rev-parse', `${name}^{commit}`) ?? name;
  const folder = resolve('.cache', 'releases', commit);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const parts = ['src', 'migrations', 'openapi', 'console', 'package.json', 'package-lock.json', '.npmrc'];
  const archive = execFileSync('git', ['archive', commit, ...parts], { maxBuffer: 2 ** 28 });
  execFileSync('tar', ['x', '-C', draft], { input: archive });
  const options = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', ['ci', ...options], { cwd: draft, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    rmSync(draft, { recursive: true, force: true });
    return { missing: `the packages of ${name} cannot be installed here` };
  }
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another test file, in a process of its own, was faster.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function git(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' });
  return status === 0 && stdout.trim() !== '' ? stdout.trim() : undefined;
}
