import type { Cluster } from './cluster.ts';

/** What few clusters have. */
interface Details {
  /** As text: a number of JSON would lose digits. */
  readonly managerId: string | null;
  readonly externalId: string;
  readonly project: string;
  readonly infraNamespace: string;
  readonly hubClusterName: string;
  readonly hubClusterUid: string;
  readonly hubClusterOwnerName: string;
  readonly clusterSetName: string;
  readonly clusterManagers: readonly string[] | null;
}

/** A cluster as it is selected, for every store that reads one: `select ${CLUSTER_COLUMNS} ${CLUSTER_TABLES}`. */
export interface ClusterRow {
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
  is_monitoring_cluster: boolean;
  phase: string;
  reason: string;
  message: string;
  heartbeat_at: Date | null;
  created_at: Date;
  details: Details | null;
}

// Each column of a row costs as much as any other, and ten thousand rows are read at once: what is mostly unset travels
// as one column, which is null for most.
const DETAILS = `case when c.manager_id is null and c.cluster_managers is null and c.external_id = '' and c.project = ''
    and c.infra_namespace = '' and c.hub_cluster_name = '' and c.hub_cluster_uid = '' and c.hub_cluster_owner_name = ''
    and c.cluster_set_name = '' then null
  else json_build_object('managerId', c.manager_id::text, 'clusterManagers', c.cluster_managers,
    'externalId', c.external_id, 'project', c.project, 'infraNamespace', c.infra_namespace,
    'hubClusterName', c.hub_cluster_name, 'hubClusterUid', c.hub_cluster_uid,
    'hubClusterOwnerName', c.hub_cluster_owner_name, 'clusterSetName', c.cluster_set_name) end as details`;
export const CLUSTER_COLUMNS = `c.id, c.name, c.display_name, c.uid, c.owner_id, a.name as owner_name, c.provider, c.vendor,
  c.orchestrator_version, c.node_count, c.endpoint, c.location, c.is_monitoring_cluster, c.phase, c.reason, c.message,
  c.heartbeat_at, c.created_at, ${DETAILS}`;
export const CLUSTER_TABLES = 'from cluster c join account a on a.id = c.owner_id';

const NO_DETAILS: Details = {
  managerId: null,
  externalId: '',
  project: '',
  infraNamespace: '',
  hubClusterName: '',
  hubClusterUid: '',
  hubClusterOwnerName: '',
  clusterSetName: '',
  clusterManagers: null,
};
const NONE: readonly string[] = [];

export function toCluster(row: ClusterRow): Cluster {
  const details = row.details ?? NO_DETAILS;
  return {
    id: row.id,
    name: row.name,
    displayName: row.display_name,
    uid: row.uid,
    ownerId: row.owner_id,
    ownerName: row.owner_name,
    managerId: details.managerId === null ? 0n : BigInt(details.managerId),
    externalId: details.externalId,
    provider: row.provider,
    vendor: row.vendor,
    orchestratorVersion: row.orchestrator_version,
    nodeCount: row.node_count,
    endpoint: row.endpoint,
    location: row.location,
    project: details.project,
    infraNamespace: details.infraNamespace,
    hubClusterName: details.hubClusterName,
    hubClusterUid: details.hubClusterUid,
    hubClusterOwnerName: details.hubClusterOwnerName,
    clusterSetName: details.clusterSetName,
    clusterManagers: details.clusterManagers ?? NONE,
    isMonitoringCluster: row.is_monitoring_cluster,
    phase: row.phase,
    reason: row.reason,
    message: row.message,
    heartbeatAt: row.heartbeat_at,
    createdAt: row.created_at,
  };
}
