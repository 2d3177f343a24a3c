import { only, type Query, sql } from '../db/db.ts';

const SIZE = sql('audit.size', `select pg_total_relation_size('audit')::float8 as bytes`);

/** Of the entries and their indexes, in bytes. */
export async function auditSize(query: Query): Promise<number> {
  return only(await query<{ bytes: number }>(SIZE)).bytes;
}
