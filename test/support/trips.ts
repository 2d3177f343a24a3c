import type { TestContext } from 'node:test';
import pg from 'pg';
import { PostgresTrip } from '../../src/db/postgres-trip.ts';

/** Counts the trips to PostgreSQL since the last call. */
export function countTrips({ mock }: TestContext): () => number {
  const query = mock.method(pg.Client.prototype, 'query').mock;
  let counted = 0;
  return () => {
    const latest = query.calls.slice(counted);
    counted += latest.length;
    return latest.filter(({ arguments: [sent] }) => (sent as unknown) instanceof PostgresTrip).length;
  };
}
