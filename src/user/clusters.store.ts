import { type Db, sql } from '../db/db.ts';
import { CLUSTER_COLUMNS, CLUSTER_TABLES, type ClusterRow, toCluster } from '../directory/clusters.rows.ts';
import type { ClusterStore } from './clusters.ts';

const SELECT = `select ${CLUSTER_COLUMNS} ${CLUSTER_TABLES}`;
const OWNED = sql('clusters.owned', `${SELECT} where c.owner_id = $1 order by c.id`);
const WITH_IDS = sql('clusters.withIds', `${SELECT} where c.id = any($1::bigint[]) order by c.id`);

export function createClusterStore(db: Db): ClusterStore {
  return {
    ownedBy: async (accountId) => (await db.query<ClusterRow>(OWNED, [accountId])).map(toCluster),
    // Written as an array literal here: numbers need no quoting, and there may be ten thousand.
    withIds: async (ids) => (await db.query<ClusterRow>(WITH_IDS, [`{${ids.join(',')}}`])).map(toCluster),
  };
}
