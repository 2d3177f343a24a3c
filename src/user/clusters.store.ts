import { type Db, sql } from '../db/db.ts';
import type { Cluster, ClusterStore } from './clusters.ts';

interface ClusterRow {
  id: bigint;
  name: string;
  display_name: string;
  uid: string;
  owner_id: bigint;
  owner_name: string;
  provider: string;
  vendor: string;
  orchestrator_version: string;
  node_count: number;
  endpoint: string;
  location: string;
  hub_cluster_name: string;
  cluster_set_name: string;
  is_monitoring_cluster: boolean;
  phase: string;
  reason: string;
  message: string;
  created_at: Date;
}

const COLUMNS = `c.id, c.name, c.display_name, c.uid, c.owner_id, a.name as owner_name, c.provider, c.vendor,
  c.orchestrator_version, c.node_count, c.endpoint, c.location, c.hub_cluster_name, c.cluster_set_name,
  c.is_monitoring_cluster, c.phase, c.reason, c.message, c.created_at`;
const FROM = 'from cluster c join account a on a.id = c.owner_id';
const OWNED = sql('clusters.owned', `select ${COLUMNS} ${FROM} where c.owner_id = $1 order by c.id`);
const WITH_IDS = sql('clusters.withIds', `select ${COLUMNS} ${FROM} where c.id = any($1::bigint[]) order by c.id`);

export function createClusterStore(db: Db): ClusterStore {
  return {
    ownedBy: async (accountId) => (await db.query<ClusterRow>(OWNED, [accountId])).map(toCluster),
    // Written as an array literal here: numbers need no quoting, and there may be ten thousand.
    withIds: async (ids) => (await db.query<ClusterRow>(WITH_IDS, [`{${ids.join(',')}}`])).map(toCluster),
  };
}

function toCluster(row: ClusterRow): Cluster {
  return {
    id: row.id,
    name: row.name,
    displayName: row.display_name,
    uid: row.uid,
    ownerId: row.owner_id,
    ownerName: row.owner_name,
    provider: row.provider,
    vendor: row.vendor,
    orchestratorVersion: row.orchestrator_version,
    nodeCount: row.node_count,
    endpoint: row.endpoint,
    location: row.location,
    hubClusterName: row.hub_cluster_name,
    clusterSetName: row.cluster_set_name,
    isMonitoringCluster: row.is_monitoring_cluster,
    phase: row.phase,
    reason: row.reason,
    message: row.message,
    createdAt: row.created_at,
  };
}
