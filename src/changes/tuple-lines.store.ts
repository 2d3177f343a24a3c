import { breath } from '../base/slices.ts';
import { only, type Query, type Script, sql } from '../db/db.ts';
import { TupleLines } from './tuple-lines.ts';
import { PLATFORM } from './write.ts';

/** Many thousand tuples come as one text, which is read in a fraction of the time that as many rows take. */
export const LINE = `t.object_type || ':' || t.object_id || ' ' || t.relation || ' ' || t.subject || ' ' || t.source_kind || ':'
  || t.source_id`;
/** All tuples of account `$1`, and how many they are. */
export const LINES = `select count(*)::integer, string_agg(${LINE}, E'\\n') as lines
  from tuple t where t.store in ($1, ${PLATFORM})`;

const ALL = sql('tuples.all', LINES);
// In the built-in database, a statement runs in this thread, and other requests wait for its end. There, the lines are
// fetched a few at a time. That takes three times as long, so PostgreSQL is spared it.
const OPEN = (accountId: bigint) =>
  `declare tuple_lines no scroll cursor for select ${LINE} as line from tuple t where t.store in (${accountId}, ${PLATFORM})`;
const CLOSE = 'close tuple_lines';
const LINES_AT_ONCE = 2_000;
const FETCH = sql('tuples.fetch', `fetch ${LINES_AT_ONCE} from tuple_lines`);

export interface CountedTuples {
  readonly count: number;
  readonly tuples: TupleLines;
}

/** All tuples of an account and of the deployment, in one statement. */
export async function allTuples(query: Query, accountId: bigint): Promise<CountedTuples> {
  const { count, lines } = only(await query<{ count: number; lines: string | null }>(ALL, [accountId]));
  return { count, tuples: new TupleLines(lines ?? '') };
}

/** The same a few at a time, in a transaction that reads one moment. */
export async function tuplesInSlices(query: Query, script: Script, accountId: bigint): Promise<CountedTuples> {
  await script(OPEN(accountId));
  const all: string[] = [];
  for (;;) {
    const rows = await query<{ line: string }>(FETCH);
    for (const { line } of rows) all.push(line);
    if (rows.length < LINES_AT_ONCE) {
      await script(CLOSE);
      return { count: all.length, tuples: new TupleLines(all.join('\n')) };
    }
    await breath();
  }
}
