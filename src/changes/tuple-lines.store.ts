import { breath } from '../base/slices.ts';
import { only, type Query, type Script, sql } from '../db/db.ts';
import type { GraphTuple } from './graph-tuple.ts';
import { PLATFORM } from './write.ts';

/**
 * Many thousand tuples come as one text, one per line, which is read in a fraction of the time that as many rows take.
 * No field can contain a space or a line break.
 */
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
  readonly tuples: Iterable<GraphTuple>;
}

/** All tuples of an account and of the deployment, in one statement. */
export async function allTuples(query: Query, accountId: bigint): Promise<CountedTuples> {
  const { count, lines } = only(await query<{ count: number; lines: string | null }>(ALL, [accountId]));
  return { count, tuples: readLines(lines ?? '') };
}

/** The same a few at a time, in a transaction that reads one moment. */
export async function tuplesInSlices(query: Query, script: Script, accountId: bigint): Promise<CountedTuples> {
  await script(OPEN(accountId));
  const texts: string[] = [];
  for (let count = 0; ; ) {
    const rows = await query<{ line: string }>(FETCH);
    texts.push(rows.map(({ line }) => line).join('\n'));
    count += rows.length;
    if (rows.length < LINES_AT_ONCE) {
      await script(CLOSE);
      return { count, tuples: readAll(texts) };
    }
    await breath();
  }
}

function* readAll(texts: readonly string[]): IterableIterator<GraphTuple> {
  for (const text of texts) yield* readLines(text);
}

export function* readLines(lines: string): IterableIterator<GraphTuple> {
  for (let at = 0; at < lines.length; ) {
    const object = lines.indexOf(' ', at);
    const relation = lines.indexOf(' ', object + 1);
    const user = lines.indexOf(' ', relation + 1);
    const found = lines.indexOf('\n', user + 1);
    const source = found === -1 ? lines.length : found;
    yield {
      object: lines.slice(at, object),
      relation: lines.slice(object + 1, relation),
      user: lines.slice(relation + 1, user),
      source: lines.slice(user + 1, source),
    };
    at = source + 1;
  }
}
