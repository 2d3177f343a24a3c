import type { TestContext } from 'node:test';
import type { Db, Query } from '../../src/db/db.ts';

/** The names of the statements that the server has sent so far: all of them, and those within transactions. */
export function listenForStatements(
  { mock }: TestContext,
  db: Db,
): { readonly all: string[]; readonly inside: string[] } {
  const heard = { all: [] as string[], inside: [] as string[] };
  const { query, transaction } = db;
  const hearing =
    (inner: Query, ...lists: readonly string[][]): Query =>
    (statement, values) => {
      for (const list of lists) list.push(statement.name);
      return inner(statement, values);
    };
  mock.method(db, 'query', hearing(query, heard.all));
  mock.method(db, 'transaction', <T>(work: (query: Query) => Promise<T>) =>
    transaction((inner) => work(hearing(inner, heard.all, heard.inside))),
  );
  return heard;
}
