import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../base/errors.ts';

export interface MigrationFile {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  readonly text: string;
  /**
   * The number of the last migration of the oldest release that can run on the schema after this one. Without a
   * declaration it is the number of this one: older releases cannot.
   */
  readonly compatibleFrom: number;
  /** For the first file, if it replaces all files up to its number. */
  readonly baseline?: Baseline;
}

/** The former migration with the same number as a baseline, whose schema is that of the baseline. */
export interface Baseline {
  readonly name: string;
  readonly checksum: string;
  /** The last commit that has the former files. */
  readonly commit: string;
}

/** A file without a number: it is applied after the migrations whenever its text has changed. */
export type ViewFile = Pick<MigrationFile, 'name' | 'checksum' | 'text'>;

/** What all migrations together make: generated, for readers only. */
const SCHEMA = 'schema.sql';
export const VIEW = 'tuples.sql';
const NAME = /^(\d{4})_[a-z0-9][a-z0-9_-]*\.sql$/;

const COMPATIBLE = /^-- compatible-from: (\d+)$/m;
const BASELINE = /^-- baseline-of: (\S+) ([0-9a-f]{64}) (\S+)$/m;

/**
 * The files `0001_what.sql`, `0002_…` of a folder, in order and without a gap. The first one has a higher number if it
 * is a baseline.
 */
export function readMigrations(folder: string): MigrationFile[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sql') && name !== SCHEMA && name !== VIEW)
    .sort();
  let expected = 1;
  return names.map((name, index) => {
    const number = Number(NAME.exec(name)?.[1]);
    if (Number.isNaN(number)) throw new AppError('internal', `${name} is not named like 0001_what.sql`);
    const { text, checksum } = readText(folder, name);
    const baseline = index === 0 ? baselineOf(text) : undefined;
    if (baseline !== undefined) expected = number;
    if (number !== expected) {
      throw new AppError('internal', `migration number ${expected} is missing or duplicated, near ${name}`);
    }
    expected += 1;
    return {
      number,
      name,
      checksum,
      text,
      compatibleFrom: compatibleFrom(name, number, text),
      ...(baseline && { baseline }),
    };
  });
}

/** The view `tuple`, unless the folder has none. */
export function readView(folder: string): ViewFile | undefined {
  return existsSync(join(folder, VIEW)) ? { name: VIEW, ...readText(folder, VIEW) } : undefined;
}

/** The number of the last migration; 0 if there is none. */
export function lastNumber(migrations: readonly Pick<MigrationFile, 'number'>[]): number {
  return migrations.at(-1)?.number ?? 0;
}

/** How the migrations of a database or a backup differ from the files of this release. */
export type Difference =
  | { readonly kind: 'changed'; readonly name: string }
  | { readonly kind: 'too old'; readonly name: string; readonly baseline: Baseline };

/**
 * The applied migrations must be exactly the first of the files, or the files that the baseline replaces. Those that are
 * later than all files are not looked at.
 */
export function findDifference(
  applied: readonly Pick<MigrationFile, 'number' | 'name' | 'checksum'>[],
  files: readonly MigrationFile[],
): Difference | undefined {
  const first = files[0];
  const last = applied.at(-1);
  const baseline = first?.baseline;
  if (first && baseline && last && last.number < first.number) return { kind: 'too old', name: last.name, baseline };
  const start = applied[0]?.number === first?.number ? (first?.number ?? 1) : 1;
  for (const [index, { number, name, checksum }] of applied.entries()) {
    const file = files.find((one) => one.number === number);
    const isSame = file === undefined || file.checksum === checksum || file.baseline?.checksum === checksum;
    if (number !== start + index || !isSame) return { kind: 'changed', name };
  }
  return undefined;
}

function readText(folder: string, name: string): Pick<MigrationFile, 'text' | 'checksum'> {
  // A checkout may convert line endings, which changes nothing.
  const text = readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n');
  return { text, checksum: createHash('sha256').update(text).digest('hex') };
}

function baselineOf(text: string): Baseline | undefined {
  const [, name, checksum, commit] = BASELINE.exec(text) ?? [];
  return name && checksum && commit ? { name, checksum, commit } : undefined;
}

function compatibleFrom(name: string, number: number, text: string): number {
  const declared = Number(COMPATIBLE.exec(text)?.[1] ?? number);
  if (declared >= 1 && declared <= number) return declared;
  throw new AppError('internal', `${name}: compatible-from must be a number from 1 to ${number}`);
}
