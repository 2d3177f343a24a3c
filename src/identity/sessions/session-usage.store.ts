import { type Db, sql } from '../../db/db.ts';
import type { SessionUsageStore } from './session-usage.ts';

// No rights depend on it, so no revision is taken. Rows are locked in the order of IDs, as every replica does it. A use
// in the future was noted before the clock was set back.
const WRITE = sql(
  'sessionUsage.write',
  `update session set last_seen_at = u.at
     from (select s.id, v.at from unnest($1::bigint[], $2::timestamptz[]) as v (id, at) join session s on s.id = v.id
            where s.last_seen_at is null
               or s.last_seen_at <= v.at
                  - case when s.idle_minutes is null then $3::bigint else 60000 end * interval '1 millisecond'
               or s.last_seen_at > greatest(now(), v.at)
            order by s.id for update of s) u
    where session.id = u.id`,
);

/** In one statement. */
const MAX_ROWS = 1000;

export function createSessionUsageStore(db: Db): SessionUsageStore {
  return {
    async write(uses, everyMs) {
      for (let first = 0; first < uses.length; first += MAX_ROWS) {
        const some = uses.slice(first, first + MAX_ROWS);
        const moments = some.map(({ at }) => at.toISOString());
        await db.query(WRITE, [some.map(({ sessionId }) => sessionId), moments, everyMs]);
      }
    },
  };
}
