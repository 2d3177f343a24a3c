import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
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
}

/** What all migrations together make: generated, for readers only. */
const SCHEMA = 'schema.sql';
const NAME = /^(\d{4})_[a-z0-9][a-z0-9_-]*\.sql$/;

const COMPATIBLE = /^-- compatible-from: (\d+)$/m;

/** The files `0001_what.sql`, `0002_…` of a folder, in order and without a gap. */
export function readMigrations(folder: string): MigrationFile[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sql') && name !== SCHEMA)
    .sort();
  return names.map((name, index) => {
    const number = Number(NAME.exec(name)?.[1]);
    if (Number.isNaN(number)) throw new AppError('internal', `${name} is not named like 0001_what.sql`);
    if (number !== index + 1) {
      throw new AppError('internal', `migration number ${index + 1} is missing or duplicated, near ${name}`);
    }
    // A checkout may convert line endings, which changes nothing.
    const text = readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n');
    const checksum = createHash('sha256').update(text).digest('hex');
    return { number, name, checksum, text, compatibleFrom: compatibleFrom(name, number, text) };
  });
}

function compatibleFrom(name: string, number: number, text: string): number {
  const declared = Number(COMPATIBLE.exec(text)?.[1] ?? number);
  if (declared >= 1 && declared <= number) return declared;
  throw new AppError('internal', `${name}: compatible-from must be a number from 1 to ${number}`);
}
