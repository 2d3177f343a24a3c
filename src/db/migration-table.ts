import type { MigrationFile, ViewFile } from './migration-files.ts';
import { sql } from './statement.ts';
import type { Query, Script } from './types.ts';

export interface Applied extends Pick<MigrationFile, 'number' | 'name' | 'checksum'> {
  /** As the release that applied it declared; null if that release did not know of such declarations. */
  readonly compatibleFrom: number | null;
}

export const CREATE = `create table if not exists migration (
  number int primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now(),
  compatible_from int
)`;
/** A backup of an older release lacks these columns. */
export const LATER_COLUMNS: ReadonlySet<string> = new Set(['compatible_from']);
// This table is not part of the numbered migrations, because it must be readable before they are known. An older
// release leaves the column empty.
const ADD_COMPATIBILITY = 'alter table migration add column if not exists compatible_from int';
const HAS_COMPATIBILITY = sql(
  'migration.hasCompatibility',
  `select exists (select 1 from pg_attribute
    where attrelid = to_regclass('migration') and attname = 'compatible_from' and not attisdropped) as there`,
);
// As JSON, the row can be read with and without the column.
const APPLIED = sql(
  'migration.list',
  `select number, name, checksum, (to_jsonb(migration) ->> 'compatible_from')::int as compatible_from
     from migration order by number`,
);
const RECORD = sql(
  'migration.record',
  'insert into migration (number, name, checksum, compatible_from) values ($1, $2, $3, $4)',
);

// The view itself says which text it was made from, so nothing can separate the two.
const VIEW_NOTE = sql('migration.viewNote', `select obj_description(to_regclass('tuple'), 'pg_class') as note`);

/** Asks first, because even an alteration that changes nothing locks the table. */
export async function addCompatibility(query: Query, script: Script): Promise<void> {
  const [row] = await query<{ there: boolean }>(HAS_COMPATIBILITY);
  if (!row?.there) await script(ADD_COMPATIBILITY);
}

export async function appliedMigrations(query: Query): Promise<Applied[]> {
  const rows = await query<Omit<Applied, 'compatibleFrom'> & { compatible_from: number | null }>(APPLIED);
  return rows.map(({ number, name, checksum, compatible_from }) => ({
    number,
    name,
    checksum,
    compatibleFrom: compatible_from,
  }));
}

export async function recordMigration(query: Query, file: MigrationFile): Promise<void> {
  await query(RECORD, [file.number, file.name, file.checksum, file.compatibleFrom]);
}

/** Whether the view was made from this text. */
export async function isViewApplied(query: Query, view: ViewFile): Promise<boolean> {
  const [row] = await query<{ note: string | null }>(VIEW_NOTE);
  return row?.note === noteOf(view);
}

export async function recordView(script: Script, view: ViewFile): Promise<void> {
  await script(`comment on view tuple is '${noteOf(view)}'`);
}

function noteOf({ name, checksum }: ViewFile): string {
  return `${name} ${checksum}`;
}
