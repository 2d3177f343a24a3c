import Type from 'typebox';
import { Int64, plainId, Timestamp, timestamp } from '../http/schemas.ts';
import { ageOf, type Cluster, statusOf } from './cluster.ts';

/** A cluster as clients of this API family know it: every key always there, and none besides. */
export const ClusterInfo = Type.Object({
  id: Int64,
  displayName: Type.String(),
  name: Type.String(),
  uid: Type.String({ description: 'The UUID of its kube-system namespace.' }),
  ownerID: Int64,
  ownerName: Type.String(),
  managerID: Int64,
  externalID: Type.String(),
  provider: Type.String(),
  vendor: Type.String(),
  orchestratorVersion: Type.String(),
  nodeCount: Type.Integer(),
  endpoint: Type.String(),
  location: Type.String(),
  project: Type.String(),
  infraNamespace: Type.String(),
  hubClusterName: Type.String(),
  hubClusterUID: Type.String(),
  clusterSetName: Type.String(),
  clusterManagers: Type.Array(Type.String()),
  isMonitoringCluster: Type.Boolean(),
  createdAt: Timestamp,
  age: Type.String({ description: 'Such as 43m, 8d or 6mo.' }),
  status: Type.Object({
    response: Type.Object({ phase: Type.String(), reason: Type.String(), message: Type.String() }),
  }),
});

/** What administration shows of it besides. */
export const ClusterDetails = Type.Object({
  ...ClusterInfo.properties,
  hubClusterOwnerName: Type.String(),
  heartbeatAt: Type.Unsafe<string>({ ...Timestamp, description: '1970-01-01T00:00:00Z: it never sent one.' }),
});

/** Key by key: spreading ten thousand clusters would cost more than reading them from the database. */
export function presentCluster(cluster: Cluster, now: Date) {
  return {
    id: plainId(cluster.id),
    displayName: cluster.displayName,
    name: cluster.name,
    uid: cluster.uid,
    ownerID: plainId(cluster.ownerId),
    ownerName: cluster.ownerName,
    managerID: plainId(cluster.managerId),
    externalID: cluster.externalId,
    provider: cluster.provider,
    vendor: cluster.vendor,
    orchestratorVersion: cluster.orchestratorVersion,
    nodeCount: cluster.nodeCount,
    endpoint: cluster.endpoint,
    location: cluster.location,
    project: cluster.project,
    infraNamespace: cluster.infraNamespace,
    hubClusterName: cluster.hubClusterName,
    hubClusterUID: cluster.hubClusterUid,
    clusterSetName: cluster.clusterSetName,
    clusterManagers: cluster.clusterManagers as string[],
    isMonitoringCluster: cluster.isMonitoringCluster,
    createdAt: timestamp(cluster.createdAt),
    age: ageOf(cluster.createdAt, now),
    status: { response: statusOf(cluster, now) },
  };
}

export function presentClusterDetails(cluster: Cluster, now: Date) {
  const { hubClusterOwnerName, heartbeatAt } = cluster;
  return { ...presentCluster(cluster, now), hubClusterOwnerName, heartbeatAt: timestamp(heartbeatAt) };
}
