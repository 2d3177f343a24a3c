import Type from 'typebox';
import { writeLongItemsInPieces } from '../base/json.ts';
import { callerOf, signedIn } from '../http/admission/access.ts';
import { type Scope, sendPieces } from '../http/server.ts';
import { pageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { maybe, named } from '../http/wire/schemas.ts';
import type { Cluster } from './cluster.ts';
import { NEW_CLUSTER } from './cluster-fields.ts';
import type { ClusterHint, OwnerClusters } from './owner-clusters.ts';
import { ClusterObjects, ClusterV2, presentClusterObject, presentClusterV2 } from './owner-clusters.view.ts';

const MAX_LIMIT = 200;

const OwnerPath = Type.Object({ owner: Type.String({ description: 'The caller, or an organization of the caller.' }) });
const ClusterPath = Type.Object({ ...OwnerPath.properties, cluster: Type.String({ description: 'Its name.' }) });
const ListQuery = Type.Object({
  provider: Type.Optional(Type.String({ description: 'Only clusters of this provider, in any letter case.' })),
  ...pageQuery(MAX_LIMIT),
});
const CheckOptions = named(
  'ClusterCheck',
  Type.Object({
    basicInfo: maybe(
      Type.Object({
        name: maybe(Type.String({ maxLength: 255 })),
        clusterUID: maybe(Type.String({ maxLength: 100, description: 'Counts more than the name.' })),
      }),
    ),
  }),
);

/** The calls under /clustersv2 that only read, as clients of this API family make them. */
export function ownerClusterRoutes(scope: Scope, clusters: OwnerClusters, baseUrl: () => string): void {
  const common = { tags: ['clusters'], extension: true };
  // One of them is a POST, and it changes nothing either.
  const config = { access: signedIn('organization', 'as users', { level: 'read' }) };

  scope.get(
    '/clustersv2/:owner',
    {
      config,
      schema: {
        ...common,
        summary: 'List the clusters of an owner that the caller may view; in pages only if page or limit is given',
        params: OwnerPath,
        querystring: ListQuery,
        response: { 200: ClusterObjects },
      },
    },
    async (request, reply) => {
      const { page: number, limit, provider } = request.query;
      const page = number === undefined && limit === undefined ? undefined : readPage(request.query, MAX_LIMIT);
      const now = new Date();
      const search = { text: '', provider: provider || undefined, now, orderBy: 'id', isDescending: false } as const;
      const { items, total } = await clusters.list(callerOf(request).person, request.params.owner, search, page);
      if (page) showPage(request, reply, baseUrl(), page, total);
      else reply.header('X-Total-Count', String(total));
      return sendPieces(reply, await writeLongItemsInPieces(items, (cluster) => presentClusterObject(cluster, now)));
    },
  );

  for (const [path, summary] of [
    ['', 'Get a cluster of an owner by name'],
    ['/status', 'Get a cluster of an owner by name, for clients that ask for its status'],
  ] as const) {
    scope.get(
      `/clustersv2/:owner/:cluster${path}`,
      { config, schema: { ...common, summary, params: ClusterPath, response: { 200: ClusterV2 } } },
      async (request) => {
        const { owner, cluster } = request.params;
        const now = new Date();
        return presentClusterV2(await clusters.get(callerOf(request).person, owner, cluster, now), now);
      },
    );
  }

  scope.get(
    '/clustersv2/:owner/:cluster/exist',
    {
      config,
      schema: {
        ...common,
        summary: 'Check whether an owner has a cluster of this name that the caller may view',
        params: ClusterPath,
        response: { 200: named('ClusterExistence', Type.Object({ exist: Type.Boolean() })) },
      },
    },
    async (request) => {
      const { owner, cluster } = request.params;
      const hint = { name: cluster, uid: '' };
      return { exist: (await clusters.find(callerOf(request).person, owner, hint, new Date())) !== undefined };
    },
  );

  scope.post(
    '/clustersv2/:owner/check',
    {
      config,
      schema: {
        ...common,
        summary: 'Look a cluster up by UID or name; one that is not there has the phase NotImported',
        params: OwnerPath,
        body: CheckOptions,
        response: { 200: ClusterV2 },
      },
    },
    async (request) => {
      const { owner } = request.params;
      const { name, clusterUID } = request.body.basicInfo ?? {};
      const hint = { name: name ?? '', uid: clusterUID ?? '' };
      const now = new Date();
      const found = await clusters.find(callerOf(request).person, owner, hint, now);
      return presentClusterV2(found ?? absent(hint, owner, now), now);
    },
  );
}

function absent({ name, uid }: ClusterHint, ownerName: string, now: Date): Cluster {
  const status = { phase: 'NotImported', reason: 'ClusterNotFound', message: '', heartbeatAt: null };
  return { ...NEW_CLUSTER, id: 0n, ownerId: 0n, ownerName, name, uid, createdAt: now, ...status };
}
