import { type Db, sql } from '../db/db.ts';
import type { TokenCreators } from './impact.ts';

// The audit log says who created a token, or what was kept of it when it was archived. A token that was created on the server itself has no entry.
const CREATORS = sql(
  'impact.tokenCreators',
  `select t.robot_id, count(*)::integer as tokens, array_agg(distinct c.actor_id) filter (where c.actor_id <> 0) as creators
     from token t left join lateral (
       select a.actor_id from (
         select actor_id, at, id from audit where object_type = 'token' and object_id = t.id and action = 'token.create'
         union all select actor_id, at, id from audit_kept where token_id = t.id) a
        order by a.at desc, a.id desc limit 1) c on true
    where t.robot_id = any ($1::bigint[]) and t.trust_rule_id is null and (t.expires_at is null or t.expires_at > now()) group by t.robot_id`,
);

/** How many tokens of robots are accepted now, and who created them. */
export function createTokenCreators(db: Pick<Db, 'query'>): TokenCreators {
  return async (robotIds) => {
    if (robotIds.length === 0) return new Map();
    const rows = await db.query<{ robot_id: bigint; tokens: number; creators: bigint[] | null }>(CREATORS, [robotIds]);
    return new Map(rows.map(({ robot_id: id, tokens, creators }) => [id, { tokens, creators: creators ?? [] }]));
  };
}
