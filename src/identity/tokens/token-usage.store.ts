import { type Db, sql } from '../../db/db.ts';
import type { TokenUsageStore } from './token-usage.ts';

// No rights depend on it, so no revision is taken. Rows are locked in the order of IDs, as every replica does it. A use
// in the future was noted before the clock was set back.
const WRITE = sql(
  'tokenUsage.write',
  `update token set last_used_at = u.at
     from (select t.id, v.at from unnest($1::bigint[], $2::timestamptz[]) as v (id, at) join token t on t.id = v.id
            order by t.id for update of t) u
    where token.id = u.id and (token.last_used_at is null or token.last_used_at < u.at or token.last_used_at > now())`,
);

/** In one statement. */
const MAX_ROWS = 1000;

export function createTokenUsageStore(db: Db): TokenUsageStore {
  return {
    async write(uses) {
      for (let first = 0; first < uses.length; first += MAX_ROWS) {
        const some = uses.slice(first, first + MAX_ROWS);
        await db.query(WRITE, [some.map(({ tokenId }) => tokenId), some.map(({ at }) => at.toISOString())]);
      }
    },
  };
}
