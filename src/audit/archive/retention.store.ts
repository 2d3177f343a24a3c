import { type Db, sql } from '../../db/db.ts';
import type { RetentionStore } from './retention.ts';

const CLAIM = sql(
  'retention.claim',
  `insert into audit_retention (day) values ($1::date)
   on conflict (id) do update set day = excluded.day where audit_retention.day < excluded.day returning 1`,
);
const GIVE_BACK = sql('retention.giveBack', 'update audit_retention set day = $1::date - 1 where day = $1::date');

export function createRetentionStore({ query }: Pick<Db, 'query'>): RetentionStore {
  return {
    claim: async (day) => (await query(CLAIM, [day])).length > 0,
    giveBack: async (day) => void (await query(GIVE_BACK, [day])),
  };
}
