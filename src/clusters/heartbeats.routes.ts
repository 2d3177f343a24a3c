import Type from 'typebox';
import { actorOf, holdsOn, ownerIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { NoBody, named, PathId, readId } from '../http/wire/schemas.ts';
import { PHASES } from './cluster.ts';
import type { Heartbeats } from './heartbeats.ts';

const MAX_NODES = 1_000_000;

const Beat = named(
  'Heartbeat',
  Type.Object({
    phase: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: [...PHASES] })),
    reason: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
    nodeCount: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_NODES })),
    orchestratorVersion: Type.Optional(Type.String()),
  }),
);

export function heartbeatRoutes(scope: Scope, heartbeats: Heartbeats): void {
  scope.post(
    '/clusters/:id/heartbeat',
    {
      config: { access: holdsOn('edit:cluster', 'organization', { robots: 'of the owner' }) },
      // A heartbeat without a body is valid.
      preValidation: async (request) => {
        request.body ??= {};
      },
      schema: {
        summary: 'Report that a cluster is alive; a robot account of its owner may also call this',
        tags: ['clusters'],
        extension: true,
        optionalBody: true,
        params: Type.Object({ id: PathId }),
        body: Beat,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const id = readId(request.params.id, 'cluster ID');
      await heartbeats.take(ownerIn(request), id, request.body, new Date(), actorOf(request));
      return reply.code(204).send();
    },
  );
}
