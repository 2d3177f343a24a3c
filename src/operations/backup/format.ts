import type { Db } from '../../db/db.ts';

/**
 * A backup is one tar.gz. `backup.json` comes first and says what the file is. `tables/NAME/000001.ndjson` and so on
 * contain the rows; each line has the fields of one row as PostgreSQL writes them (a JSON array of texts and nulls).
 * `root.key` is there only on request. `manifest.json` comes last, because only then has everything been counted.
 */
export const FORMAT = 1;
export const HEAD = 'backup.json';
export const MANIFEST = 'manifest.json';
export const ROOT_KEY = 'root.key';

/** These rows only tell running servers what to forget; after a restore they forget everything. */
export const WITHOUT_ROWS: ReadonlySet<string> = new Set(['change', 'revision_stamp']);

export interface Head {
  readonly product: 'atrium';
  readonly format: number;
  /** The release that wrote it. */
  readonly version: string;
  readonly createdAt: string;
  readonly driver: Db['driver'];
  /** The migrations that had been applied to the database, oldest first. */
  readonly migrations: readonly Migration[];
}

export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

export interface TableSummary {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: number;
  readonly bytes: number;
  /** Of all lines of the table, in order. */
  readonly sha256: string;
}

export interface Manifest extends Head {
  readonly tables: readonly TableSummary[];
  /** The last number that each sequence issued, as text because it may need 64 bits; null if there is none yet. */
  readonly sequences: readonly { readonly name: string; readonly last: string | null }[];
  readonly withKeys: boolean;
}

export type Row = readonly (string | null)[];

const PART = /^tables\/([^/]+)\/\d{6,}\.ndjson$/;

export function partName(table: string, number: number): string {
  return `tables/${table}/${String(number).padStart(6, '0')}.ndjson`;
}

/** The table whose rows an entry contains. */
export function tableOf(entry: string): string | undefined {
  return PART.exec(entry)?.[1];
}

/** The last migration, such as `0007_administration.sql`, or a phrase for a database that has had none. */
export function schemaOf({ migrations }: Pick<Head, 'migrations'>): string {
  return migrations.at(-1)?.name ?? 'no migration';
}
