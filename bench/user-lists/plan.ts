import type pg from 'pg';
import { DEFAULT_LIMITS } from '../../src/base/config/limits.ts';
import type { Db, Statement } from '../../src/db/db.ts';
import { createFollowStore } from '../../src/users/follows/follows.store.ts';

interface Node {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly Node[];
}

/** How many rows of each table a page of followers reads, from EXPLAIN of the statement that the store sends. */
export async function rowsRead(client: pg.Client, id: bigint, offset: number): Promise<Map<string, number>> {
  let sent: Statement | undefined;
  let values: readonly unknown[] = [];
  const db = {
    query: async (statement: Statement, given: readonly unknown[]) => {
      [sent, values] = [statement, given];
      return [];
    },
  } as unknown as Db;
  await createFollowStore(db, { limits: DEFAULT_LIMITS }).followers(id, { offset, limit: 50 });
  const { rows } = await client.query(`explain (analyze, format json) ${sent?.text}`, [...values]);
  const read = new Map<string, number>();
  const walk = (node: Node) => {
    const table = node['Relation Name'];
    if (table !== undefined) {
      read.set(table, (read.get(table) ?? 0) + node['Actual Rows'] * node['Actual Loops']);
    }
    for (const child of node.Plans ?? []) walk(child);
  };
  walk(rows[0]['QUERY PLAN'][0].Plan);
  return read;
}
