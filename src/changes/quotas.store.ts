import { type LimitName, type Limits, limitReached } from '../base/config/limits.ts';
import { only, type Statement, sql, type TransactionQuery } from '../db/db.ts';

const TURN = sql('quotas.turn', `select pg_advisory_xact_lock(hashtextextended($1, $2))`);

export interface Growth {
  readonly limit: LimitName;
  /** Whose list grows. */
  readonly ownerId: bigint;
  /** A statement of `countTaken`. */
  readonly count: Statement;
  readonly adding?: number;
}

export type Quotas = ReturnType<typeof createQuotas>;

/**
 * Throws if the list of an owner has no room for more.
 *
 * 1. Those who make one list longer take turns from the count to the commit, so that two of them never count the same
 *    place. The revision would also make them take turns, but it is taken last in every write of the deployment, and
 *    must be held as briefly as possible.
 * 2. The turn is taken after every row that the transaction locks, and nothing is locked after it but the new row's own
 *    references, its audit chain and the revision. No transaction that holds those waits for a turn, so there is no
 *    deadlock.
 * 3. The lock is a statement of its own: a statement that waits for a lock counts what was there before it waited.
 */
export function createQuotas(limits: Limits) {
  return { limits, turn, taken, require };

  async function require(query: TransactionQuery, growth: Growth): Promise<void> {
    const present = await taken(query, growth);
    if (present + (growth.adding ?? 1) > limits[growth.limit]) {
      throw limitReached(growth.limit, limits[growth.limit], present);
    }
  }

  /** How long the list is, cut off at the maximum. It stays like that until the transaction ends. */
  async function taken(query: TransactionQuery, { limit, ownerId, count }: Growth): Promise<number> {
    turn(query, limit, ownerId);
    return only(await query<{ taken: number }>(count, [ownerId, limits[limit]])).taken;
  }

  /** For lists that are counted in another way. */
  function turn(query: TransactionQuery, limit: LimitName, ownerId: bigint): void {
    query.later(TURN, [`limit ${limit}`, ownerId]);
  }
}

/**
 * Counts the rows of an owner, which is $1 in the condition, and stops at $2: how many more there are does not matter.
 */
export function countTaken(name: string, from: string): Statement {
  return sql(name, `select count(*)::integer as taken from (select 1 from ${from} limit $2) as present`);
}
