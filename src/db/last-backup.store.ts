import { type Query, sql } from './db.ts';

const KEEP = sql(
  'lastBackup.keep',
  `insert into last_backup (id, at) values (1, now())
   on conflict (id) do update set at = excluded.at where last_backup.at < excluded.at`,
);
const AGE = sql('lastBackup.age', 'select extract(epoch from now() - at)::float8 as seconds from last_backup');

/** By the clock of the database, once a backup is complete. */
export async function keepLastBackup(query: Query): Promise<void> {
  await query(KEEP);
}

/** In seconds; undefined if there has been none. */
export async function lastBackupAge(query: Query): Promise<number | undefined> {
  const [row] = await query<{ seconds: number }>(AGE);
  return row && Math.max(0, row.seconds);
}
