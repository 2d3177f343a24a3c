import { only, type Query, sql } from '../../db/db.ts';
import type { DeliveryDepth } from './delivery-metrics.ts';
import { readLastDeliveries } from './last-deliveries.store.ts';

const DEPTH = sql(
  'deliveryMetrics.depth',
  `select (select count(*)::integer from delivery where state = 'received') as undone,
          (select count(*)::integer from delivery where state = 'dead') as dead,
          (select extract(epoch from now() - min(received_at))::float8 from delivery where state = 'received') as oldest`,
);

export async function readDeliveryDepth(query: Query): Promise<DeliveryDepth> {
  const row = only(await query<{ undone: number; dead: number; oldest: number | null }>(DEPTH));
  const last = await readLastDeliveries(query);
  return {
    undone: row.undone,
    dead: row.dead,
    oldestSeconds: Math.max(0, row.oldest ?? 0),
    last: [...last].map(([marketplace, at]) => ({ marketplace, at: at.getTime() / 1000 })),
  };
}
