import type { Query, Statement } from './db.ts';

/** Rows of one statement: each is over long before its time is, and other statements get their turn in between. */
const BATCH = 1000;
/** A backlog that is larger is left to the next sweep. */
const MAX_BATCHES = 2000;

/**
 * Deletes everything that a statement finds, a part at a time, so that no backlog is ever too large to be swept. The last
 * parameter of the statement is how many rows it may delete, and it returns a row for each:
 *
 *     delete from t where id = any (array (select id from t where … limit $2 for update skip locked)) returning id
 *
 * The array is read once. With `id in (select …)`, a plan may read it again and delete more. Two replicas that sweep at
 * the same time skip what the other one has.
 */
export async function deleteInBatches(query: Query, statement: Statement, values: readonly unknown[]): Promise<number> {
  let total = 0;
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const { length } = await query(statement, [...values, BATCH]);
    total += length;
    if (length < BATCH) break;
  }
  return total;
}
