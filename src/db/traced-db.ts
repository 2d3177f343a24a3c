import { traced } from '../base/tracing/trace.ts';
import type { Db, Query, TransactionQuery } from './types.ts';

const ATTRIBUTES = { 'db.system.name': 'postgresql' };

/** The same database, whose statements and transactions are spans of the request that waits for them. */
export function createTracedDb(db: Db): Db {
  return {
    ...db,
    query: spanned(db.query),
    transaction: (work) =>
      traced('transaction', ATTRIBUTES, () => db.transaction((query) => work(spannedWithin(query)))),
  };
}

/** The names of statements are ours. Their values belong to the client and are not recorded. */
function spanned(query: Query): Query {
  return <Row extends object>(...[statement, values]: Parameters<Query>) =>
    traced(statement.name, ATTRIBUTES, () => query<Row>(statement, values));
}

function spannedWithin(query: TransactionQuery): TransactionQuery {
  return Object.assign(spanned(query), { later: query.later });
}
