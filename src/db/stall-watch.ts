import { PostgresClient, type PostgresConfig } from './postgres-client.ts';
import { sql } from './statement.ts';

/**
 * Ends transactions that keep other transactions waiting while they themselves wait for their client.
 *
 * The server ends a transaction that is idle between two trips. It does not end one that has received only a part of a
 * trip: for the server, such a transaction is active, and no timeout of PostgreSQL before version 17 applies. Statements
 * and COMMIT travel together, so what a replica, a proxy or a pooler fails to deliver may leave a lock behind that every
 * write needs.
 *
 * 1. Looks only while a call of this process has been under way for a second, over a connection of its own: those of the
 *    pool may all be waiting.
 * 2. A transaction is stalled if it blocks another one and its server process waits for the client, with nothing received
 *    for 2.5 s, or at each look during that time. One that is working, or waits for a lock itself, never is.
 * 3. A stalled transaction has not committed, so ending it undoes it. Its client never had an answer to its COMMIT.
 * 4. Migrations and restores are left alone, and so are sessions of other programs.
 */
export interface StallWatch {
  /** A call is under way until the function that this returns is called. */
  begin(): () => void;
  stop(): void;
}

const TICK_MS = 500;
const LOOK_AFTER_MS = 1_000;
export const STALLED_AFTER_MS = 2_500;
/** A look that has not been answered by then is given up: its connection may have been cut off. */
const LOOK_FOR_MS = 2_000;
/** Locks that mean leadership, held for as long as the work takes: migrations, and publishing to OpenFGA. */
const MIGRATION_LOCK_ID = 4702111234474983745n;
const PUBLICATION_LOCK_ID = 4702111234474983746n;

// The name of the role is enough to be allowed to end a session. Poolers may add something to the name of the application.
const END_STALLED = sql(
  'db.endStalled',
  `with held as (
     select pid, granted, locktype, (classid::bigint << 32) | objid::bigint as key from pg_locks
   ), blocker as (
     select distinct unnest(pg_blocking_pids(pid)) as pid from held
      where not granted and not (locktype = 'advisory' and key = ${PUBLICATION_LOCK_ID})
   ), stalled as materialized (
     select pid, pid || ' ' || xact_start as transaction,
            greatest(query_start, state_change) <= clock_timestamp() - $2 * interval '1 ms' as is_quiet
       from blocker join pg_stat_activity using (pid)
      where wait_event_type = 'Client' and xact_start is not null
        and datname = current_database() and usename = session_user and application_name like 'atrium%'
        and not exists (select 1 from held where held.pid = blocker.pid and granted
                                             and locktype = 'advisory' and key = ${MIGRATION_LOCK_ID})
   )
   select transaction, case when is_quiet or transaction = any ($1::text[]) then pg_terminate_backend(pid) end as is_ended
     from stalled`,
);

interface Line {
  readonly client: PostgresClient;
  readonly ready: Promise<void>;
}

interface Stalled {
  readonly transaction: string;
  /** Null if it may still go on. */
  readonly is_ended: boolean | null;
}

export function createStallWatch(config: PostgresConfig, report: (error: Error) => void): StallWatch {
  const stalledAfterMs = STALLED_AFTER_MS * config.patience;
  /** When each call under way began, in that order. */
  const underWay = new Map<symbol, number>();
  /** In how many looks in a row a transaction was found to wait for its client while other transactions wait for it. */
  let looks = new Map<string, number>();
  let line: Line | undefined;
  let isLooking = false;
  const timer = setInterval(tick, TICK_MS).unref();
  return {
    begin() {
      const call = Symbol();
      underWay.set(call, performance.now());
      return () => underWay.delete(call);
    },
    stop() {
      clearInterval(timer);
      drop();
    },
  };

  function tick(): void {
    const [oldest = Number.POSITIVE_INFINITY] = underWay.values();
    if (performance.now() - oldest < LOOK_AFTER_MS) {
      looks.clear();
      drop();
    } else if (!isLooking) {
      isLooking = true;
      // A server that does not answer is noticed elsewhere.
      look().then(done, () => {
        drop();
        done();
      });
    }
  }

  function done(): void {
    isLooking = false;
  }

  async function look(): Promise<void> {
    line ??= open();
    const { client, ready } = line;
    const timeout = setTimeout(drop, LOOK_FOR_MS).unref();
    try {
      await ready;
      const known = [...looks].flatMap(([transaction, count]) =>
        count >= stalledAfterMs / TICK_MS ? [transaction] : [],
      );
      const { rows } = await client.query<Stalled>(END_STALLED.text, [known, stalledAfterMs]);
      looks = new Map(rows.map(({ transaction }) => [transaction, (looks.get(transaction) ?? 0) + 1]));
      for (const { transaction, is_ended } of rows) {
        if (is_ended) report(new Error(`ended a transaction that kept others waiting: process ${transaction}`));
      }
    } finally {
      clearTimeout(timeout);
    }
  }

  function open(): Line {
    const client = new PostgresClient(config);
    // A failed look is repeated at the next tick.
    client.on('error', drop);
    const ready = client.connect().then(() => undefined);
    return { client, ready };
  }

  function drop(): void {
    line?.client.connection.stream.destroy();
    line = undefined;
  }
}
