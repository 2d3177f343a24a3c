import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

export interface TableLock {
  untilSomebodyWaits(): Promise<void>;
  /** Until so many wait for this lock, or for somebody who does. */
  untilWaiting(count: number): Promise<void>;
  release(): Promise<void>;
}

/**
 * Locks a table of PostgreSQL, by default so that everyone who reads or writes it waits until it is released. The mode
 * `access share` is that of a transaction that has read it.
 */
export async function lockTable(databaseUrl: string, table: string, mode = 'access exclusive'): Promise<TableLock> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`begin; lock table ${table} in ${mode} mode`);
  const waiting = `select 1 from pg_locks where not granted and relation = '${table}'::regclass`;
  return {
    async untilSomebodyWaits() {
      while ((await client.query(waiting)).rows.length === 0) await pause(20);
    },
    async untilWaiting(count) {
      const all = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      for (;;) {
        // A transaction sees the activity as it was when it first looked.
        await client.query('select pg_stat_clear_snapshot()');
        if ((await client.query(all)).rows.length >= count) return;
        await pause(20);
      }
    },
    async release() {
      await client.query('commit');
      await client.end();
    },
  };
}
