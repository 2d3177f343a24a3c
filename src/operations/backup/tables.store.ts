import { createHash } from 'node:crypto';
import { type Query, type Script, type Statement, sql } from '../../db/db.ts';
import type { Migration } from './format.ts';

export interface Column {
  readonly name: string;
  readonly type: string;
}

export interface Table {
  readonly name: string;
  /** The columns that can be written; generated columns are derived from them. */
  readonly columns: readonly Column[];
  /** What the rows are sorted by. */
  readonly key: readonly string[];
}

export interface Sequence {
  readonly name: string;
  readonly last: string | null;
}

const NOT_OF_AN_EXTENSION = `not exists (
  select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')`;

// Text is sorted byte by byte, because two databases may sort letters differently.
const TABLES = sql(
  'backup.tables',
  `select c.relname as name,
          array(select a.attname::text from pg_attribute a where a.attrelid = c.oid
              and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns,
          array(select format_type(a.atttypid, a.atttypmod) from pg_attribute a where a.attrelid = c.oid
              and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as types,
          array(select quote_ident(a.attname) || case when a.attcollation <> 0 then ' collate "C"' else '' end
             from pg_constraint p, unnest(p.conkey) with ordinality as k (attnum, place), pg_attribute a
            where p.conrelid = c.oid and p.contype = 'p' and a.attrelid = c.oid and a.attnum = k.attnum order by k.place) as key
     from pg_class c
    where c.relnamespace = to_regnamespace(quote_ident(current_schema())) and c.relkind in ('r', 'p') and not c.relispartition
      and ${NOT_OF_AN_EXTENSION}
    order by c.relname collate "C"`,
);
const SEQUENCES = sql(
  'backup.sequences',
  `select sequencename as name, last_value::text as last from pg_sequences
    where schemaname = current_schema() order by sequencename collate "C"`,
);
const IS_THERE = sql('backup.isThere', `select to_regclass('migration') is not null as there`);
const MIGRATIONS = sql('backup.migrations', 'select number, name, checksum from migration order by number');
/** Whatever the settings of the server, values are written in the one format that reads back exactly. */
const EXACT = `set local timezone = 'UTC'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
  set local bytea_output = 'hex'; set local extra_float_digits = 1`;

/**
 * The width of rows is unknown: a batch should have about this many characters, and never more than `MAX_ROWS` rows.
 */
const WANTED_CHARACTERS = 512 * 1024;
const MAX_ROWS = 2000;
const FIRST_ROWS = 50;

export async function readTables(query: Query): Promise<Table[]> {
  const rows = await query<{ name: string; columns: string[]; types: string[]; key: string[] }>(TABLES);
  return rows.map(({ name, columns, types, key }) => ({
    name,
    key,
    columns: columns.map((column, index) => ({ name: column, type: types[index] ?? 'text' })),
  }));
}

export async function readSequences(query: Query): Promise<Sequence[]> {
  return await query<{ name: string; last: string | null }>(SEQUENCES);
}

/** Undefined if it is not a database of ours, or an empty one. */
export async function readApplied(query: Query): Promise<Migration[] | undefined> {
  const [row] = await query<{ there: boolean }>(IS_THERE);
  return row?.there ? await query<Migration>(MIGRATIONS) : undefined;
}

export async function writeExactly(script: Script): Promise<void> {
  await script(EXACT);
}

/**
 * The rows of a table as lines, in batches. The database keeps the position, and neither side holds more than one
 * batch.
 */
export async function* readLines(query: Query, script: Script, table: Table): AsyncGenerator<readonly string[]> {
  const fields = table.columns.map(({ name }) => `${quote(name)}::text`).join(', ');
  const order = table.key.length === 0 ? '' : ` order by ${table.key.join(', ')}`;
  await script(
    `declare backup_rows no scroll cursor for select to_json(array[${fields}]::text[])::text as line from ${quote(table.name)}${order}`,
  );
  for (let count = FIRST_ROWS; ; ) {
    const rows = await query<{ line: string }>(sql(`backup.fetch.${count}`, `fetch ${count} from backup_rows`));
    if (rows.length === 0) break;
    const lines = rows.map(({ line }) => line);
    yield lines;
    const average = lines.reduce((sum, line) => sum + line.length, 0) / lines.length;
    count = nextCount(count, WANTED_CHARACTERS / average);
  }
  await script('close backup_rows');
}

/**
 * Only doubles or halves the count, because each count is a prepared statement. Growing by doubling means that a wide
 * row after many narrow ones is noticed soon.
 */
function nextCount(count: number, wanted: number): number {
  if (wanted >= count * 2 && count * 2 <= MAX_ROWS) return count * 2;
  let next = count;
  while (next > 1 && next > wanted) next = Math.ceil(next / 2);
  return next;
}

/** A statement that depends on the present tables is named after its own text. */
export function named(text: string): Statement {
  return sql(`backup.${createHash('sha256').update(text).digest('hex').slice(0, 24)}`, text);
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
