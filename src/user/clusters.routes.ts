import Type from 'typebox';
import { callerOf, signedIn } from '../http/access.ts';
import { Int64, Timestamp, timestamp } from '../http/schemas.ts';
import type { Scope } from '../http/server.ts';
import { ageOf, type Cluster, type Clusters } from './clusters.ts';

const ClusterInfo = Type.Object({
  id: Int64,
  displayName: Type.String(),
  name: Type.String(),
  uid: Type.String(),
  ownerID: Int64,
  ownerName: Type.String(),
  provider: Type.String(),
  vendor: Type.String(),
  orchestratorVersion: Type.String(),
  nodeCount: Type.Integer(),
  endpoint: Type.String(),
  location: Type.String(),
  hubClusterName: Type.String(),
  clusterSetName: Type.String(),
  isMonitoringCluster: Type.Boolean(),
  createdAt: Timestamp,
  age: Type.String({ description: 'Such as 43m, 8d or 6mo.' }),
  status: Type.Object({
    response: Type.Object({ phase: Type.String(), reason: Type.String(), message: Type.String() }),
  }),
});

export function clusterRoutes(scope: Scope, clusters: Clusters): void {
  scope.get(
    '/user/clusters',
    {
      config: { access: signedIn('user') },
      schema: {
        summary: 'The clusters of the caller',
        tags: ['user'],
        querystring: Type.Object({
          all: Type.Optional(Type.String({ description: '"true": also those of others that the caller may view' })),
        }),
        response: { 200: Type.Array(ClusterInfo) },
      },
    },
    async (request) => {
      const now = new Date();
      const found = await clusters.list(callerOf(request).person, request.query.all === 'true');
      return found.map((cluster) => present(cluster, now));
    },
  );
}

/** Key by key: spreading ten thousand clusters would cost more than reading them from the database. */
function present(cluster: Cluster, now: Date) {
  return {
    id: cluster.id,
    displayName: cluster.displayName,
    name: cluster.name,
    uid: cluster.uid,
    ownerID: cluster.ownerId,
    ownerName: cluster.ownerName,
    provider: cluster.provider,
    vendor: cluster.vendor,
    orchestratorVersion: cluster.orchestratorVersion,
    nodeCount: cluster.nodeCount,
    endpoint: cluster.endpoint,
    location: cluster.location,
    hubClusterName: cluster.hubClusterName,
    clusterSetName: cluster.clusterSetName,
    isMonitoringCluster: cluster.isMonitoringCluster,
    createdAt: timestamp(cluster.createdAt),
    age: ageOf(cluster.createdAt, now),
    status: { response: { phase: cluster.phase, reason: cluster.reason, message: cluster.message } },
  };
}
