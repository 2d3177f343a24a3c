import Type from 'typebox';
import { Int64, named, plainId, Timestamp, timestamp } from '../http/wire/schemas.ts';
import { ageOf, type Cluster, PHASES, statusOf } from './cluster.ts';
import { ClusterDetails, presentClusterDetails } from './cluster.view.ts';

const ClusterMetadata = named(
  'ClusterMetadata',
  Type.Object({
    name: Type.String({ description: 'Name of the cluster.' }),
    uid: Type.String({ description: 'UUID of its kube-system namespace.' }),
    creationTimestamp: Type.Unsafe<string>({ ...Timestamp, description: 'When the cluster was imported.' }),
  }),
);

/** What is elsewhere in the object, or has another name or type in it. */
const ELSEWHERE = ['status', 'heartbeatAt', 'clusterManagers', 'orchestratorVersion', 'createdAt'];

const ClusterSpec = named(
  'ClusterSpec',
  Type.Object({
    ...Object.fromEntries(Object.entries(ClusterDetails.properties).filter(([key]) => !ELSEWHERE.includes(key))),
    kubernetesVersion: Type.String({ description: 'Version of Kubernetes, as the cluster reports it.' }),
    createdAt: Type.Unsafe<number>({ ...Int64, description: 'When the cluster was imported, in Unix seconds.' }),
  }),
);

const ClusterV2Status = named(
  'ClusterV2Status',
  Type.Object({
    phase: Type.String({ enum: [...PHASES], description: 'The same as response.phase.' }),
    reason: Type.String({ description: 'The same as response.reason.' }),
    message: Type.String({ description: 'The same as response.message.' }),
    clusterManagers: Type.Array(Type.String(), { description: 'Programs that manage the cluster.' }),
    heartbeatAt: ClusterDetails.properties.heartbeatAt,
    ...ClusterDetails.properties.status.properties,
  }),
);

/** A cluster in the form of a Kubernetes object. */
export const ClusterObject = named(
  'ClusterObject',
  Type.Object({ metadata: ClusterMetadata, spec: ClusterSpec, status: ClusterV2Status }),
);
export const ClusterObjects = named(
  'ClusterObjects',
  Type.Object({
    items: Type.Array(ClusterObject, { description: 'All of them, or a page of them if page or limit is given.' }),
  }),
);

/** The same next to its fields one by one, for both kinds of clients. */
export const ClusterV2 = named(
  'ClusterV2',
  Type.Object({
    ...ClusterDetails.properties,
    kubernetesVersion: Type.String({ description: 'The same as orchestratorVersion.' }),
    ...ClusterObject.properties,
  }),
);

export function presentClusterV2(cluster: Cluster, now: Date) {
  const kubernetesVersion = cluster.orchestratorVersion;
  return { ...presentClusterDetails(cluster, now), kubernetesVersion, ...presentClusterObject(cluster, now) };
}

/** Key by key, because there can be tens of thousands. */
export function presentClusterObject(cluster: Cluster, now: Date) {
  const response = statusOf(cluster, now);
  return {
    metadata: { name: cluster.name, uid: cluster.uid, creationTimestamp: timestamp(cluster.createdAt) },
    spec: {
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
      kubernetesVersion: cluster.orchestratorVersion,
      nodeCount: cluster.nodeCount,
      endpoint: cluster.endpoint,
      location: cluster.location,
      project: cluster.project,
      infraNamespace: cluster.infraNamespace,
      hubClusterName: cluster.hubClusterName,
      hubClusterUID: cluster.hubClusterUid,
      hubClusterOwnerName: cluster.hubClusterOwnerName,
      clusterSetName: cluster.clusterSetName,
      isMonitoringCluster: cluster.isMonitoringCluster,
      createdAt: Math.floor(cluster.createdAt.getTime() / 1000),
      age: ageOf(cluster.createdAt, now),
    },
    status: {
      phase: response.phase,
      reason: response.reason,
      message: response.message,
      clusterManagers: cluster.clusterManagers,
      heartbeatAt: timestamp(cluster.heartbeatAt),
      response,
    },
  };
}
