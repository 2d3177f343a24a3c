import type { TestContext } from 'node:test';
import pg from 'pg';
import { type Db, only } from '../../../src/db/db.ts';
import { PostgresTrip } from '../../../src/db/postgres-trip.ts';
import { statement } from '../server/statement.ts';

const DATABASE = statement('select current_database() as name');

/**
 * Counts the trips to this PostgreSQL database since the last call. The servers of other test files may run in the same
 * process, with databases of their own.
 */
export async function countTrips({ mock }: TestContext, db: Db): Promise<() => number> {
  const { name } = only(await db.query<{ name: string }>(DATABASE));
  const query = mock.method(pg.Client.prototype, 'query').mock;
  let counted = 0;
  return () => {
    const latest = query.calls.slice(counted);
    counted += latest.length;
    return latest.filter(
      ({ this: client, arguments: [sent] }) =>
        (sent as unknown) instanceof PostgresTrip && (client as pg.Client).database === name,
    ).length;
  };
}

/** The trips that the work takes: the fewest of three, because a server also uses its database on its own. */
export async function fewestTrips(trips: () => number, work: () => Promise<unknown>): Promise<number> {
  const counts: number[] = [];
  for (let time = 0; time < 3; time++) {
    trips();
    await work();
    counts.push(trips());
  }
  return Math.min(...counts);
}
