import { type Db, sql } from '../db/db.ts';
import type { VisibleStore } from './visible.ts';

const ORGANIZATIONS = sql(
  'visible.organizations',
  `select a.id from account a where a.kind = 'organization' and exists (select 1 from cluster c where c.owner_id = a.id)`,
);

export function createVisibleStore(db: Db): VisibleStore {
  return {
    organizationsWithClusters: async () => (await db.query<{ id: bigint }>(ORGANIZATIONS)).map(({ id }) => id),
  };
}
