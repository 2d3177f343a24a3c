import type { TestContext } from 'node:test';
import type { Db, Query, Statement, TransactionQuery } from '../../../src/db/db.ts';

/** The names of the statements that the server has sent so far: all of them, and those within transactions. */
export function listenForStatements(
  { mock }: TestContext,
  db: Db,
): { readonly all: string[]; readonly inside: string[] } {
  const heard = { all: [] as string[], inside: [] as string[] };
  const { query, transaction } = db;
  const hear = (statement: Statement, lists: readonly string[][]) => {
    for (const list of lists) list.push(statement.name);
  };
  const hearing =
    (inner: Query, ...lists: readonly string[][]): Query =>
    (statement, values) => {
      hear(statement, lists);
      return inner(statement, values);
    };
  const hearingInside = (inner: TransactionQuery): TransactionQuery =>
    Object.assign(hearing(inner, heard.all, heard.inside), {
      later: <Row extends object>(...[statement, values]: Parameters<TransactionQuery['later']>) => {
        hear(statement, [heard.all, heard.inside]);
        return inner.later<Row>(statement, values);
      },
    });
  mock.method(db, 'query', hearing(query, heard.all));
  mock.method(db, 'transaction', <T>(work: (query: TransactionQuery) => Promise<T>) =>
    transaction((inner) => work(hearingInside(inner))),
  );
  return heard;
}
