import { only, type Query, sql } from '../../db/db.ts';
import { MARKETPLACE_NAMES } from '../marketplaces.ts';
import type { Depth } from './delivery-metrics.ts';

const DEPTH = sql(
  'deliveryMetrics.depth',
  `select (select count(*)::integer from delivery where state = 'received') as undone,
          (select count(*)::integer from delivery where state = 'dead') as dead,
          (select extract(epoch from now() - min(received_at))::float8 from delivery where state = 'received') as oldest`,
);
const LAST = sql(
  'deliveryMetrics.last',
  `select m.name, (select extract(epoch from d.received_at)::float8 from delivery d where d.marketplace = m.name
                    order by d.id desc limit 1) as at
     from unnest($1::text[]) as m (name)`,
);

export async function readDepth(query: Query): Promise<Depth> {
  const row = only(await query<{ undone: number; dead: number; oldest: number | null }>(DEPTH));
  const last = await query<{ name: string; at: number | null }>(LAST, [MARKETPLACE_NAMES]);
  return {
    undone: row.undone,
    dead: row.dead,
    oldestSeconds: Math.max(0, row.oldest ?? 0),
    last: last.flatMap(({ name, at }) => (at === null ? [] : [{ marketplace: name, at }])),
  };
}
