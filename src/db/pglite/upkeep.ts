import { yieldToEventLoop } from '../../base/scheduling/slices.ts';
import type { RunExclusive } from '../mutex.ts';
import { sql } from '../statement.ts';
import { queryOn, type Session } from '../transaction.ts';

/** 16 segments of 4 MiB. A checkpoint of that much takes about a tenth of a second, while every request waits. */
const SEGMENTS_PER_CHECKPOINT = 16;
const FIRST_LOOK_MS = 30_000;

/** Modelled on the rule by which PostgreSQL's own autovacuum selects tables. */
const WORN_TABLES = sql(
  'upkeep.wornTables',
  `select quote_ident(s.schemaname) || '.' || quote_ident(s.relname) as name,
          array(select quote_ident(a.attname) from pg_attribute a
                 where a.attrelid = s.relid and a.attnum > 0 and not a.attisdropped order by a.attnum) as columns
     from pg_stat_user_tables s join pg_class c on c.oid = s.relid
    where greatest(s.n_dead_tup, s.n_ins_since_vacuum / 5, s.n_mod_since_analyze) > 500 + 0.2 * greatest(c.reltuples, 0)`,
);

interface WornTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/**
 * Statistics about all columns together, from the usual sample of 30,000 rows, take up to a second while every request
 * waits. So all columns, and indexes of expressions, get them from a tenth of it, and then one column after the other
 * from the whole sample. PostgreSQL counts a table as analyzed only after the first.
 */
function analysisOf({ name, columns }: WornTable): string[] {
  const roughly = `SET default_statistics_target = 10; ANALYZE ${name}; RESET default_statistics_target`;
  return [roughly, ...columns.map((column) => `ANALYZE ${name} (${column})`)];
}

export interface Upkeep {
  /** The write-ahead log started a new segment. */
  onSegment(): void;
  stop(): void;
}

/**
 * PGlite has none of PostgreSQL's background processes. Without this, the write-ahead log grows until the disk is full
 * (and a crash replays all of it), dead rows stay forever, and the planner has no statistics.
 */
export function createUpkeep(session: Session, turn: RunExclusive, report: (error: Error) => void): Upkeep {
  let segments = 0;
  let stopped = false;
  let running = false;

  async function tidy(): Promise<void> {
    if (running || stopped) return;
    running = true;
    try {
      if (segments >= SEGMENTS_PER_CHECKPOINT) await step('CHECKPOINT');
      segments = 0;
      await step('select pg_stat_force_next_flush()');
      const worn = await turn(() => queryOn(session)<WornTable>(WORN_TABLES));
      for (const table of worn) {
        await step(`VACUUM ${table.name}`);
        for (const analysis of analysisOf(table)) await step(analysis);
      }
    } catch (error) {
      if (!stopped) report(new Error('the upkeep of the database failed', { cause: error }));
    } finally {
      running = false;
    }
  }

  /** Requests get through before each step: they take their turns, and the event loop takes one too. */
  const step = async (text: string) => {
    await yieldToEventLoop();
    await turn(async () => void (stopped || (await session.command(text))));
  };
  const firstLook = setTimeout(() => void tidy(), FIRST_LOOK_MS).unref();

  return {
    onSegment() {
      segments += 1;
      if (segments >= SEGMENTS_PER_CHECKPOINT) setImmediate(() => void tidy());
    },
    stop() {
      stopped = true;
      clearTimeout(firstLook);
    },
  };
}
