import { type Db, sql } from '../db/db.ts';
import type { VisibleClusterStore } from './visible-clusters.ts';

const ORGANIZATIONS = sql(
  'visible.organizations',
  `select a.id from account a where a.kind = 'organization' and exists (select 1 from cluster c where c.owner_id = a.id)`,
);

export function createVisibleClusterStore(db: Db): VisibleClusterStore {
  return {
    organizationsWithClusters: async () => (await db.query<{ id: bigint }>(ORGANIZATIONS)).map(({ id }) => id),
  };
}
