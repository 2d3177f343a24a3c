import Type from 'typebox';
import { callerOf, signedIn } from '../http/access.ts';
import { ClusterInfo, presentCluster } from '../http/cluster.view.ts';
import type { Scope } from '../http/server.ts';
import { writeLongJson } from '../json.ts';
import type { Clusters } from './clusters.ts';

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
    async (request, reply) => {
      const now = new Date();
      const found = await clusters.list(callerOf(request).person, request.query.all === 'true');
      reply.type('application/json; charset=utf-8').serializer(writeLongJson);
      return found.map((cluster) => presentCluster(cluster, now));
    },
  );
}
