import { hash } from 'node:crypto';
import Type from 'typebox';
import { callerOf, clusterAgent } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { knowsEtag } from '../http/wire/etag.ts';
import { Int64, NoBody, named, PathId, plainId, readId, timestamp } from '../http/wire/schemas.ts';
import type { createBindings } from './bindings.ts';
import type { ReviewedClusters } from './reviewed-cluster.ts';
import { KUBERNETES_RELATIONS } from './verb-table.ts';

const ClusterBindings = named(
  'ClusterBindings',
  Type.Object({
    revision: Type.Unsafe<number | bigint>({
      ...Int64,
      description: 'The write that the answer is of. It grows; an answer with the same revision is the same.',
    }),
    bindings: Type.Array(
      named(
        'ClusterBinding',
        Type.Object({
          user: Type.String({ description: 'What the cluster calls the user or robot, as kubernetes.username says.' }),
          relation: Type.String({ enum: [...KUBERNETES_RELATIONS], description: 'What they hold.' }),
          namespaces: Type.Union([Type.Array(Type.String()), Type.Null()], {
            description: 'Names, and prefixes that end in an asterisk. Null: in the whole cluster.',
          }),
          expires_at: Type.Unsafe<string | null>({
            type: ['string', 'null'],
            format: 'date-time',
            description: 'When it ends by itself. Null: never.',
          }),
        }),
      ),
      { description: 'One for each user or robot and relation. None unless kubernetes.auth is agent.' },
    ),
  }),
);

export function bindingRoutes(
  scope: Scope,
  clusters: Pick<ReviewedClusters, 'forAgent'>,
  bindings: ReturnType<typeof createBindings>,
): void {
  scope.get(
    '/clusters/:id/bindings',
    {
      config: { access: clusterAgent },
      schema: {
        summary: 'List who should hold what in a cluster, and until when, for its agent',
        tags: ['kubernetes'],
        extension: true,
        strictQuery: true,
        params: Type.Object({ id: PathId }),
        description: 'An agent that sends the ETag of what it has in If-None-Match gets 304 while nothing has changed.',
        errors: [409],
        etag: true,
        response: { 200: ClusterBindings, 304: NoBody },
      },
    },
    async (request, reply) => {
      const cluster = await clusters.forAgent(readId(request.params.id, 'cluster ID'), callerOf(request));
      const found = await bindings.of(cluster);
      const shown = found.bindings.map(({ user, relation, namespaces, expiresAt }) => ({
        user,
        relation,
        namespaces: namespaces && [...namespaces],
        expires_at: expiresAt && timestamp(expiresAt),
      }));
      const etag = `"${hash('sha256', JSON.stringify(shown), 'base64url').slice(0, 22)}"`;
      reply.header('ETag', etag);
      if (knowsEtag(request, etag)) return reply.code(304).send();
      return reply.send({ revision: plainId(found.revision), bindings: shown });
    },
  );
}
