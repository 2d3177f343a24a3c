import { type Query, sql } from '../../db/db.ts';
import { MARKETPLACE_NAMES, type MarketplaceName } from '../marketplaces.ts';

const MAX_ID = 2n ** 63n - 1n;
// Where most deliveries are from one marketplace, `where marketplace = m.name order by id desc` is planned as a search
// through all deliveries from the end, and reads the whole table for a marketplace without any. Only one index has the
// order used here.
const LAST = sql(
  'lastDeliveries.read',
  `select m.name, d.received_at as at from unnest($1::text[]) as m (name)
    cross join lateral (select marketplace, received_at from delivery
                         where (marketplace, id) <= (m.name, ${MAX_ID})
                         order by marketplace desc, id desc limit 1) d
    where d.marketplace = m.name`,
);

/** When each marketplace was last heard of. Those that never were are missing. */
export async function readLastDeliveries(query: Query): Promise<ReadonlyMap<MarketplaceName, Date>> {
  const rows = await query<{ name: MarketplaceName; at: Date }>(LAST, [MARKETPLACE_NAMES]);
  return new Map(rows.map(({ name, at }) => [name, at]));
}
