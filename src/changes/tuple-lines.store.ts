import { only, type Query, sql } from '../db/db.ts';
import { TupleLines } from './tuple-lines.ts';
import { PLATFORM } from './write.ts';

/** Many thousand tuples come as one text, which is read in a fraction of the time that as many rows take. */
export const LINE = `t.object_type || ':' || t.object_id || ' ' || t.relation || ' ' || t.subject || ' ' || t.source_kind || ':'
  || t.source_id`;
/** All tuples of account `$1`, and how many they are. */
export const LINES = `select count(*)::integer, string_agg(${LINE}, E'\\n') as lines
  from tuple t where t.store in ($1, ${PLATFORM})`;

const ALL = sql('tuples.all', LINES);

export interface CountedTuples {
  readonly count: number;
  readonly tuples: TupleLines;
}

/** All tuples of an account and of the deployment, in one statement. */
export async function allTuples(query: Query, accountId: bigint): Promise<CountedTuples> {
  const { count, lines } = only(await query<{ count: number; lines: string | null }>(ALL, [accountId]));
  return { count, tuples: new TupleLines(lines ?? '') };
}
